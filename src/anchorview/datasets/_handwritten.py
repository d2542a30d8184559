"""UCI Multiple Features: handwritten digits in six views, shipped with the package."""

from __future__ import annotations

from collections.abc import Mapping
from importlib.resources import files

import numpy as np
import numpy.typing as npt
from sklearn.utils import Bunch

from ._bunch import make_bunch

VIEW_NAMES = ("fou", "fac", "kar", "pix", "zer", "mor")
_POWERS_OF_TEN = np.array([float(10**exponent) for exponent in range(10)])


def load_handwritten() -> Bunch:
    """Load the UCI Multiple Features data: 2,000 handwritten digits in six views.

    There are 200 rows of each digit, sorted by digit. Nothing is scaled. The views are fou (76 Fourier
    coefficients of the shape), fac (216 profile correlations), kar (64 Karhunen-Loève coefficients), pix
    (240 averages of 2×3 pixels), zer (47 Zernike moments) and mor (6 morphological features).

    Returns
    -------
    sklearn.utils.Bunch
        data : list of 6 ndarrays of shape (2000, n_features), float64
            The views, fresh copies at each call.
        views : Views
            The same views as one object that can be sliced by rows.
        target : ndarray of shape (2000,)
            The digits, 0 to 9.
        view_names : list of str
            Names of the views.
        target_names : list of str
            "0" to "9".
        DESCR : str
            Source, licence and what was changed.

    Notes
    -----
    Duin, R., "Multiple Features", UCI Machine Learning Repository, https://doi.org/10.24432/C5HC70,
    licensed CC BY 4.0. Decimals are rounded to five significant digits.

    Examples
    --------
    >>> from anchorview.datasets import load_handwritten
    >>> digits = load_handwritten()
    >>> [(name, view.shape[1]) for name, view in zip(digits.view_names, digits.data)]
    [('fou', 76), ('fac', 216), ('kar', 64), ('pix', 240), ('zer', 47), ('mor', 6)]
    >>> digits.target.shape
    (2000,)
    """
    folder = files("anchorview.datasets").joinpath("data")
    with folder.joinpath("handwritten.npz").open("rb") as file, np.load(file) as stored:
        data = [decode_decimals(stored, name) for name in VIEW_NAMES]
        target = stored["target"].astype(np.int64)
    descr = folder.joinpath("ATTRIBUTION.md").read_text(encoding="utf-8")
    return make_bunch(data, target, VIEW_NAMES, [str(digit) for digit in range(10)], descr)


def decode_decimals(stored: Mapping[str, npt.NDArray[np.integer]], name: str) -> npt.NDArray[np.float64]:
    """Rebuild a view from integers, kept as three arrays of bytes, and their numbers of decimals.

    The result is the double nearest to the decimal text, because the quotient of two exact numbers is
    correctly rounded. `scripts/embed_handwritten.py` writes this form.
    """
    low, middle, high = (stored[f"{name}_{part}"].astype(np.int32) for part in ("low", "middle", "high"))
    digits = low + (middle << 8) + (high << 16)
    values: npt.NDArray[np.float64] = digits / _POWERS_OF_TEN[stored[f"{name}_decimals"]]
    return values
