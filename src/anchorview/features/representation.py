"""The data in one scaling, with its landmarks: access to E, and G = Σ_v U_v U_vᵀ."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from ..core.arrays import Matrix, Presence, Weights, fewer_digits
from ..data.views import Views
from ..solver.grams import PatternGrams
from .cluster_products import ClusterCrossProducts
from .directions import LANDMARK_BITS
from .landmarks import choose_landmarks
from .products import CACHE_BYTES, ViewCrossProducts, landmark_gram
from .projected import Coordinates, project_texts
from .scaled import ViewsScaler
from .text import TextScaler


@dataclass(frozen=True)
class Representation:
    """The data in one scaling, with its landmarks."""

    scaler: ViewsScaler
    landmarks: Matrix
    grams: PatternGrams
    cross: ViewCrossProducts


def represent(
    views: Views,
    scaler: ViewsScaler,
    landmarks: str | Matrix,
    n_landmarks: int,
    rng: np.random.RandomState,
    n_threads: int = 1,
    *,
    present: Presence = None,
    weights: Weights = None,
    least: int = 1,
    cache_bytes: int = CACHE_BYTES,
    coordinates: Coordinates | None = None,
) -> Representation:
    """Choose landmarks among the scaled rows, and give access to the products of the two.

    Parameters are those of `choose_landmarks` and `ViewCrossProducts`. With `coordinates`, those of texts are computed
    once and kept there for other scalings of the same rows.
    """
    reader = scaler
    if coordinates is not None:
        views, (reader,) = project_texts(views, [scaler], present, n_threads, coordinates)
    chosen = choose_landmarks(
        views, reader, landmarks, n_landmarks, rng, n_threads, present=present, weights=weights, least=least
    )
    # Views that are scaled to directions of a latent semantic analysis.
    projected = [one for one in scaler.scalers if isinstance(one, TextScaler) and one.components is not None]
    if isinstance(landmarks, str) and landmarks == "kmeans" and projected:
        chosen = fewer_digits(chosen, LANDMARK_BITS)
    kind = ClusterCrossProducts if views.is_on_cluster else ViewCrossProducts
    cross = kind(views, reader, chosen, present=present, weights=weights, cache_bytes=cache_bytes)
    grams = PatternGrams(chosen, scaler.sizes, landmark_gram(chosen), scaler.view_weights)
    return Representation(scaler, chosen, grams, cross)
