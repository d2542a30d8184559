"""The estimators' part in suggesting rows to label; the choice itself is in `suggestions`."""

from __future__ import annotations

from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.utils.validation import check_is_fitted

from .suggestions import check_request, code_coordinates, restrict, suggest_rows


class LabelSuggester:
    """Says which rows of the fit to label next."""

    codes_: sparse.csr_array
    confidence_: npt.NDArray[np.floating]
    _ids: npt.NDArray[Any] | None
    _can_be_labelled: npt.NDArray[np.bool_]

    def suggest_labels(self, n: int, *, among: Any = None) -> npt.NDArray[Any]:
        """Suggest rows of the fit to label next: where the most mistakes are expected, spread over the data.

        Label them, and fit again; with many labels to give, do it in rounds of some twenty. The answer is the same
        each time.

        Parameters
        ----------
        n : int
            Number of rows.
        among : array-like, optional
            The only rows to choose from: their numbers (ids, if the views have ids).

        Returns
        -------
        ndarray of shape (n,)
            Numbers of rows (ids, if the views have ids) that have no label, the most useful first.

        Examples
        --------
        >>> import numpy as np
        >>> from anchorview import FSSMSC, datasets
        >>> digits = datasets.load_handwritten()
        >>> start = FSSMSC(n_clusters=10, random_state=0).fit(digits.views)  # no label yet: one of each large group
        >>> rows = start.suggest_labels(40)
        >>> y = np.full(2000, -1)
        >>> y[rows] = digits.target[rows]  # ask someone who knows
        >>> model = FSSMSC(random_state=0).fit(digits.views, y)
        >>> len(model.classes_), bool((model.labels_ == digits.target).mean() > 0.9)
        (10, True)
        >>> bool(y[model.suggest_labels(20)].max() == -1)
        True
        """
        check_is_fitted(self)
        candidates = restrict(self._can_be_labelled, among, self._ids)
        check_request(n, candidates)
        n_labelled = int(np.count_nonzero(~self._can_be_labelled))
        doubt = np.where(self._can_be_labelled, 1 - self.confidence_, 0.0)
        rows = suggest_rows(code_coordinates(self.codes_), doubt, candidates, int(n), n_labelled)
        found: npt.NDArray[Any] = rows if self._ids is None else self._ids[rows]
        return found
