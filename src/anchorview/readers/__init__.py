"""Embedding → labels, probabilities and rows to label next."""
