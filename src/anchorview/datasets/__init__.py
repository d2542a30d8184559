"""Data to try things on: a real multi-view data set, a generator, a file reader, and label hiding."""

from ._handwritten import load_handwritten
from ._labels import hide_labels
from ._npz import load_npz
from ._synthetic import make_multiview_subspaces

__all__ = ["hide_labels", "load_handwritten", "load_npz", "make_multiview_subspaces"]
