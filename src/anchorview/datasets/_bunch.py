"""The one form in which every data set is returned."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.utils import Bunch


def make_bunch(
    data: Sequence[Any],
    target: npt.NDArray[np.generic],
    view_names: Sequence[str],
    target_names: Sequence[str],
    descr: str,
) -> Bunch:
    """Bundle views and classes; `views` is the same data as one row-sliceable object."""
    from ..data.views import Views

    return Bunch(
        data=list(data),
        views=Views(dict(zip(view_names, data, strict=True))),
        target=target,
        view_names=list(view_names),
        target_names=list(target_names),
        DESCR=descr,
    )
