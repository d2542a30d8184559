"""What a fit is going to need of memory beyond its input, told before it runs; and refused if there is less.

`benchmarks/memory.py` compares it with what fits take.
"""
