"""What models that did not see a label said of its row: the evidence for accuracy, confusion and doubtful labels."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.arrays import ClassIds, Mask, Matrix, Rows, Weights


@dataclass(frozen=True, eq=False)
class HeldOutLabels:
    """Labelled rows whose labels were hidden in turn, and the probabilities that they got without them.

    Attributes
    ----------
    rows : ndarray of int of shape (n_judged,)
        Numbers of the rows in the fit. A label that is the only one of its class is never hidden.
    class_ids : ndarray of int of shape (n_judged,)
        Their labels, as places in ``classes_``.
    probabilities : ndarray of shape (n_judged, n_classes)
        Of each class, by a model that did not see the row's label.
    weights : ndarray of shape (n_judged,), or None
        Their sample weights.

    Examples
    --------
    >>> import numpy as np
    >>> hidden = HeldOutLabels(np.array([3, 8]), np.array([0, 1]), np.array([[0.9, 0.1], [0.6, 0.4]]))
    >>> hidden.right, hidden.confidence
    (array([ True, False]), array([0.9, 0.6]))
    """

    rows: Rows
    class_ids: ClassIds
    probabilities: Matrix
    weights: Weights = None

    def __len__(self) -> int:
        return len(self.rows)

    @property
    def guessed(self) -> ClassIds:
        """The likeliest class of each row."""
        likeliest: ClassIds = self.probabilities.argmax(axis=1)
        return likeliest

    @property
    def right(self) -> Mask:
        """Whether that is the label given."""
        found: Mask = self.guessed == self.class_ids
        return found

    @property
    def confidence(self) -> Matrix:
        """Its probability."""
        sure: Matrix = np.max(self.probabilities, axis=1)
        return sure
