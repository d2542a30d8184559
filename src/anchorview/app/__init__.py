"""The product: the command, and what it reads and writes."""
