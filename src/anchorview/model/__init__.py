"""A fitted model as a value, and the one loop that predicts with it."""
