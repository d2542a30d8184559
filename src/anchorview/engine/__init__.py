"""How rows flow through the model: in blocks, each a pure function of its rows and a small shared state."""
