"""What the codes of a search take: counted on some rows in every scaling, or as usual."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.checks import make_random_state
from ..data.views import Views
from ..features.landmarks import ROWS_PER_LANDMARK
from ..features.representation import represent
from ..features.scaling import TextScalers, fit_scaling
from ..tuning.options import SearchOptions
from ..tuning.settings import Setting
from .sizes import INDEX, NONZEROS_PER_ROW

_COUNTED = 200  # rows whose codes are counted
_N_SETS, _N_SETS_OF_ONE = 8, 5  # of codes: of several scalings (there are seven to ten), and of one


@dataclass(frozen=True)
class CodeBytes:
    """Bytes of codes, and of the products that they are made of.

    Parameters
    ----------
    n_sets : int
        Sets of codes that are kept.
    nonzeros : float
        Non-zeros of a code in the first scaling, with the ridge that makes it densest if that is not too dense.
    itemsize : int
        Bytes of a number of these.
    all_sets : float
        Bytes of a row in all sets.
    products : float
        Bytes of a row's products in all scalings.
    starts : float
        Bytes of the starts of a set.
    """

    n_sets: int
    nonzeros: float
    itemsize: int
    all_sets: float
    products: float
    starts: float = 0.0

    @property
    def row(self) -> float:
        """Bytes of a code."""
        return _row(self.nonzeros, self.itemsize)


def _row(nonzeros: float, itemsize: int) -> float:
    return nonzeros * (itemsize + INDEX) + INDEX


def _count_sets(n_scalings: int) -> int:
    return _N_SETS if n_scalings > 1 else _N_SETS_OF_ONE


def usual_codes(n_scalings: int, n_landmarks: int, itemsize: int) -> CodeBytes:
    """Return what they take where there is no data to count them on."""
    n_sets, row = _count_sets(n_scalings), _row(NONZEROS_PER_ROW, itemsize)
    return CodeBytes(n_sets, NONZEROS_PER_ROW, itemsize, n_sets * row, 1.0 * n_scalings * n_landmarks * itemsize)


def count_codes(
    views: Views, scalings: list[list[str]], n_landmarks: int, options: SearchOptions, n_threads: int
) -> CodeBytes:
    """Count them on some rows: in each scaling with the usual ridge, and in the two densest ones with the others."""
    from ..solver.elastic_net import ElasticNetEncoder  # loads numba: not before a fit needs it
    from ..solver.weights import for_codes, measure_units

    some = views[:: max(1, len(views) // (ROWS_PER_LANDMARK * n_landmarks))]
    usual = Setting(scaling="", n_landmarks=n_landmarks)
    counted: list[tuple[list[float], int]] = []  # of each scaling: non-zeros with each ridge, and bytes of a number
    starts: list[int] = []
    texts: TextScalers = {}  # fitted once for all scalings, as in the search
    for kinds in scalings:
        rng, present = make_random_state(0), some.present
        scaler = fit_scaling(some, kinds, n_threads, rng=rng, present=present, known=texts)
        source = represent(some, scaler, "kmeans", min(n_landmarks, len(some)), rng, n_threads, present=present)
        products = source.cross.take(np.arange(len(some))[:: max(1, len(some) // _COUNTED)])
        nonzeros: list[float] = []
        units = measure_units(source.grams.complete, products)
        for asked in (usual.ridge, *options.ridges):
            if nonzeros and nonzeros[0] > options.dense_codes and asked > usual.ridge:
                continue  # denser ones are not tried
            l1, ridge = for_codes(usual.l1, asked, units)
            encoder = ElasticNetEncoder(source.grams.complete, ridge, l1)
            nonzeros.append(encoder.encode(products).nnz / max(len(products), 1))
            own = encoder.prepare(products.dtype)[1]
            starts.append(0 if own is None else own.factors.nbytes)
        if nonzeros[0] <= options.dense_codes:
            nonzeros.append(nonzeros[0])  # with a smaller l1, about as many
        counted.append((nonzeros, products.dtype.itemsize))
    all_sets = sum(_row(nonzeros[0], itemsize) for nonzeros, itemsize in counted)
    others = sorted(sum(_row(each, itemsize) for each in nonzeros[1:]) for nonzeros, itemsize in counted)
    all_sets += sum(others[-options.n_finalists :])
    (first, itemsize), in_all = counted[0], sum(itemsize for _, itemsize in counted)
    return CodeBytes(
        _count_sets(len(scalings)),
        min(max(first), max(first[0], options.dense_codes)),
        itemsize,
        all_sets,
        1.0 * n_landmarks * in_all,
        float(np.mean(starts)),
    )
