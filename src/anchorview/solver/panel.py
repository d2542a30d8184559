"""Sums over the rows of a panel, eight numbers wide: the inner loop of a triangular solve with eight right-hand sides.

The same loop in Python is compiled to one number at a time, and takes three times as long.
"""

from __future__ import annotations

from typing import Any

from numba import types
from numba.core import cgutils
from numba.extending import intrinsic

from ..core.vectors import DOUBLE, PLACE, VECTOR, ZEROS, add_product, fill_vector, load_at, place_of, store

_CHAINS = 4  # sums that grow side by side: an addition takes four cycles, and two can begin in each


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
    address = builder.add(builder.ptrtoint(factor.data, PLACE), builder.mul(row, stride))
    line = builder.inttoptr(address, DOUBLE.as_pointer())
    rows = builder.bitcast(panel.data, VECTOR.as_pointer())

    def add_row(i: Any, chain: Any) -> None:
        add_product(builder, load_at(builder, builder.gep(line, [i])), load_at(builder, builder.gep(rows, [i])), chain)

    chains = [cgutils.alloca_once_value(builder, ZEROS) for _ in range(_CHAINS)]
    whole = builder.and_(count, place_of(-_CHAINS))
    with cgutils.for_range_slice(builder, place_of(0), whole, place_of(_CHAINS), PLACE, inc=True) as (first, _):
        for step, chain in enumerate(chains):
            add_row(builder.add(first, place_of(step)), chain)
    with cgutils.for_range_slice(builder, whole, count, place_of(1), PLACE, inc=True) as (i, _):
        add_row(i, chains[0])
    sums = [builder.load(chain) for chain in chains]
    total = builder.fadd(builder.fadd(sums[0], sums[1]), builder.fadd(sums[2], sums[3]))
    place = builder.gep(rows, [target])
    left = builder.fsub(load_at(builder, place), total)
    store(builder, builder.fmul(left, fill_vector(builder, scale)), place)
    return context.get_dummy_value()
