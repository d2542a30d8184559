"""The estimator: parameters, orchestration of the stages, scikit-learn's contract. No mathematics."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Iterable, Sequence
from dataclasses import replace
from typing import Any, Self

import numpy as np
import numpy.typing as npt
from scipy import sparse
from sklearn.base import BaseEstimator, ClassifierMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin
from sklearn.exceptions import ConvergenceWarning
from sklearn.utils import check_random_state
from sklearn.utils.validation import check_is_fitted, validate_data

from .engine.blocks import ViewCrossProducts
from .engine.parallel import count_threads, map_blocks, one_blas_thread
from .inference import RULES, ClusterCentres, LabelledNeighbours, fit_clusters, fit_neighbours
from .landmarks import choose_landmarks
from .progress import CallbackSupportMixin, Progress, with_callbacks
from .scaling import ScalingChoice, check_finite, fit_scaling, resolve_scaling
from .solver.problem import Problem
from .solver.result import Iteration, Outcome, SolverResult
from .supervision import label_laplacians
from .validation import (
    OMITTABLE,
    as_views,
    check_choice,
    check_number,
    check_same_features,
    encode_labels,
    match_views,
)
from .views import ColumnGroups, Views


class FSSMSC(CallbackSupportMixin, ClassNamePrefixFeaturesOutMixin, TransformerMixin, ClassifierMixin, BaseEstimator):
    """Fast scalable semi-supervised multi-view subspace clustering.

    Every row is described by a sparse non-negative code over a few hundred landmarks, shared by all views; the
    landmarks get an embedding in which rows of one class lie together, learned from the codes and a few labels. A
    row takes the class of its nearest labelled row. Time and memory grow linearly with the number of rows.

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters and dimension of the embedding; by default the number of labelled classes. Needed without
        labels.
    n_landmarks : int, default=500
        Number of landmarks; lowered to a third of the number of rows if there are fewer than three per landmark.
    views : sequence or mapping, optional
        How to cut a 2-D `X` into views; see :class:`Views`. Without it a 2-D `X` is one view.
    scaling : {"minmax", "symmetric", "standard", "l2", "none"}, sequence or mapping, default="minmax"
        Scaling of the features, for all views or per view; all but "none" end with rows of unit length.
    landmarks : {"kmeans", "random"} or ndarray of shape (m, n_features), default="kmeans"
        Centres of k-means, a random sample of rows, or given landmarks in the scaled feature space.
    l1 : float, default=0.2
        Weight of ‖Z‖₁ (λ_Z of the paper): larger gives sparser codes.
    ridge : float, default=1.0
        Weight μ of ‖Z‖²/2; 0 is the paper's model.
    must_link_weight : float, default=1e4
        Weight λ_M of the distance within classes.
    coupling : float, default=1e-4
        Weight β of the term that joins codes and embedding; 0 learns the codes from the features alone.
    omit : sequence of {"l1", "must_link", "cannot_link", "smoothness", "coupling"}, default=()
        Parts of the model to leave out, as in the paper's ablation study.
    solver : {"active_set", "admm"}, default="active_set"
        Exact codes row by row, or the paper's Algorithm 1.
    solver_options : dict, optional
        For "admm": ``mode`` ("paper" or "released"), ``fixed_step`` (False), ``dtype`` ("float32").
    max_iter : int, default=30
        Rounds at most.
    tol : float, default=1e-4
        Optimality residual at which to stop ("admm": largest change of an entry).
    inference : {"nearest", "euclidean", "knn"}, default="nearest"
        Nearest labelled row by angle, by plain distance (the paper), or a distance-weighted vote of `n_neighbors`.
    n_neighbors : int, default=5
        For ``inference="knn"``.
    random_state : int, RandomState or None, default=None
        Landmarks, and k-means when there are no labels.
    n_jobs : int, optional
        Threads; by default as many as BLAS may use. The result does not depend on it.
    verbose : bool, default=False
        Log each stage and round.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Class (without labels: cluster number) of each row; labelled rows keep theirs.
    confidence_ : ndarray of shape (n_rows,)
        Probability of that class; 1 for labelled rows.
    classes_ : ndarray
        The labelled classes, sorted.
    embedding_ : ndarray of shape (n_rows, n_components)
        What `transform` gives for the training rows.
    codes_ : csr_array of shape (n_rows, n_landmarks)
        Codes of the rows.
    landmarks_ : ndarray of shape (n_landmarks, n_features)
        Landmarks in the scaled feature space, views side by side.
    landmark_embedding_ : ndarray of shape (n_components, n_landmarks)
        Embedding of the landmarks.
    n_iter_ : int
        Rounds made.
    objective_history_ : ndarray
        Objective after each round.
    residual_history_ : ndarray
        Optimality residual of each round.
    status_ : str
        How the fit went, in words.
    n_features_in_ : int
        Features of all views together.
    view_names_, view_sizes_ : list
        Names and numbers of features of the views.

    Examples
    --------
    >>> from anchorview import FSSMSC, datasets, metrics
    >>> digits = datasets.load_handwritten()
    >>> y = datasets.hide_labels(digits.target, 0.05, random_state=0)  # 100 labels, the rest -1
    >>> model = FSSMSC(random_state=0).fit(digits.views, y)
    >>> hidden = y == -1
    >>> metrics.clustering_accuracy(digits.target[hidden], model.labels_[hidden]) > 0.95
    True
    >>> model.predict(digits.views[:3])
    array([0, 0, 0])
    """

    def __init__(
        self,
        n_clusters: int | None = None,
        n_landmarks: int = 500,
        *,
        views: ColumnGroups | None = None,
        scaling: ScalingChoice = "minmax",
        landmarks: str | npt.ArrayLike = "kmeans",
        l1: float = 0.2,
        ridge: float = 1.0,
        must_link_weight: float = 1e4,
        coupling: float = 1e-4,
        omit: Sequence[str] = (),
        solver: str = "active_set",
        solver_options: dict[str, Any] | None = None,
        max_iter: int = 30,
        tol: float = 1e-4,
        inference: str = "nearest",
        n_neighbors: int = 5,
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_landmarks = n_landmarks
        self.views = views
        self.scaling = scaling
        self.landmarks = landmarks
        self.l1 = l1
        self.ridge = ridge
        self.must_link_weight = must_link_weight
        self.coupling = coupling
        self.omit = omit
        self.solver = solver
        self.solver_options = solver_options
        self.max_iter = max_iter
        self.tol = tol
        self.inference = inference
        self.n_neighbors = n_neighbors
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that labels are optional and sparse input is not taken."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = False
        tags.transformer_tags.preserves_dtype = ["float64", "float32"]
        return tags

    @with_callbacks  # type: ignore[untyped-decorator,unused-ignore]
    def fit(self, X: Any, y: Any = None) -> Self:
        """Learn landmarks, codes and embedding, and label every row.

        Parameters
        ----------
        X : Views, list or dict of arrays, or array-like of shape (n_rows, n_features)
            The views; a 2-D array or DataFrame is cut by the parameter `views`.
        y : array-like of shape (n_rows,), optional
            Labels; -1 (None or "" among strings) where there is none. Without `y`, rows are clustered.

        Returns
        -------
        self
        """
        self._check_parameters()
        views = self._read_views(X, reset=True)
        classes, codes = encode_labels(y, len(views))
        labelled = np.flatnonzero(codes >= 0)
        outcomes: list[Outcome] = []
        n_components = self._count_components(len(classes), outcomes)
        resolve_scaling(views, self.scaling)
        n_landmarks = self._count_landmarks(views, n_components, outcomes)
        n_threads = count_threads(self.n_jobs)
        rng = check_random_state(self.random_state)

        progress = Progress(self, self.verbose, self.max_iter, self.tol)
        progress.stage(f"{views!r}, {len(labelled)} labelled in {len(classes)} classes")
        scaler = fit_scaling(views, self.scaling, n_threads)
        progress.stage(f"choosing {n_landmarks} landmarks")
        given = self.landmarks if isinstance(self.landmarks, str) else np.asarray(self.landmarks)
        landmarks = choose_landmarks(views, scaler, given, n_landmarks, rng, n_threads)
        if "anchorview.solver.kernels" not in sys.modules:
            progress.stage("loading the compiled kernels (the first run on a machine compiles them: 10-20 s)")
        cross = ViewCrossProducts(views, scaler, landmarks)
        wide = landmarks.astype(np.float64)
        must, cannot = label_laplacians(codes[labelled], len(classes))
        omit = set(self.omit)
        problem = Problem(
            gram=wide @ wide.T,
            n_components=n_components,
            l1=0.0 if "l1" in omit else float(self.l1),
            ridge=float(self.ridge),
            coupling=0.0 if "coupling" in omit else float(self.coupling),
            must_link_weight=float(self.must_link_weight),
            labelled=labelled,
            must=None if "must_link" in omit else must,
            cannot=None if "cannot_link" in omit else cannot,
            smoothness="smoothness" not in omit,
        )
        progress.stage("solving")
        progress.begin_round()
        with one_blas_thread():
            result = self._solve(problem, cross, n_threads, progress)
        progress.stage("reading labels from the embedding")
        self._scaler, self._encoder, self._dtype = scaler, result.encoder, scaler.dtype
        self.landmarks_ = landmarks
        self.landmark_embedding_ = result.embedding
        self.codes_ = result.codes
        self.embedding_ = self._embed(result.encoded)
        self.classes_ = classes if len(classes) else np.arange(n_components)
        self._n_features_out = n_components
        self._rule = self._fit_rule(codes, labelled, n_components, rng)
        self._label_rows(codes, labelled, n_threads)
        self.n_iter_ = result.n_iter
        self.objective_history_ = result.objective_history + 0.5 * cross.squared_norm
        self.residual_history_ = result.residual_history
        self._describe(outcomes + list(result.outcomes))
        progress.stage(self.status_)
        progress.finish()
        return self

    def _solve(self, problem: Problem, cross: ViewCrossProducts, n_threads: int, progress: Progress) -> SolverResult:
        def end_round(iteration: Iteration) -> bool:
            constant = 0.5 * cross.squared_norm  # of the data term; the solver leaves it out
            return progress.end_round(replace(iteration, objective=iteration.objective + constant))

        common: dict[str, Any] = {
            "max_iter": self.max_iter,
            "tol": self.tol,
            "n_threads": n_threads,
            "callback": end_round,
        }
        if self.solver == "active_set":
            from .solver.active_set import solve_active_set

            return solve_active_set(problem, cross, **common)
        from .solver.admm import solve_admm

        return solve_admm(problem, cross, **common, **(self.solver_options or {}))

    def _fit_rule(
        self, codes: npt.NDArray[np.intp], labelled: npt.NDArray[np.intp], n_clusters: int, rng: np.random.RandomState
    ) -> LabelledNeighbours | ClusterCentres:
        if len(labelled) == 0:
            return fit_clusters(self.embedding_, n_clusters, rng)
        return fit_neighbours(self.embedding_[labelled], codes[labelled], self.inference, self.n_neighbors)

    def _label_rows(self, codes: npt.NDArray[np.intp], labelled: npt.NDArray[np.intp], n_threads: int) -> None:
        evidence = self._rule.evidence(self.embedding_, n_threads)
        numbers = evidence.argmax(axis=1)
        numbers[labelled] = codes[labelled]
        self.labels_ = self.classes_[numbers]
        self.confidence_ = self._rule.probabilities(evidence).max(axis=1)
        self.confidence_[labelled] = 1.0

    def _describe(self, outcomes: list[Outcome]) -> None:
        self.status_ = " ".join(dict.fromkeys(outcome.value for outcome in outcomes))
        for outcome in outcomes:
            if outcome in (Outcome.MAX_ITER, Outcome.DIVERGED) and not self._is_early_stop(outcome):
                warnings.warn(f"{type(self).__name__} {outcome.value}", ConvergenceWarning, stacklevel=4)
            elif outcome in (Outcome.FEWER_CLASSES, Outcome.MORE_CLASSES):
                warnings.warn(f"{type(self).__name__}: {outcome.value}", UserWarning, stacklevel=4)

    def _is_early_stop(self, outcome: Outcome) -> bool:
        """Tell the paper's fixed number of ADMM rounds, which ends far from the optimum on purpose, from a failure."""
        return self.solver == "admm" and outcome is Outcome.MAX_ITER

    def transform(self, X: Any) -> npt.NDArray[np.floating]:
        """Embed rows.

        Parameters
        ----------
        X : Views, list or dict of arrays, or array-like of shape (n_rows, n_features)
            Rows with the views of the fit.

        Returns
        -------
        ndarray of shape (n_rows, n_components)
            Each row depends on that row only.
        """
        check_is_fitted(self)
        views = self._read_views(X, reset=False)
        n_threads = count_threads(self.n_jobs)
        check_finite(views, n_threads)
        cross = ViewCrossProducts(views, self._scaler, self.landmarks_, cache=False)
        parts = map_blocks(lambda block: self._embed(self._encoder.encode(cross.rows(block))), cross.blocks, n_threads)
        return np.concatenate(parts)

    def _embed(self, codes: sparse.csr_array) -> npt.NDArray[np.floating]:
        embedding: npt.NDArray[np.floating] = (codes @ self.landmark_embedding_.T).astype(self._dtype)
        return embedding

    def predict(self, X: Any) -> npt.NDArray[Any]:
        """Return the class of each row.

        Parameters
        ----------
        X : Views, list or dict of arrays, or array-like of shape (n_rows, n_features)
            Rows with the views of the fit.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        embedding = np.asarray(_plain_transform(self, X))
        numbers = self._rule.evidence(embedding, count_threads(self.n_jobs)).argmax(axis=1)
        predicted: npt.NDArray[Any] = self.classes_[numbers]
        return predicted

    def predict_proba(self, X: Any) -> npt.NDArray[np.floating]:
        """Return the probability of each class for each row.

        Parameters
        ----------
        X : Views, list or dict of arrays, or array-like of shape (n_rows, n_features)
            Rows with the views of the fit.

        Returns
        -------
        ndarray of shape (n_rows, n_classes)
        """
        embedding = np.asarray(_plain_transform(self, X))
        return self._rule.probabilities(self._rule.evidence(embedding, count_threads(self.n_jobs)))

    def fit_predict(self, X: Any, y: Any = None) -> npt.NDArray[Any]:
        """Fit and return ``labels_``.

        Parameters
        ----------
        X : Views, list or dict of arrays, or array-like of shape (n_rows, n_features)
            The views.
        y : array-like of shape (n_rows,), optional
            Labels, -1 where there is none.

        Returns
        -------
        ndarray of shape (n_rows,)
        """
        labels: npt.NDArray[Any] = self.fit(X, y).labels_
        return labels

    def score(self, X: Any, y: Any, sample_weight: npt.ArrayLike | None = None) -> float:
        """Return the accuracy of `predict` over the rows that have a label.

        Parameters
        ----------
        X : Views, list or dict of arrays, or array-like of shape (n_rows, n_features)
            Rows with the views of the fit.
        y : array-like of shape (n_rows,)
            True labels; rows marked as unlabelled are left out.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of the rows.

        Returns
        -------
        float
        """
        check_is_fitted(self)
        classes, codes = encode_labels(y, len(as_views(X, self.views)), fitted=self.classes_)
        known = codes >= 0
        if not known.any():
            raise ValueError("No row of y has a label, so there is nothing to score against.")
        weights = np.ones(len(codes)) if sample_weight is None else np.asarray(sample_weight, dtype=float)
        hits = self.predict(X)[known] == classes[codes[known]]
        return float(np.average(hits, weights=weights[known]))

    def _read_views(self, X: Any, *, reset: bool) -> Views:
        """Turn input into Views, and record or check what scikit-learn wants to know of its features."""
        if _is_table(X):
            X = validate_data(
                self, X, reset=reset, dtype=None, ensure_all_finite=False, skip_check_array=_keeps_type(X)
            )
        views = as_views(X, self.views)
        if reset:
            self.n_features_in_ = sum(views.sizes)
            self.view_names_, self.view_sizes_ = list(views.names), list(views.sizes)
        else:
            views = match_views(views, self.view_names_)
            check_same_features(views, self.view_sizes_, self.view_names_, type(self).__name__)
        return views

    def _check_parameters(self) -> None:
        for name in ("l1", "ridge", "must_link_weight", "coupling", "tol"):
            check_number(name, getattr(self, name), 0)
        for name in ("n_landmarks", "max_iter", "n_neighbors"):
            check_number(name, getattr(self, name), 1, integer=True)
        if self.n_clusters is not None:
            check_number("n_clusters", self.n_clusters, 1, integer=True)
        check_choice("solver", self.solver, ("active_set", "admm"))
        check_choice("inference", self.inference, RULES)
        if isinstance(self.landmarks, str):
            check_choice("landmarks", self.landmarks, ("kmeans", "random"))
        if isinstance(self.omit, str) or not isinstance(self.omit, Iterable):
            raise ValueError(f"omit is a sequence of names, such as omit=('l1',); got {self.omit!r}.")
        for name in self.omit:
            check_choice("omit", name, OMITTABLE)
        if {"must_link", "smoothness"} <= set(self.omit):
            raise ValueError("omit=('must_link', 'smoothness') leaves no distance to make small; keep one of them.")
        allowed = {"mode", "fixed_step", "dtype"} if self.solver == "admm" else set()
        unknown = sorted(set(self.solver_options or {}) - allowed)
        if unknown:
            raise ValueError(
                f"solver_options {unknown} are not known to solver={self.solver!r}; it takes {sorted(allowed)}."
            )

    def _count_components(self, n_classes: int, outcomes: list[Outcome]) -> int:
        if n_classes == 0:
            outcomes.append(Outcome.NO_LABELS)
            if self.n_clusters is None:
                raise ValueError("Without labels the number of clusters is needed: pass n_clusters, or labels in y.")
            if "smoothness" in self.omit:
                raise ValueError("omit=('smoothness',) leaves nothing to learn from when there are no labels.")
            return int(self.n_clusters)
        if self.n_clusters is None:
            if n_classes == 1:
                raise ValueError(
                    "Only one class is labelled, so every row would get it; label rows of at least two classes, "
                    "or pass n_clusters."
                )
            return n_classes
        if self.n_clusters < n_classes:
            outcomes.append(Outcome.MORE_CLASSES)
        if self.n_clusters > n_classes:
            outcomes.append(Outcome.FEWER_CLASSES)
        return max(int(self.n_clusters), n_classes)

    def _count_landmarks(self, views: Views, n_components: int, outcomes: list[Outcome]) -> int:
        n_rows = len(views)
        if not isinstance(self.landmarks, str):
            given = np.asarray(self.landmarks)
            if given.ndim != 2 or given.shape[1] != sum(views.sizes):
                raise ValueError(f"landmarks must be an m×{sum(views.sizes)} array; got shape {given.shape}.")
            if not np.isfinite(given.astype(np.float64)).all():
                raise ValueError("landmarks contains NaN or infinity.")
            if len(given) < n_components:
                raise ValueError(f"{len(given)} landmarks are fewer than the {n_components} clusters.")
            return len(given)
        if self.n_landmarks < n_components:
            raise ValueError(
                f"n_landmarks={self.n_landmarks} is below the {n_components} clusters; it must be at least as large."
            )
        if n_rows < n_components:
            raise ValueError(f"n_samples={n_rows} should be >= n_clusters={n_components}.")
        most = max(n_rows // 3, min(n_rows, 2 * n_components))
        if self.n_landmarks > most:
            outcomes.append(Outcome.LANDMARKS_CAPPED)
        return int(min(self.n_landmarks, most))


def _is_table(X: Any) -> bool:
    """Tell one 2-D table, which scikit-learn can validate, from several views."""
    if isinstance(X, list | tuple):
        return len(X) > 0 and np.ndim(X[0]) < 2 and not hasattr(X[0], "shape")
    return sparse.issparse(X) or not isinstance(X, Views | dict)


def _keeps_type(X: Any) -> bool:
    """DataFrames keep their columns, which `views` may name; only their feature names are checked."""
    return hasattr(X, "iloc")


def _plain_transform(model: FSSMSC, X: Any) -> npt.NDArray[np.floating]:
    """Transform without the container that ``set_output`` may ask for."""
    method = type(model).transform
    plain = getattr(method, "__wrapped__", method)
    embedding: npt.NDArray[np.floating] = plain(model, X)
    return embedding


__all__ = ["FSSMSC"]
