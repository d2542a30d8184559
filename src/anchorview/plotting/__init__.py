"""Pictures of fitted models, of the search of `FSSMSCCV` and of ranks of methods."""

from .model import plot_confusion, plot_embedding, plot_summary, plot_view_importance
from .ranks import plot_ranks
from .search import plot_search

__all__ = [
    "plot_confusion",
    "plot_embedding",
    "plot_ranks",
    "plot_search",
    "plot_summary",
    "plot_view_importance",
]
