"""Vectors of eight numbers inside compiled functions, for inner loops that numba compiles to one number at a time.

They are written as vectors of LLVM, which every processor gets as instructions of its own width.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir

WIDTH = 8  # numbers of a vector

DOUBLE = ir.DoubleType()
PLACE = ir.IntType(64)
VECTOR = ir.VectorType(DOUBLE, WIDTH)
ZEROS = ir.Constant(VECTOR, [0.0] * WIDTH)
_FIRST = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH)
_UNDEFINED = ir.Constant(VECTOR, ir.Undefined)


def place_of(number: int) -> Any:
    """Return a constant place in an array."""
    return ir.Constant(PLACE, number)


def load_at(builder: Any, address: Any) -> Any:
    """Load a number or a vector, which need not begin with a line of the cache."""
    value = builder.load(address)
    value.align = 8  # bytes of one number
    return value


def store(builder: Any, value: Any, address: Any) -> None:
    """Store a number or a vector anywhere."""
    builder.store(value, address).align = 8


def fill_vector(builder: Any, number: Any) -> Any:
    """Return the vector that has one number at all its places."""
    single = builder.insert_element(_UNDEFINED, number, ir.Constant(ir.IntType(32), 0))
    return builder.shuffle_vector(single, _UNDEFINED, _FIRST)


def add_product(builder: Any, number: Any, vector: Any, total: Any) -> None:
    """Add a number times a vector to the vector at an address, rounded once where the processor can."""
    product = builder.fmul(fill_vector(builder, number), vector, flags=("contract",))
    builder.store(builder.fadd(builder.load(total), product, flags=("contract",)), total)
