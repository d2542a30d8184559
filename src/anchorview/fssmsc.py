"""`FSSMSC`, the single model of the paper: its parameters, and what a fit publishes. No mathematics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from .core.checks import check_parameters, make_random_state
from .core.progress import as_interrupt, with_callbacks
from .cost.estimate import REMEDY, MemoryEstimate
from .cost.fit import FitSizes
from .data.reading import ColumnGroups
from .engine.blocks import count_threads
from .engine.sources.dask_tasks import WorkerWatch
from .features.auto import ScalingChoice
from .features.view_weights import ViewWeightsChoice
from .fitting.memory import estimate_from_data, estimate_from_sizes
from .fitting.pipeline import Fitted, fit_model
from .fitting.spec import RULES_OF_FIT, FitParameters, FitRun
from .label_loop.updating import UpdatedLabels
from .readers.label_sources import number_sources, read_label_sources
from .solvers import SolverParameters, resolve_solver
from .supervision.constraints import Constraints

__all__ = ["FSSMSC"]


class FSSMSC(UpdatedLabels):
    """Fast scalable semi-supervised multi-view subspace clustering.

    Every row is described by a sparse non-negative code over a few hundred landmarks, shared by all views. From the
    codes and a few labels, the model learns an embedding in which rows of one class lie together. A row takes the class
    of its nearest labelled row, or the most probable class of several averaged readers, whichever does better in
    cross-validation on the labels. Memory grows linearly with the number of rows, and so does time for a given number
    of labels (see Notes).

    Parameters
    ----------
    n_clusters : int or "auto", optional
        Number of clusters and dimension of the embedding; by default the number of labelled classes. Required without
        labels. "auto" then takes the last of the largest gaps in the spectrum of the graph of rows and landmarks;
        ``status_`` reports whether the number is clear.
    n_landmarks : int, default=500
        Number of landmarks; lowered to a third of the number of rows if there are fewer than three per landmark, and
        to the number of rows that are different.
    views : sequence or mapping, optional
        How to cut a 2-D `X` into views, or what to read of AnnData and MuData; see :class:`Views`. Without it a 2-D
        `X` is one view.
    scaling : str, sequence or mapping, default="auto"
        Scaling of the features, for all views or per view: "minmax", "symmetric" (to [-1, 1]), "standard", "l2",
        "tfidf", "lsa" (tf-idf, then the leading 150 singular directions) or "none"; all but "none" end with rows of
        unit length. "auto" is chosen by cross-validation on the labels, on a sample of the rows. With few labels the
        choice is shrunk towards a default for the kind of feature, which decides without labels: "lsa" for sparse views
        and for dense non-negative ones with more than 95 % zeros, "l2" for signed features whose rows all have the same
        length (embeddings), else "minmax". If rows would be nearly parallel (mean cosine above 0.95), it is "symmetric"
        for signed features and "standard" for others. Sparse views take "minmax" (by the largest value), "l2", "tfidf",
        "lsa" or "none", and are never made dense.
    view_weights : "auto", sequence, mapping or None, default="auto"
        Weight of each view, in the order of the views or by name (1 for views that a mapping does not name). Only the
        ratios matter. "auto" measures how much better than chance a logistic regression on the view alone predicts
        hidden labels, and raises it to the power 0, 1 or 2. Cross-validation on the labels chooses the power; it is 0
        unless another is clearly better. Copies of a view count together as
        much as one view. None gives all views the same weight; without labels "auto" does too, except for copies.
        "auto" has no effect with given landmarks, the scaling "none", or the paper's units.
    landmarks : {"kmeans", "random"} or ndarray of shape (m, n_features), default="kmeans"
        Centres of k-means, a random sample of rows, or given landmarks in the scaled feature space.
    l1 : float or "auto", default="auto"
        Weight of ‖Z‖₁ (λ_Z in the paper). Larger values give sparser codes. "auto" is 0.1: landmarks whose correlation
        with a row is less than a tenth of the largest are left out of its code.
    ridge : float or "auto", default="auto"
        Weight μ of ‖Z‖²/2; 0 is the paper's model. "auto" is 1, 3 or 10, chosen by
        cross-validation on the labels; 3 without labels.
    must_link_weight : float or "auto", default="auto"
        Weight λ_M of the distance within classes. "auto" is 0.3, 3 or 30, chosen by
        cross-validation on the labels; 3 without labels.
    coupling : float or "auto", default="auto"
        Weight β of the term that joins codes and embedding; 0 learns the codes from the features alone. "auto" is 0.03.
        All four weights are in units of the data (see Notes) unless the solver has ``units="paper"``.
    class_balance : {"balanced"}, optional
        Give every class, and every pair of classes, the same weight in the terms of the labels and in the reader
        "linear", however many labelled rows it has.
    relabel : float, optional
        Replace labels that are wrong with more than this probability, such as 0.9. Use it for noisy labels. The
        probability comes from models that have not seen the label and from the estimated share of wrong labels, so
        almost none is replaced in clean data. See `relabelled_` and `label_quality_`.
    on_empty : {"error", "drop"}, default="error"
        What to do with rows that have no view at all: raise an error that names them, or give them the label -1.
    unlabelled : object, optional
        A value of `y` that means "no label", besides -1, NaN, None and "": "unknown", say.
    solver : {"active_set", "admm"}, ActiveSet or ADMM, default="active_set"
        Exact codes row by row, or the paper's Algorithm 1. A name means that solver with its defaults. Rounds,
        tolerance, units of the weights, terms to leave out and the memory for codes are parameters of the solver: see
        :class:`ActiveSet` and :class:`ADMM`. A grid search sets them as ``solver__max_iter``. The paper's algorithm is
        ``FSSMSC(solver=ADMM(), ridge=0)``, with ``readers="paper"`` for its rule for labels.
    readers : str or sequence of str, default="auto"
        What turns rows into class probabilities. Readers of the embedding: "nearest", the nearest labelled row by
        angle; "knn", a vote of `n_neighbors`, weighted by distance; "euclidean", the nearest by Euclidean distance.
        They treat training rows as `predict` would. Readers of the products with the landmarks: "linear", a logistic
        regression on the coordinates of a row in the span of the landmarks; "poisson", Poisson learning on the
        neighbour graph of at most 5,000 rows, labelled rows first, from which other rows take their nearest. Several
        readers, such as ``("nearest", "linear")``, are averaged: "nearest" or "knn" with one or both of "linear" and
        "poisson", or these two. "auto" is "nearest" or "knn", alone or with one or both of "linear" and "poisson",
        chosen by cross-validation on the labels; "nearest" without labels. "paper", for reproduction, is the distance
        between codes of the joint problem. Without labels, rows are clustered and `readers` has no effect.
    n_neighbors : int or "auto", default="auto"
        For the vote. "auto" is 5; with ``readers="auto"`` 5 or 15, chosen by cross-validation on the labels.
    random_state : int, RandomState or None, default=None
        Seed of the landmarks, and of k-means without labels. What is chosen on the labels does not depend on it.
    n_jobs : int, optional
        Threads; by default as many as BLAS may use. The result does not depend on it.
    verbose : bool, default=False
        Log each stage and round.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Class (without labels: cluster number) of each row; labelled rows keep theirs.
    confidence_ : ndarray of shape (n_rows,)
        Probability of that class, calibrated on held-out labels; 1 for labelled rows. If some classes have a single
        label, others may have none, so the confidence of rows unlike all labelled rows is lower than their probability.
    classes_ : ndarray
        The labelled classes, sorted.
    held_out_ : HeldOutLabels or None
        Labels that were hidden in turn (about 200 if there are more) to calibrate the confidence: ``rows``,
        ``class_ids`` (positions in `classes_`) and the ``probabilities`` predicted without the label. None if no label
        can be hidden.
    label_quality_ : ndarray of shape (n_rows,)
        Probability of each given label according to models that have not seen it. Review the lowest first:
        ``np.argsort(model.label_quality_)`` lists labels from worst to best, then rows with NaN, which have no label or
        the only label of their class.
    embedding_ : ndarray of shape (n_rows, n_components), or a dask array
        What `transform` returns for the training rows (with ``readers="paper"``, for unlabelled ones). There are as
        many components as clusters, or more if the landmark graph has more parts than that, which `status_` reports.
    codes_ : csr_array of shape (n_rows, n_landmarks)
        Codes of the rows. Beyond the solver's `memory_limit` they are in files, which are removed with the model; with
        dask arrays they are on the workers. Indexing (``codes_[:1000]``) reads rows as a csr_array.
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
    relabelled_ : ndarray of int
        Labelled rows whose label was changed (see `relabel`).
    constraint_conflicts_ : list
        Pairs of rows whose constraints contradict each other or the labels.
    constraint_violations_ : ConstraintViolations or None
        Number of constraints that `labels_` violates, and of all constraints.
    chosen_ : dict
        The values chosen for "auto": ``scaling`` and ``view_weights`` (per view; None if all count the same), ``l1``,
        ``ridge``, ``must_link_weight`` and ``coupling`` in the units of the solver, ``readers`` and ``n_neighbors``.
        Passed as parameters, together with `landmarks_`, they reproduce the fit.
    paper_weights_ : dict
        The four weights as they stand in the paper's objective: for ``solver=ActiveSet(units="paper")``.
    nonzeros_ : float
        Mean number of non-zeros of a code.
    status_ : str
        A summary of the fit in words.
    label_source_ : ndarray of str of shape (n_rows,)
        Where each label comes from (see `fit`); "" for rows without one.
    expected_accuracy_ : ExpectedAccuracy or None
        Estimated accuracy on unlabelled rows: ``value``, ``low``, ``high``, and what it ``rests_on``.
    novelty_ : ndarray of shape (n_rows,), or None
        How likely a row belongs to a class without labels, as a score from 0 to 1. `labels_` do not depend on it.
    novel_groups_ : list of NovelGroup
        Groups of rows with high novelty.
    changed_ : float
        The share of unlabelled rows whose class changed in the last update.
    stage_seconds_ : dict
        Seconds spent on choice (of "auto" parameters), scaling, landmarks, solver and labels.
    n_features_in_ : int
        Features of all views together.
    view_names_, view_sizes_ : list
        Names and numbers of features of the views.

    Notes
    -----
    In units of the data the paper's weights are λ_Z = l1 · ē, μ = ridge · s², λ_M = must_link_weight · m / ζ and
    β = coupling · ζ / (m · max(1, must_link_weight)), where ē is the mean over rows of their largest product with a
    landmark, s² the mean squared distance of the m landmarks from their mean, and ζ the mean squared length of codes,
    measured on 500 rows. Codes then usually have 15 to 100 non-zeros. If they have more than 120, "auto" values of
    `ridge` and `l1` are changed, and `status_` reports it.

    With n rows, n_l of them labelled, all stages but the last take time proportional to n. The last stage compares each
    row with the labelled rows, at most n × n_l distances, in `fit` and `predict`. From 1,000 labels and 16,384 rows on,
    labelled rows that are too far away to be nearest are skipped. If the share of labels is fixed, this stage is
    quadratic in n up to 20,000 labels. Beyond that, about 20,000 labelled rows are used, the same share of each class,
    and `status_` reports it. Codes, embedding and other readers learn from all labels.

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
        n_clusters: int | str | None = None,
        n_landmarks: int = 500,
        *,
        views: ColumnGroups | None = None,
        scaling: ScalingChoice = "auto",
        view_weights: ViewWeightsChoice = "auto",
        landmarks: str | npt.ArrayLike = "kmeans",
        l1: float | str = "auto",
        ridge: float | str = "auto",
        must_link_weight: float | str = "auto",
        coupling: float | str = "auto",
        class_balance: str | None = None,
        relabel: float | None = None,
        on_empty: str = "error",
        unlabelled: Any = None,
        solver: str | SolverParameters = "active_set",
        readers: str | Sequence[str] = "auto",
        n_neighbors: int | str = "auto",
        random_state: int | np.random.RandomState | None = None,
        n_jobs: int | None = None,
        verbose: bool = False,
    ) -> None:
        self.n_clusters = n_clusters
        self.n_landmarks = n_landmarks
        self.views = views
        self.scaling = scaling
        self.view_weights = view_weights
        self.landmarks = landmarks
        self.l1 = l1
        self.ridge = ridge
        self.must_link_weight = must_link_weight
        self.coupling = coupling
        self.class_balance = class_balance
        self.relabel = relabel
        self.on_empty = on_empty
        self.unlabelled = unlabelled
        self.solver = solver
        self.readers = readers
        self.n_neighbors = n_neighbors
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    _needs_labels = False

    def set_params(self, **params: Any) -> Self:
        """Set parameters; ``solver__max_iter`` and the like also of a solver that is given by name."""
        solver = params.get("solver", self.solver)
        if isinstance(solver, str) and any(name.startswith("solver__") for name in params):
            params = params | {"solver": resolve_solver(solver)}
        model: Self = super().set_params(**params)
        return model

    @with_callbacks  # type: ignore[untyped-decorator,unused-ignore]
    def fit(
        self,
        X: Any,
        y: Any = None,
        *,
        sample_weight: Any = None,
        constraints: Constraints | None = None,
        label_source: Any = None,
    ) -> Self:
        """Learn landmarks, codes and embedding, and label every row.

        Parameters
        ----------
        X : Views, list or dict of arrays, AnnData, MuData, or array-like of shape (n_rows, n_features)
            The views, dense or sparse. A 2-D array or DataFrame is split by the parameter `views`. Views may be
            missing in some rows: see :class:`Views`.
        y : array-like of shape (n_rows,), optional
            Labels; -1 (None or "" among strings) where there is none; or the name of a column of ``obs``, if X is an
            AnnData or MuData object. Without `y`, rows are clustered.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of the rows. Weights of 0 and 1 equal a fit without the rows of weight 0, up to rounding. A weight
            of 2 counts the row twice: exactly if landmarks and settings are given and ``readers="nearest"``, else on
            average over seeds, because rows are sampled by their weights.
        constraints : Constraints, optional
            Pairs of rows that must, or must not, share a cluster; alone or together with labels.
        label_source : mapping, Series or array-like of str, optional
            Where each label comes from, by row number (by id, if the views have ids) or for every row: "random" if the
            row was chosen at random, else "suggested", "lasso", "search", "review" or "import"; "skipped" for a row
            that could not be labelled. The accuracy is estimated from random rows and rows of `audit_rows`.

        Returns
        -------
        self

        Examples
        --------
        >>> from anchorview import FSSMSC, datasets
        >>> made = datasets.make_multiview_subspaces(90, 3, (8, 6), random_state=0)
        >>> y = datasets.hide_labels(made.target, 0.2, random_state=0)
        >>> model = FSSMSC(n_landmarks=30, random_state=0).fit(made.views, y)
        >>> model.labels_.shape, model.confidence_.shape
        ((90,), (90,))
        """
        before = dict(self.__dict__)
        try:
            return self._fit(X, y, sample_weight, constraints, label_source)
        except BaseException as error:
            self._restore(before)
            if isinstance(error, MemoryError) and REMEDY not in str(error):
                raise MemoryError(f"{str(error) or 'Memory ran out'}; the fit was given up. {REMEDY}") from error
            raise as_interrupt(error)  # noqa: B904  (an error that is no interrupt is raised as it was)

    def _fit(self, X: Any, y: Any, sample_weight: Any, constraints: Constraints | None, label_source: Any) -> Self:
        check_parameters(self, RULES_OF_FIT)
        rng = make_random_state(self.random_state)
        given = self._read_input(X, y, sample_weight, constraints)
        workers = WorkerWatch() if given.views.is_on_cluster else None
        sources = number_sources(read_label_sources(label_source, given.known.class_ids >= 0, given.views.ids))
        run = FitRun(rng, count_threads(self.n_jobs), self, self.verbose)
        self._publish(fit_model(FitParameters.of(self), given, run), workers, stacklevel=5)
        self._forget_places()
        self._finish_labels(sources)
        return self

    def _publish(self, fitted: Fitted, workers: WorkerWatch | None, stacklevel: int) -> Self:
        """Set the attributes of a fit, and warn those so many calls above of what went wrong."""
        prepared, given, result, settled = fitted.prepared, fitted.given, fitted.result, fitted.prepared.settled
        plan, on_cluster = prepared.plan, given.views.is_on_cluster
        report = fitted.report if workers is None else fitted.report.with_lost(workers.describe())
        report.warn(type(self).__name__, stacklevel + 1)
        self.status_, self._prepared, self._report, review = report.describe(), prepared, report, fitted.review
        self.codes_, self.relabelled_ = result.codes, review.relabelled
        self._publish_model(fitted.model)
        self._keep_verdicts(review.known, review.known.labelled, review.verdicts, len(given.views))
        self._publish_rows(given, fitted.top, fitted.held_out)
        self.embedding_ = fitted.embedded
        if on_cluster:
            self.embedding_ = fitted.embedded.to_dask() if plan.embedding_on_cluster else fitted.embedded[:]
        choice = prepared.choice
        self.chosen_ = {"scaling": plan.scaling, **asdict(settled.asked), "readers": choice.readers}
        self.chosen_["n_neighbors"] = choice.n_votes
        self.chosen_["view_weights"] = None if plan.view_weights is None else list(plan.view_weights)
        self.paper_weights_ = asdict(settled.weights)
        self.nonzeros_ = float(self.codes_.nnz / max(self.codes_.shape[0], 1))
        self.n_iter_ = result.n_iter
        self.objective_history_ = result.objective_history
        self.residual_history_ = result.residual_history
        fitted.progress.log(self.status_)
        fitted.progress.finish()
        self.stage_seconds_ = fitted.progress.seconds
        return self

    def _estimate_sizes(self, sizes: FitSizes) -> MemoryEstimate:
        return estimate_from_sizes(FitParameters.of(self), sizes)

    def _estimate_from(self, X: Any, y: Any, n_threads: int, count: bool) -> MemoryEstimate:
        rng = make_random_state(0 if self.random_state is None else self.random_state)
        return estimate_from_data(FitParameters.of(self), self._read_input(X, y, None), rng, n_threads, count)
