"""What estimators tell of their memory."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from sklearn.base import clone

from ..engine.blocks import count_threads
from .estimate import MemoryEstimate
from .fit import FitSizes


class MemoryEstimator:
    """An estimator that tells what a fit would need; a subclass says how it comes from sizes, and from data."""

    n_jobs: int | None

    def _estimate_from(self, X: Any, y: Any, n_threads: int, count: bool) -> MemoryEstimate:
        """Estimate from the data, with codes counted or as usual; attributes may be set."""
        raise NotImplementedError

    def _estimate_sizes(self, sizes: FitSizes) -> MemoryEstimate:
        """Estimate from sizes, of which those that depend on parameters are still to be set."""
        raise NotImplementedError

    def estimate_memory(
        self,
        n_rows: int | None = None,
        n_features: int | None = None,
        n_clusters: int | None = None,
        *,
        n_labelled: int = 0,
        dtype: npt.DTypeLike = np.float32,
        X: Any = None,
        y: Any = None,
        count: bool = True,
    ) -> MemoryEstimate:
        """Estimate the memory of a fit beyond its input, without running it: from sizes, or better from the data.

        How many non-zeros codes have depends on the data. Given `X`, they are counted on some rows, for about the time
        that scaling and choosing landmarks take; from sizes alone 48 a row are assumed, which signed or noisy features
        can exceed three times. `fit` itself counts, where it could matter, and refuses if there is less memory.

        Parameters
        ----------
        n_rows, n_features : int
            Size of the data, all views together; not needed with `X`.
        n_clusters : int, optional
            Number of classes; by default those in `y`, the parameter if there is one, or 10.
        n_labelled : int
            Number of labelled rows.
        dtype : dtype
            Of the views; single precision needs less.
        X, y : optional
            The views and labels, as for `fit`, in place of sizes.
        count : bool, default=True
            Whether to count the non-zeros on rows of `X`; otherwise 48 a row are assumed, which takes no time. With few
            thousand rows codes are a small part of the whole.

        Returns
        -------
        MemoryEstimate
            ``.total`` in bytes; printed, a sentence.

        Examples
        --------
        >>> from anchorview import FSSMSC, AnchorViewClassifier, datasets
        >>> FSSMSC().estimate_memory(1_000_000, 200).total < 2e9
        True
        >>> AnchorViewClassifier().estimate_memory(20_000, 200, n_labelled=400).total < 1e9
        True
        >>> data = datasets.load_handwritten()
        >>> FSSMSC().estimate_memory(X=data.views[::8], y=data.target[::8]).total < 1e8
        True
        """
        n_threads = count_threads(self.n_jobs)
        if X is not None:
            model: MemoryEstimator = clone(self)  # reading sets attributes
            return model._estimate_from(X, y, n_threads, count)
        if n_rows is None or n_features is None:
            raise ValueError("Pass n_rows and n_features, or the data as X.")
        itemsize = 4 if np.can_cast(dtype, np.float32) else 8
        own = getattr(self, "n_clusters", None)
        n_components = n_clusters or (own if isinstance(own, int) else None) or 10
        sizes = FitSizes(n_rows, n_features, n_rows, n_components, n_labelled, itemsize=itemsize, n_threads=n_threads)
        return self._estimate_sizes(sizes)
