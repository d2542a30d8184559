"""`FSSMSC`, the single model of the paper: its parameters, and what a fit publishes. No mathematics."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import asdict
from typing import Any, Self

import numpy as np
import numpy.typing as npt

from .core.checks import check_parameters, make_random_state
from .core.progress import as_interrupt, with_callbacks
from .cost.sizes import REMEDY, FitSizes, MemoryEstimate
from .data.reading import ColumnGroups
from .engine.blocks import count_threads
from .engine.sources.dask_tasks import WorkerWatch
from .features.auto import FOR_SPARSE, ScalingChoice
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

    Every row is described by a sparse non-negative code over a few hundred landmarks, shared by all views; the
    landmarks get an embedding in which rows of one class lie together, learned from the codes and a few labels. A
    row takes the class of its nearest labelled row, or that of the mean of several readers; cross-validation on the
    labels decides.
    Memory grows linearly with the number of rows, and time does for a given number of labels; the last stage, which
    reads the labels, compares every row with the labelled ones that could be nearest (see Notes).

    Parameters
    ----------
    n_clusters : int or "auto", optional
        Number of clusters and dimension of the embedding; by default the number of labelled classes. Needed without
        labels; "auto" is then the last of the largest gaps in the spectrum of the graph of rows and landmarks, and
        ``status_`` says whether that number is clear.
    n_landmarks : int, default=500
        Number of landmarks; lowered to a third of the number of rows if there are fewer than three per landmark, and
        to the number of rows that are different.
    views : sequence or mapping, optional
        How to cut a 2-D `X` into views, or what to read of AnnData and MuData; see :class:`Views`. Without it a 2-D
        `X` is one view.
    scaling : str, sequence or mapping, default="auto"
        Scaling of the features, for all views or per view: "minmax", "symmetric" (to [-1, 1]), "standard", "l2",
        "tfidf", "lsa" (tf-idf, then the leading 150 singular directions) or "none"; all but "none" end with rows of
        unit length. "auto" is chosen by cross-validation on the labels, on a sample of the rows; with few labels the
        choice leans towards what suits the kind of feature, which decides without labels: "lsa" for sparse views and
        for dense ones that are non-negative with more than 95 % zeros (text that was filled in), "l2" for signed
        features whose rows have all the same length (embeddings), else "minmax", unless rows would be nearly parallel
        (mean cosine above 0.95): then "symmetric" for signed features and "standard" for others. Sparse views take
        "minmax" (by the largest value), "l2", "tfidf", "lsa" or "none", and are never filled in.
    view_weights : "auto", sequence, mapping or None, default="auto"
        How much each view counts: a positive number for each, of which only the ratios matter, by the order or the
        names of the views (1 for those that a mapping does not name). "auto" is a power, 0, 1 or 2, of how much better
        than chance a logistic regression on the view alone finds hidden labels; the power is chosen by
        cross-validation on the labels, and is 0 unless another does clearly better. Copies of a view count together as
        much as one view. None is the same weight for all; so is "auto", but for copies, without labels. Not chosen
        with given landmarks, the scaling "none", or the paper's units.
    landmarks : {"kmeans", "random"} or ndarray of shape (m, n_features), default="kmeans"
        Centres of k-means, a random sample of rows, or given landmarks in the scaled feature space.
    l1 : float or "auto", default="auto"
        Weight of ‖Z‖₁ (λ_Z of the paper): larger gives sparser codes. "auto" is 0.1: landmarks that correlate with a
        row by less than a tenth of what its best one does are left out of its code.
    ridge : float or "auto", default="auto"
        Weight μ of ‖Z‖²/2; 0 is the paper's model. "auto" is 1, 3 or 10, chosen by
        cross-validation on the labels; 3 without labels.
    must_link_weight : float or "auto", default="auto"
        Weight λ_M of the distance within classes. "auto" is 0.3, 3 or 30, chosen by
        cross-validation on the labels; 3 without labels.
    coupling : float or "auto", default="auto"
        Weight β of the term that joins codes and embedding; 0 learns the codes from the features alone. "auto" is 0.03.
        All four are in units of the data (see Notes), or in the paper's: a parameter of the solver says which.
    class_balance : {"balanced"}, optional
        Give every class, and every pair of classes, the same weight in the terms that labels make, and in the linear
        reading, however many labelled rows it has.
    relabel : float, optional
        Change labels that are wrong with more than this probability (0.9, say), whatever `readers` are; for labels
        that may be wrong. Each is judged by models that have not seen it, and by how many of all labels seem to be
        wrong: where these seem right, next to none is changed. See `relabelled_` and `label_quality_`.
    on_empty : {"error", "drop"}, default="error"
        What to do with rows that have no view at all: raise an error that names them, or give them the label -1.
    unlabelled : object, optional
        A value of `y` that means "no label", besides -1, NaN, None and "": "unknown", say.
    solver : {"active_set", "admm"}, ActiveSet or ADMM, default="active_set"
        Exact codes row by row, or the paper's Algorithm 1; a name is that solver with its defaults. Rounds, tolerance,
        units of the weights and parts to leave out are parameters of the solver: see :class:`ActiveSet` and
        :class:`ADMM`. A grid search reaches them as ``solver__max_iter``. The paper's algorithm is
        ``FSSMSC(solver=ADMM(), ridge=0)``, with ``readers="paper"`` for its own way to read labels.
    readers : str or sequence of str, default="auto"
        What reads the labels. Of the embedding: "nearest", the nearest labelled row by angle; "knn", a vote of
        `n_neighbors`, weighted by distance; "euclidean", the nearest by plain distance. All read training rows as
        `predict` would, by codes that know no label. Of the products with the landmarks: "linear", a logistic
        regression on the rows' coordinates in the span of the landmarks (with fewer features than landmarks, on the
        scaled features); "poisson", Poisson learning on the neighbour graph of at most 5,000 rows, the labelled ones
        first, of which any other row takes the nearest. Several, such as ``("nearest", "linear")``, are the mean of
        their probabilities: "nearest" or "knn" with one or both of "linear" and "poisson", or these two. "auto" is
        "nearest" or "knn", alone or with one or both of "linear" and "poisson", chosen by cross-validation on the
        labels; "nearest" without labels. "paper", for reproduction, is the plain distance between the codes of the
        joint problem, in which labels have moved those of the labelled rows. Without labels rows are clustered,
        whatever is asked for.
    n_neighbors : int or "auto", default="auto"
        For the vote. "auto" is 5; with ``readers="auto"`` 5 or 15, chosen by cross-validation on the labels.
    memory_limit : float, optional
        Bytes that a fit may take beyond its input before codes are kept in files, in the folder for temporary files
        (``TMPDIR``); by default half of what is free. The result is the same. Only for the solver "active_set". Of
        dask arrays codes always stay on the workers, and beyond this limit `embedding_` does too.
    random_state : int, RandomState or None, default=None
        Landmarks, and k-means when there are no labels. What is chosen on the labels does not depend on it.
    n_jobs : int, optional
        Threads; by default as many as BLAS may use. The result does not depend on it.
    verbose : bool, default=False
        Log each stage and round.

    Attributes
    ----------
    labels_ : ndarray of shape (n_rows,)
        Class (without labels: cluster number) of each row; labelled rows keep theirs.
    confidence_ : ndarray of shape (n_rows,)
        Probability of that class, calibrated on labels that were held out; 1 for labelled rows. Where some classes have
        a single label, others may have none: the confidence of rows that are unlike all labelled ones is then lower
        than their probability (docs/lab/confidence.md).
    classes_ : ndarray
        The labelled classes, sorted.
    held_out_ : HeldOutLabels or None
        Labels that were hidden in turn (some 200 of them, if there are more) to calibrate the confidence: ``rows``,
        ``class_ids`` (places in `classes_`) and the ``probabilities`` they got without their label. None if none can be
        hidden.
    label_quality_ : ndarray of shape (n_rows,)
        Probability of each label given, by models that have not seen it (whatever reads the labels): the lower, the
        more it is worth a look. ``np.argsort(model.label_quality_)`` lists labels from the worst to the best, then the
        rows with NaN: those without a label, and labels that are the only one of their class, which cannot be judged.
    embedding_ : ndarray of shape (n_rows, n_components), or a dask array
        What `transform` gives for the training rows (with ``readers="paper"``: but for the labelled ones). There are
        as many components as clusters; more where the graph of the landmarks falls into more parts than that, which
        `status_` then says.
    codes_ : csr_array of shape (n_rows, n_landmarks)
        Codes of the rows. Beyond `memory_limit` rows in files, which are removed with the model, and of dask arrays
        rows on the workers; indexing (``codes_[:1000]``) reads some as a csr_array.
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
        How many of the constraints `labels_` breaks, of how many.
    chosen_ : dict
        What "auto" has become: ``scaling`` and ``view_weights`` (of each view; None if all count the same), ``l1``,
        ``ridge``, ``must_link_weight`` and ``coupling`` in the units of the solver, ``readers`` and ``n_neighbors``. As
        parameters, with `landmarks_`, they give the same fit again.
    paper_weights_ : dict
        The four weights as they stand in the paper's objective: for ``solver=ActiveSet(units="paper")``.
    nonzeros_ : float
        Mean number of non-zeros of a code.
    status_ : str
        A summary of the fit in words.
    label_source_ : ndarray of str of shape (n_rows,)
        Where each label comes from (see `fit`); "" for rows without one.
    expected_accuracy_ : ExpectedAccuracy or None
        Accuracy to expect of rows without a label: ``value``, ``low``, ``high``, and what it ``rests_on``.
    novelty_ : ndarray of shape (n_rows,), or None
        How much a row looks as if its class had no label, from 0 to 1; `labels_` do not depend on it.
    novel_groups_ : list of NovelGroup
        Groups of such rows.
    changed_ : float
        After an update, the share of rows without a label whose class has changed.
    stage_seconds_ : dict
        Seconds spent on choice (of what is "auto"), scaling, landmarks, solver and labels.
    n_features_in_ : int
        Features of all views together.
    view_names_, view_sizes_ : list
        Names and numbers of features of the views.

    Notes
    -----
    In units of the data the paper's weights are λ_Z = l1 · ē, μ = ridge · s², λ_M = must_link_weight · m / ζ and
    β = coupling · ζ / (m · max(1, must_link_weight)), where ē is the mean over rows of their largest product with a
    landmark, s² the mean squared distance of the m landmarks from their mean, and ζ the mean squared length of codes,
    measured on 500 rows. Codes then mostly have 15 to 100 non-zeros, whatever the features; should they have more than
    120, `ridge` and `l1` that are "auto" are changed, and `status_` says so.

    With n rows of which n_l are labelled, everything but the labels costs a time proportional to n while codes are
    equally sparse. The labels cost n × n_l distances at most, in `fit` and `predict`. From 1,000 labels and 16,384 rows
    on, labelled rows too far from a group of rows to be nearest to any of it are left out. Where classes lie apart
    hardly more than those of the row's own class are left, one in k of all; where they do not, all are. Either way the
    time is still quadratic in the rows at a given share of labels, up to 20,000 labels (docs/lab/performance.md): of
    more, about so many are compared with, the same share of each class, and `status_` says so. Codes, embedding and the
    other readings learn from all.

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
        memory_limit: float | None = None,
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
        self.memory_limit = memory_limit
        self.random_state = random_state
        self.n_jobs = n_jobs
        self.verbose = verbose

    status_: str

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that labels are optional, and whether sparse input is fine."""
        tags = super().__sklearn_tags__()
        tags.target_tags.required = False
        tags.input_tags.sparse = not isinstance(self.scaling, str) or self.scaling in FOR_SPARSE
        return tags

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
            The views, dense or sparse; a 2-D array or DataFrame is cut by the parameter `views`. Rows may lack views:
            see :class:`Views`.
        y : array-like of shape (n_rows,), optional
            Labels; -1 (None or "" among strings) where there is none; or the name of a column of ``obs``, if X is an
            AnnData or MuData object. Without `y`, rows are clustered.
        sample_weight : array-like of shape (n_rows,), optional
            Weights of the rows. Weights of 0 and 1 give the fit without the rows of weight 0, to rounding. A weight of
            2 is the row twice: to rounding where nothing is drawn at random (landmarks and settings given, the nearest
            row of the embedding read), else in the mean over seeds: rows are drawn by their weights
            (docs/lab/realdata.md).
        constraints : Constraints, optional
            Pairs of rows that must, or must not, share a cluster; alone or together with labels.
        label_source : mapping, Series or array-like of str, optional
            Where each label comes from, by row number (id, if the views have ids) or for every row: "random" if the
            row was drawn at random, else "suggested", "lasso", "search", "review" or "import"; "skipped" for a row
            that nobody could label. Random ones, and rows of `audit_rows`, tell how accurate the labels are.

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
        self._prepared, self._report, self.status_ = prepared, report, report.describe()
        self._publish_model(fitted.model)
        self.codes_ = result.codes
        review = fitted.review
        self.relabelled_ = review.relabelled
        self._keep_verdicts(review.known, review.known.labelled, review.verdicts, len(given.views))
        self._publish_held_out(fitted.held_out)
        self._label_rows(given, fitted.top)
        self.embedding_ = fitted.embedded
        if on_cluster:
            self.embedding_ = fitted.embedded.to_dask() if plan.embedding_on_cluster else fitted.embedded[:]
        choice = prepared.choice
        self.chosen_ = {"scaling": plan.scaling, **asdict(settled.asked), "readers": tuple(choice.inference.split("+"))}
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
