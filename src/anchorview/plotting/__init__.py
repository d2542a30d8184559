"""Pictures of fitted models, of the search of `AnchorViewClassifier` and of ranks of methods."""

from ..readers.plane import map_to_plane
from .confidence import plot_confidence, plot_reliability
from .importance import plot_view_importance
from .ranks import plot_ranks
from .rows import plot_class_sizes, plot_confusion, plot_embedding
from .search import plot_search
from .summary import plot_summary

__all__ = [
    "map_to_plane",
    "plot_class_sizes",
    "plot_confidence",
    "plot_confusion",
    "plot_embedding",
    "plot_ranks",
    "plot_reliability",
    "plot_search",
    "plot_summary",
    "plot_view_importance",
]
