"""Sums over the rows of a panel, eight numbers wide: the inner loop of a triangular solve with eight right-hand sides.

Written in vectors of LLVM, which every processor gets as instructions of its own width. The same loop in Python is
compiled to one number at a time, and takes three times as long.
"""

from __future__ import annotations

from typing import Any

from llvmlite import ir
from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

WIDTH = 8  # numbers in a row of a panel
_CHAINS = 4  # sums that grow side by side: an addition takes four cycles, and two can begin in each

_DOUBLE = ir.DoubleType()
_PLACE = ir.IntType(64)
_ROW = ir.VectorType(_DOUBLE, WIDTH)
_FIRST = ir.Constant(ir.VectorType(ir.IntType(32), WIDTH), [0] * WIDTH)


def _subtract_rows(context: Any, factor: Any, row: Any, panel: Any, count: Any, target: Any, scale: Any) -> Any:
    """Set panel[target] to (panel[target] − Σ_{i < count} factor[row, i] · panel[i]) · scale, in a compiled function.

    `factor` is an array of shape (·, ≥ count) and `panel` one of shape (·, 8), both of float64 with contiguous rows.
    Nothing is checked: places must lie within the arrays.
    """
    signature = types.void(factor, types.int64, panel, types.int64, types.int64, types.float64)
    return signature, _generate


subtract_rows: Any = intrinsic(_subtract_rows)


def _generate(context: Any, builder: Any, signature: Any, arguments: Any) -> Any:
    factor, row, panel, count, target, scale = arguments
    factor = context.make_array(signature.args[0])(context, builder, factor)
    panel = context.make_array(signature.args[2])(context, builder, panel)
    stride = cgutils.unpack_tuple(builder, factor.strides, 2)[0]
    address = builder.add(builder.ptrtoint(factor.data, _PLACE), builder.mul(row, stride))
    line = builder.inttoptr(address, _DOUBLE.as_pointer())
    rows = builder.bitcast(panel.data, _ROW.as_pointer())

    def load(place: Any) -> Any:
        value = builder.load(place)
        value.align = 8  # of one number: rows need not begin with a line of the cache
        return value

    def repeat(number: Any) -> Any:
        single = builder.insert_element(ir.Constant(_ROW, ir.Undefined), number, ir.Constant(ir.IntType(32), 0))
        return builder.shuffle_vector(single, ir.Constant(_ROW, ir.Undefined), _FIRST)

    def add_row(i: Any, chain: Any) -> None:
        product = builder.fmul(repeat(load(builder.gep(line, [i]))), load(builder.gep(rows, [i])), flags=("contract",))
        builder.store(builder.fadd(builder.load(chain), product, flags=("contract",)), chain)

    def number(value: int) -> Any:
        return ir.Constant(_PLACE, value)

    chains = [cgutils.alloca_once_value(builder, ir.Constant(_ROW, [0.0] * WIDTH)) for _ in range(_CHAINS)]
    whole = builder.and_(count, number(-_CHAINS))
    with cgutils.for_range_slice(builder, number(0), whole, number(_CHAINS), _PLACE, inc=True) as (first, _):
        for step, chain in enumerate(chains):
            add_row(builder.add(first, number(step)), chain)
    with cgutils.for_range_slice(builder, whole, count, number(1), _PLACE, inc=True) as (i, _):
        add_row(i, chains[0])
    sums = [builder.load(chain) for chain in chains]
    total = builder.fadd(builder.fadd(sums[0], sums[1]), builder.fadd(sums[2], sums[3]))
    place = builder.gep(rows, [target])
    builder.store(builder.fmul(builder.fsub(load(place), total), repeat(scale)), place).align = 8
    return context.get_dummy_value()
