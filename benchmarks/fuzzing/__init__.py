"""Bad, odd and random valid input for `benchmarks/fuzz.py`, one file a topic."""
