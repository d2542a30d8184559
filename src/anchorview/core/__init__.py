"""What every room uses: types of arrays, checks, folds, a cache, progress. Imports nothing of ours."""
