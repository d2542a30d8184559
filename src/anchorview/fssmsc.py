"""The estimator: its parameters and the order of the stages. No mathematics."""

from __future__ import annotations

import sys
import warnings
from collections.abc import Sequence
from copy import deepcopy
from dataclasses import asdict, replace
from functools import partial
from typing import TYPE_CHECKING, Any, Self

import numpy as np
import numpy.typing as npt
from sklearn.exceptions import ConvergenceWarning

from .base import FitInput, MultiViewClassifier
from .core.arrays import Matrix, Presence, Rows, Weights
from .core.checks import (
    COUNT,
    SHARED,
    WEIGHT_OR_AUTO,
    Choice,
    Mark,
    Names,
    Number,
    Rule,
    check_parameters,
    make_random_state,
)
from .core.free_memory import available_memory, give_back
from .core.progress import Outcome, Progress, as_interrupt, with_callbacks
from .cost.estimate import REMEDY, MemoryEstimate, check_memory
from .cost.fit import estimate_memory
from .cost.sizes import FitSizes, fit_sizes, may_move, state_itemsize
from .data.labels import number_by_appearance
from .data.reading import ColumnGroups
from .data.views import Views
from .engine.blocks import count_threads, even_size, iter_blocks, map_blocks, one_blas_thread, row_blocks, rows_of
from .engine.sources.base import holds_sparse
from .engine.sources.dask_rows import DaskRows
from .engine.sources.dask_tasks import WorkerWatch
from .features.auto import FOR_SPARSE, ScalingChoice
from .features.representation import Representation, represent
from .features.scaling import ViewsScaler, fit_scaling
from .features.watched_products import WatchedProducts
from .plan import Plan, make_plan
from .readers.choice import ReadersRule, resolve_readers
from .readers.clusters import ClusterCentres, fit_clusters
from .readers.held_out import (
    calibrate,
    held_out_labels,
    held_out_logits,
    held_out_shares,
    rows_to_judge,
    set_confidence,
)
from .readers.held_out_labels import HeldOutLabels
from .readers.nearest import READ_ROWS, LabelledNeighbours, keep_labelled, likeliest
from .readers.top_two import TopTwo
from .solver.codes import Codes, embed_codes, map_codes
from .solver.completion import complete_products
from .solver.coverage import cover_result
from .solver.disk_codes import DiskCodeStack
from .solver.elastic_net import ElasticNetEncoder
from .solver.grams import PatternGrams
from .solver.problem import CrossProducts, Problem
from .solver.result import SolverResult
from .solver.trace_ratio import left_out
from .solver.weights import DEFAULTS, ModelWeights
from .solvers import SolverParameters, SolverRule, resolve_solver
from .supervision.conflicts import count_violations
from .supervision.constraints import Constraints
from .supervision.known import Supervision
from .tuning.options import SearchOptions
from .tuning.readings import Readings, sum_votes
from .tuning.sampling import some_of_each
from .tuning.settings import SPARSE_SCALINGS, one_name, split_inference
from .tuning.units import DENSE, SettledWeights, settle_weights

if TYPE_CHECKING:
    from .tuning.auto import Choice as Choices
    from .tuning.label_quality import LabelJudge
    from .tuning.reading_fits import ProductReadings

__all__ = ["FSSMSC"]

_RULES: dict[str, Rule] = {
    **SHARED,
    "n_clusters": Number(1, integer=True, optional=True),
    "n_landmarks": COUNT,
    "scaling": Names(),
    "landmarks": Choice(("kmeans", "random"), or_array=True),
    "l1": WEIGHT_OR_AUTO,
    "ridge": WEIGHT_OR_AUTO,
    "must_link_weight": WEIGHT_OR_AUTO,
    "coupling": WEIGHT_OR_AUTO,
    "class_balance": Choice((None, "balanced")),
    "relabel": Number(0.5, 1, optional=True),
    "on_empty": Choice(("error", "drop")),
    "unlabelled": Mark(),
    "solver": SolverRule(),
    "readers": ReadersRule(),
    "n_neighbors": Number(1, integer=True, or_text=("auto",)),
    "memory_limit": Number(0, optional=True),
}
_VOTE_BYTES = 512  # of a row, as its code takes: what readings of E say of more classes is computed again
# Labelled rows that other rows are compared with, at most. Where classes overlap no labelled row can be left out, and
# time is rows times labels. In the k dimensions of an embedding neighbours come nearer by the k-th root of their number
# only: of six times as many, in ten dimensions, by a sixth.
MAX_READ = 20_000
_COMPILED = "anchorview.solver.kernels"  # loaded, and on the first run of a machine compiled, by the first fit


class FSSMSC(MultiViewClassifier):
    """Fast scalable semi-supervised multi-view subspace clustering.

    Every row is described by a sparse non-negative code over a few hundred landmarks, shared by all views; the
    landmarks get an embedding in which rows of one class lie together, learned from the codes and a few labels. A
    row takes the class of its nearest labelled row, or that of the mean of several readings, as hidden labels say.
    Memory grows linearly with the number of rows, and time does for a given number of labels; the last stage, which
    reads the labels, compares every row with the labelled ones that could be nearest (see Notes).

    Parameters
    ----------
    n_clusters : int, optional
        Number of clusters and dimension of the embedding; by default the number of labelled classes. Needed without
        labels.
    n_landmarks : int, default=500
        Number of landmarks; lowered to a third of the number of rows if there are fewer than three per landmark, and
        to the number of rows that are different.
    views : sequence or mapping, optional
        How to cut a 2-D `X` into views, or what to read of AnnData and MuData; see :class:`Views`. Without it a 2-D
        `X` is one view.
    scaling : str, sequence or mapping, default="auto"
        Scaling of the features, for all views or per view: "minmax", "symmetric" (to [-1, 1]), "standard", "l2",
        "tfidf", "lsa" (tf-idf, then the leading 150 singular directions) or "none"; all but "none" end with rows of
        unit length. "auto" is the one that finds most hidden labels on a sample of the rows; with few labels what suits
        the features by their nature has the advantage, and decides without any: "lsa" for sparse views and for dense
        ones that are non-negative with more than 95 % zeros (text that was filled in), "l2" for signed features whose
        rows have all the same length (embeddings), else "minmax", unless rows would be nearly parallel (mean cosine
        above 0.95): then "symmetric" for signed features and "standard" for others. Sparse views take "minmax" (by the
        largest value), "l2", "tfidf", "lsa" or "none", and are never filled in.
    landmarks : {"kmeans", "random"} or ndarray of shape (m, n_features), default="kmeans"
        Centres of k-means, a random sample of rows, or given landmarks in the scaled feature space.
    l1 : float or "auto", default="auto"
        Weight of ‖Z‖₁ (λ_Z of the paper): larger gives sparser codes. "auto" is 0.1: landmarks that correlate with a
        row by less than a tenth of what its best one does are left out of its code.
    ridge : float or "auto", default="auto"
        Weight μ of ‖Z‖²/2; 0 is the paper's model. "auto" is 1, 3 or 10, as hidden labels say; 3 without.
    must_link_weight : float or "auto", default="auto"
        Weight λ_M of the distance within classes. "auto" is 0.3, 3 or 30, as hidden labels say; 3 without.
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
        "nearest" or "knn", alone or with one or both of "linear" and "poisson", as hidden labels say; "nearest"
        without. "paper", for reproduction, is the plain distance between the codes of the joint problem, in which
        labels have moved those of the labelled rows. Without labels rows are clustered, whatever is asked for.
    n_neighbors : int or "auto", default="auto"
        For the vote. "auto" is 5; with ``readers="auto"`` 5 or 15, as hidden labels say.
    memory_limit : float, optional
        Bytes that a fit may take beyond its input before codes are kept in files, in the folder for temporary files
        (``TMPDIR``); by default half of what is free. The result is the same. Only for the solver "active_set". Of
        dask arrays codes always stay on the workers, and beyond this limit `embedding_` does too.
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
        Probability of that class, calibrated on labels that were held out; 1 for labelled rows.
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
        What "auto" has become: ``scaling`` (of each view), ``l1``, ``ridge``, ``must_link_weight`` and ``coupling`` in
        the units of the solver, ``readers`` and ``n_neighbors``. As parameters they give the same fit again.
    paper_weights_ : dict
        The four weights as they stand in the paper's objective: for ``solver=ActiveSet(units="paper")``.
    nonzeros_ : float
        Mean number of non-zeros of a code.
    status_ : str
        A summary of the fit in words.
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
    time is still quadratic in the rows at a given share of labels (docs/performance.md), up to 20,000 labels: of more,
    about so many are compared with, the same share of each class, and `status_` says so. Codes, embedding and the other
    readings learn from all.

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
        scaling: ScalingChoice = "auto",
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
    _rule: LabelledNeighbours | ClusterCentres | Readings

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
    def fit(self, X: Any, y: Any = None, *, sample_weight: Any = None, constraints: Constraints | None = None) -> Self:
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
            row of the embedding read), else in the mean over seeds: rows are drawn by their weights (docs/realdata.md).
        constraints : Constraints, optional
            Pairs of rows that must, or must not, share a cluster; alone or together with labels.

        Returns
        -------
        self
        """
        before = dict(self.__dict__)
        try:
            return self._fit(X, y, sample_weight, constraints)
        except BaseException as error:
            self._restore(before)
            if isinstance(error, MemoryError) and REMEDY not in str(error):
                raise MemoryError(f"{str(error) or 'Memory ran out'}; the fit was given up. {REMEDY}") from error
            raise as_interrupt(error)  # noqa: B904  (an error that is no interrupt is raised as it was)

    def _fit(self, X: Any, y: Any, sample_weight: Any, constraints: Constraints | None) -> Self:
        check_parameters(self, _RULES)
        rng = make_random_state(self.random_state)
        workers = WorkerWatch()
        given = self._read_input(X, y, sample_weight, constraints)
        plan = make_plan(self, given)
        how, n_threads = plan.how, count_threads(self.n_jobs)
        sizes = fit_sizes(self, given, plan, n_threads, self._count_tried(given, plan))
        available = available_memory(n_threads)
        least = replace(sizes, nonzeros=1, n_components=0) if given.views.is_on_cluster else replace(sizes, nonzeros=1)
        check_memory(estimate_memory(least), available)  # whatever the codes will be
        progress = Progress(self, self.verbose, how.max_iter, how.tol)
        self.relabelled_ = np.empty(0, dtype=np.intp)
        if self.relabel is not None:
            with progress.watch():
                given = self._correct(self.relabel, given, deepcopy(rng), n_threads, progress)
        n_labelled = int(np.count_nonzero(given.known.class_ids >= 0))
        progress.stage("choice", "%r, %d labelled in %d classes", given.views, n_labelled, len(given.known.classes))
        if _COMPILED not in sys.modules:
            progress.log("loading the compiled kernels (the first run on a machine compiles them: 5-15 s)")
        with progress.watch():
            asked, choice = self._choose(given, plan, rng, n_threads)
        give_back()  # or what follows comes on top of the sample, and of all that was tried with it
        sizes = fit_sizes(self, given, plan, n_threads)
        progress.stage("scaling", "scaling: " + ", ".join(plan.scaling))
        rows: dict[str, Any] = {"present": given.present, "weights": given.weights}
        with progress.watch():
            scaler = fit_scaling(given.views, plan.scaling, n_threads, rng=rng, **rows)
        progress.stage("landmarks", f"choosing {plan.n_landmarks} landmarks")
        source = self._represent(given, scaler, plan, rng, n_threads)
        if len(source.landmarks) < plan.n_landmarks:
            plan.outcomes.append(Outcome.FEW_DIFFERENT_ROWS)
        settled, needed = self._look(source, asked, choice, given, plan, sizes, available)
        check_memory(needed, available)
        progress.stage("solver", "solving, with codes in files" if plan.codes_in_files else "solving")
        progress.begin_round()
        given.views.check_unchanged()
        with one_blas_thread(), progress.watch():
            known = given.known
            beside = self._fit_beside(known, given, choice, source, settled.weights, rng, n_threads)
            cross = source.cross if beside is None else self._watch(source, beside, given.present)
            problem, result = self._solve(known, given, plan, source.grams, cross, settled.weights, n_threads, progress)
        given.views.check_unchanged()
        progress.stage("labels", "reading labels from the embedding")
        n_speaking = len(_speaking_rows(known, given.weights))
        if n_speaking > MAX_READ and split_inference(choice.inference)[0] is not None:
            plan.notes.append(f"Rows are compared with about {MAX_READ:,} of {n_speaking:,} labelled ones.")
        self._describe(plan, result)
        self._scaler, self._encoder = source.scaler, result.encoder
        self.landmarks_, self.landmark_embedding_ = source.landmarks, result.embedding
        blocks = source.cross.blocks  # SciPy would hold a copy of all codes in double precision
        read_from = result.codes if choice.inference == "paper" else result.encoded
        self.codes_ = result.codes
        embedded = self._embed_all(read_from, blocks, n_threads)
        self._publish_classes(known.classes if len(known.classes) else np.arange(plan.n_components))
        self._n_features_out = len(result.embedding)
        with one_blas_thread(), progress.watch():
            self._rule, held_out = self._fit_rule(embedded, known, problem, result, choice, beside, rng)
            found = self._read_fit(embedded, cross, read_from, n_threads)
            if self.relabel is None:
                self._judge_labels(given, source, n_threads)  # only now, where E of the rows is known from the solver
        if held_out is not None and given.sample_weight is not None:
            held_out = replace(held_out, weights=given.sample_weight[held_out.rows])
        self._publish_held_out(held_out)
        self._set_labels(given, found)
        self.embedding_ = embedded
        if given.views.is_on_cluster:
            self.embedding_ = embedded.to_dask() if plan.embedding_on_cluster else embedded[:]
        self.constraint_conflicts_ = known.conflicts
        self.constraint_violations_ = None if known.pairs is None else count_violations(self.labels_, known.pairs)
        self.chosen_ = {"scaling": plan.scaling, **asdict(settled.asked), "readers": tuple(choice.inference.split("+"))}
        self.chosen_["n_neighbors"] = choice.n_votes
        self.paper_weights_ = asdict(settled.weights)
        self.nonzeros_ = float(self.codes_.nnz / max(self.codes_.shape[0], 1))
        self.n_iter_ = result.n_iter
        self.objective_history_ = result.objective_history
        self.residual_history_ = result.residual_history
        if given.views.is_on_cluster and (lost := workers.describe()):
            self.status_ = " ".join([self.status_, lost])
            warnings.warn(f"{type(self).__name__}: {lost}", UserWarning, stacklevel=4)
        progress.log(self.status_)
        progress.finish()
        self.stage_seconds_ = progress.seconds
        return self

    def _needs(self, sizes: FitSizes, available: int | None, plan: Plan) -> MemoryEstimate:
        """Return what a fit needs, and plan to keep codes in files if they would take it beyond `memory_limit`.

        Codes on a cluster stay there, and the embedding does if it would take the fit beyond that limit.
        """
        needed = estimate_memory(sizes)
        limit = self.memory_limit if self.memory_limit is not None or available is None else available // 2
        if limit is None or needed.total <= limit or not plan.solver.stores_codes:
            return needed
        if sizes.on_cluster:
            plan.embedding_on_cluster = True
            plan.notes.append("The embedding stays on the cluster, as a dask array.")
            return estimate_memory(replace(sizes, n_components=0))
        plan.codes_in_files = True
        plan.notes.append(f"Codes are kept in files, as the fit would need {needed.describe_total()} with them.")
        return estimate_memory(replace(sizes, codes_in_files=True))

    def _embed_all(self, codes: Codes, blocks: Sequence[slice], n_threads: int) -> Any:
        """Embed the rows of the fit, block by block; those on a cluster when they are asked for."""
        shape, dtype = (codes.shape[0], len(self.landmark_embedding_)), self._scaler.dtype
        work = partial(embed_codes, embedding=self.landmark_embedding_, dtype=dtype)
        if isinstance(codes, DaskRows):
            return codes.derive(work, shape[1], dtype)
        embedding = np.empty(shape, dtype=dtype)
        for block, part in zip(blocks, map_codes(work, codes, blocks, n_threads), strict=True):
            embedding[block] = part
        return embedding

    def _estimate_sizes(self, sizes: FitSizes) -> MemoryEstimate:
        by_name = isinstance(self.landmarks, str)
        is_auto = self.scaling == "auto" if isinstance(self.scaling, str) else True
        how = resolve_solver(self.solver)
        sizes = replace(
            sizes,
            n_landmarks=min(self.n_landmarks, sizes.n_rows) if by_name else len(np.asarray(self.landmarks)),
            n_tried=self._tried(how, is_auto, False) if sizes.n_labelled else 0,
            solver=how.name,
            state_itemsize=state_itemsize(how),
            moves=may_move(how, self.coupling),
        )
        return estimate_memory(sizes)

    def _estimate_from(self, X: Any, y: Any, n_threads: int, count: bool) -> MemoryEstimate:
        """Go as far as a fit goes before its codes, by the same draws: whether weights change can hang on a row."""
        given = self._read_input(X, y, None)
        plan, rng = make_plan(self, given), make_random_state(0 if self.random_state is None else self.random_state)
        n_tried = self._count_tried(given, plan)
        if not count:
            return estimate_memory(fit_sizes(self, given, plan, n_threads, n_tried))
        asked, choice = self._choose(given, plan, rng, n_threads)
        rows: dict[str, Any] = {"present": given.present, "weights": given.weights}
        scaler = fit_scaling(given.views, plan.scaling, n_threads, rng=rng, **rows)
        source = self._represent(given, scaler, plan, rng, n_threads)
        sizes = fit_sizes(self, given, plan, n_threads, n_tried)
        return self._look(source, asked, choice, given, plan, sizes, available_memory(n_threads))[1]

    def _represent(
        self, given: FitInput, scaler: ViewsScaler, plan: Plan, rng: np.random.RandomState, n_threads: int
    ) -> Representation:
        """Choose the landmarks."""
        how = self.landmarks if isinstance(self.landmarks, str) else np.asarray(self.landmarks)
        rows: dict[str, Any] = {"present": given.present, "weights": given.weights, "least": plan.n_components}
        return represent(given.views, scaler, how, plan.n_landmarks, rng, n_threads, **rows)

    def _look(
        self,
        source: Representation,
        asked: ModelWeights,
        choice: Choices,
        given: FitInput,
        plan: Plan,
        sizes: FitSizes,
        available: int | None,
    ) -> tuple[SettledWeights, MemoryEstimate]:
        """Settle the weights on some rows, and return what the fit needs with codes as sparse as theirs."""
        settled, cross = self._settle(source, asked, given, plan), source.cross
        inference, n_classes = choice.inference, len(given.known.classes)
        sizes = replace(
            sizes,
            itemsize=cross.dtype.itemsize,
            feature_itemsize=sizes.itemsize,
            state_itemsize=state_itemsize(plan.how, cross.is_double),
            nonzeros=settled.nonzeros,
            vote_bytes=_vote_bytes(inference, n_classes),
            reads_products=bool(split_inference(inference)[1]),
        )
        return settled, self._needs(sizes, available, plan)

    def _count_tried(self, given: FitInput, plan: Plan) -> int:
        """Return how many scalings the choice tries; 0 if there is nothing to choose, or no labels to choose by."""
        if len(given.known.classes) < 2:
            return 0
        return self._tried(plan.how, "auto" in plan.asked_scaling, all(map(holds_sparse, given.views.arrays)))

    def _tried(self, how: SolverParameters, is_auto: bool, is_sparse: bool) -> int:
        has_weights = how.units == "data" and "auto" in (self.ridge, self.must_link_weight)
        if not (is_auto or has_weights or resolve_readers(self.readers) is None):
            return 0
        if not is_auto:
            return 1
        return len(SPARSE_SCALINGS) if is_sparse else len(SearchOptions().dense_scalings)

    def _choose(
        self, given: FitInput, plan: Plan, rng: np.random.RandomState, n_threads: int
    ) -> tuple[ModelWeights, Choices]:
        """Settle what is "auto": the scaling in the plan, the weights, and what reads the labels."""
        from .tuning.auto import Asked, LabelledRows, choose, describe  # loads numba: not before a fit needs it

        how = plan.how
        usual, is_auto = DEFAULTS[how.units], how.units == "data"
        l1, ridge, must, coupling = (
            getattr(usual, name) if value == "auto" else float(value)
            for name, value in ((name, getattr(self, name)) for name in asdict(usual))
        )
        asked = Asked(
            plan.asked_scaling,
            0.0 if "l1" in how.omit else l1,
            None if is_auto and self.ridge == "auto" else ridge,
            None if is_auto and self.must_link_weight == "auto" else must,
            plan.inference,
            None if isinstance(self.n_neighbors, str) else int(self.n_neighbors),
            how.units,
            not given.views.is_on_cluster,
        )
        rows = LabelledRows(
            given.views, given.present, given.weights, given.sample_weight, given.known.class_ids, given.known.pairs
        )
        seed = 0 if asked.is_settled else int(rng.randint(2**31 - 1))
        choice = choose(asked, one_name(plan.scaling), rows, seed, n_threads)
        kinds = choice.scaling
        plan.scaling = [kinds] * len(plan.scaling) if isinstance(kinds, str) else list(kinds)
        plan.notes += filter(None, [describe(choice, asked, given.views.names)])
        return ModelWeights(l1, choice.ridge, choice.must_link_weight, coupling), choice

    def _settle(self, source: Representation, asked: ModelWeights, given: FitInput, plan: Plan) -> SettledWeights:
        """Turn weights into the paper's, and keep codes sparse, or say what dense ones cost."""
        how = plan.how
        is_free = how.units == "data" and self.l1 == "auto" and self.ridge == "auto" and "l1" not in how.omit
        counted = replace(asked, l1=0.0) if "l1" in how.omit else asked
        settled = settle_weights(source, counted, how.units, given.weights, is_free=is_free)
        if settled.was_dense and is_free:
            plan.outcomes.append(Outcome.DENSE_CODES_MENDED)
        elif settled.was_dense:
            warnings.warn(
                f"Codes have about {settled.nonzeros:.0f} non-zeros, and a row costs by their cube: about "
                f"{(settled.nonzeros / 50) ** 3:.0f} times as long as with the usual 50. A smaller ridge, a larger l1, "
                f'or "auto" for both, keeps them below {DENSE}.',
                UserWarning,
                stacklevel=6,
            )
        return settled

    def _judge_labels(self, given: FitInput, source: Representation, n_threads: int) -> LabelJudge | None:
        """Judge every label by models that have not seen it; None if none can be judged."""
        known, rows = given.known, given.known.labelled
        judge = None
        if len(known.classes) > 1:
            from .tuning.label_quality import make_label_judge  # loads numba

            class_ids, on_cluster = known.class_ids[rows], given.views.is_on_cluster
            judge = make_label_judge(source, rows, class_ids, given.weights, n_threads, on_cluster=on_cluster)
        self._keep_verdicts(known, rows, None if judge is None else judge.judge(judge.given), len(given.views))
        return judge

    def _correct(
        self, threshold: float, given: FitInput, rng: np.random.RandomState, n_threads: int, progress: Progress
    ) -> FitInput:
        """Return what is given with labels corrected that are wrong: the fit is then that of the corrected labels."""
        plan, known, n_labelled = make_plan(self, given), given.known, len(given.known.labelled)
        if len(known.classes) > 1:
            progress.stage("choice", f"judging {n_labelled} labels")
            self._choose(given, plan, rng, n_threads)
            rows: dict[str, Any] = {"present": given.present, "weights": given.weights}
            scaler = fit_scaling(given.views, plan.scaling, n_threads, rng=rng, **rows)
            source = self._represent(given, scaler, plan, rng, n_threads)
            with one_blas_thread():
                judge = self._judge_labels(given, source, n_threads)
                if judge is not None:
                    class_ids = known.class_ids.copy()
                    class_ids[known.labelled] = judge.correct(threshold)
                    known = replace(known, class_ids=class_ids)
        else:
            self._keep_verdicts(known, known.labelled, None, len(given.views))
        self.relabelled_ = np.flatnonzero(known.class_ids != given.known.class_ids)
        if len(self.relabelled_):  # classes are numbered as if these labels had been given
            counted = None if given.sample_weight is None else given.sample_weight > 0
            classes, class_ids = number_by_appearance(known.classes, known.class_ids, counted)
            known = replace(known, classes=classes, class_ids=class_ids)
        progress.log(f"{len(self.relabelled_)} of {n_labelled} labelled rows relabelled")
        return replace(given, known=known)

    def _solve(
        self,
        known: Supervision,
        given: FitInput,
        plan: Plan,
        grams: PatternGrams,
        cross: CrossProducts,
        weights: ModelWeights,
        n_threads: int,
        progress: Progress,
    ) -> tuple[Problem, SolverResult]:
        """Learn codes and embedding."""
        how = plan.how
        problem = self._make_problem(grams, plan.n_components, known, weights, given.weights, how.omit)
        result = plan.solver.solve(
            problem,
            cross,
            max_iter=how.max_iter,
            tol=how.tol,
            n_threads=n_threads,
            callback=progress.end_round,
            **({"code_stack": DiskCodeStack} if plan.codes_in_files else {}),
            **how.options(),
        )
        return problem, cover_result(problem, result) if left_out(result.embedding).any() else result

    def _make_problem(
        self,
        grams: PatternGrams,
        n_components: int,
        known: Supervision,
        model: ModelWeights,
        weights: Any,
        omit: Sequence[str],
    ) -> Problem:
        rows, must, cannot = known.laplacians(weights, self.class_balance)
        return Problem(
            gram=grams.complete,
            grams=grams,
            n_components=n_components,
            l1=model.l1,
            ridge=model.ridge,
            coupling=0.0 if "coupling" in omit else model.coupling,
            must_link_weight=model.must_link_weight,
            labelled=rows,
            must=None if "must_link" in omit else must,
            cannot=None if "cannot_link" in omit else cannot,
            smoothness="smoothness" not in omit,
            weights=weights,
        )

    def _fit_beside(
        self,
        known: Supervision,
        given: FitInput,
        choice: Choices,
        source: Representation,
        weights: ModelWeights,
        rng: np.random.RandomState,
        n_threads: int,
    ) -> ProductReadings | None:
        """Fit the readings of E, which need no codes; None if there are none."""
        names = split_inference(choice.inference)[1]
        if not names or len(known.classes) < 2:  # nothing to tell apart
            return None
        from .tuning.reading_fits import fit_product_readings, keep_labels  # loads numba

        rows = _speaking_rows(known, given.weights)
        labelled = keep_labels(rows, known.class_ids[rows], given.weights, self.class_balance)
        encoder = ElasticNetEncoder(source.grams.complete, weights.ridge, weights.l1, source.grams)  # as the solver's
        return fit_product_readings(names, source, labelled, rng, n_threads, encoder=encoder)

    def _watch(self, source: Representation, beside: ProductReadings, present: Presence) -> CrossProducts:
        """Let readings see the rows of E as the solver reads them, if that takes no more memory than the codes.

        Not where rows lack views: these are read once their codes are known.
        """
        if present is not None or not _vote_bytes("linear", beside.labelled.n_classes):
            return source.cross
        return WatchedProducts(source.cross, partial(sum_votes, beside.readings))

    def _fit_rule(
        self,
        embedded: Any,
        known: Supervision,
        problem: Problem,
        result: SolverResult,
        choice: Choices,
        beside: ProductReadings | None,
        rng: np.random.RandomState,
    ) -> tuple[LabelledNeighbours | ClusterCentres | Readings, HeldOutLabels | None]:
        weights = problem.weights
        if len(known.classes) == 0:
            return fit_clusters(embedded, problem.n_components, rng, weights), None
        rows = _speaking_rows(known, weights)
        name = split_inference(choice.inference)[0]
        if beside is None:
            name = name or "nearest"
        rule, shares = None, None
        if name is not None:
            read = rows[some_of_each(known.class_ids[rows], MAX_READ)]
            votes = keep_labelled(rows_of(embedded, read), known.class_ids[read], name, choice.n_votes)
            if beside is None:
                return calibrate(votes, problem, result, known, rows, self.class_balance)
            logits, judged = held_out_logits(votes, problem, result, known, rows, self.class_balance)
            rule = set_confidence(votes, logits, known.class_ids[judged])
            shares = held_out_shares(rule, logits)
        assert beside is not None
        from .tuning.reading_fits import join_readings  # loads numba

        readings, shares = join_readings(rule, shares, beside)
        judged = rows[rows_to_judge(known.class_ids[rows])]
        return readings, held_out_labels(judged, known, shares)

    def _describe(self, plan: Plan, result: SolverResult) -> None:
        outcomes = plan.outcomes + list(result.outcomes)
        self.status_ = " ".join(dict.fromkeys([*(outcome.value for outcome in outcomes), *plan.notes]))
        for outcome in outcomes:
            failed = outcome is Outcome.DIVERGED or (outcome is Outcome.MAX_ITER and not plan.solver.stops_early)
            if failed:
                warnings.warn(f"{type(self).__name__} {outcome.value}", ConvergenceWarning, stacklevel=5)
            elif outcome in (Outcome.FEWER_CLASSES, Outcome.MORE_CLASSES, Outcome.SINGLE_FEATURE):
                warnings.warn(f"{type(self).__name__}: {outcome.value}", UserWarning, stacklevel=5)

    def _read_fit(self, embedded: Any, cross: CrossProducts, codes: Codes, n_threads: int) -> TopTwo:
        """Return the likeliest classes of each row of the fit."""
        rule = self._rule
        if not isinstance(rule, Readings):
            return likeliest(rule.read, embedded, n_threads)

        def votes_of(block: slice) -> Matrix:
            if isinstance(cross, WatchedProducts):
                votes: Matrix = cross.noted(block)
                return votes
            present = cross.present_in(block)
            known = None if present is None else rows_of(codes, block)
            return rule.votes(complete_products(cross.read(block), present, self._encoder, known))

        def read(numbers: slice, n_threads: int = 1) -> TopTwo:
            blocks = cross.blocks[numbers]  # together: of many rows most labelled ones can be left out (`candidates`)
            rows = slice(blocks[0].start, blocks[-1].stop)
            votes = np.concatenate(map_blocks(votes_of, blocks, n_threads))
            return TopTwo.of(rule.settle(votes, embedded[rows], n_threads))

        n_blocks, most = len(cross.blocks), max(1, READ_ROWS // max(1, cross.blocks[0].stop))
        parts = row_blocks(n_blocks, even_size(n_blocks, most, n_threads))
        if len(parts) == 1:  # threads share it
            return read(parts[0], n_threads)
        return TopTwo.joined(iter_blocks(read, parts, n_threads, "reading labels"), embedded.shape[0])

    def _read_classes(self, views: Views, present: Presence, n_threads: int) -> Matrix:
        rule = self._rule
        if not isinstance(rule, Readings):
            return rule.read(self._transform(views, present, n_threads), n_threads)
        n_embedded = 0 if rule.neighbours is None else self._n_features_out

        def read(products: Matrix, present: Presence) -> Matrix:
            if not n_embedded:
                return rule.votes(complete_products(products, present, self._encoder))
            codes = self._encoder.encode(products, present)
            votes = rule.votes(complete_products(products, present, self._encoder, codes))
            return np.hstack([self._embed(codes), votes])

        both = self._map_products(views, present, n_threads, read)
        return rule.settle(both[:, n_embedded:], both[:, :n_embedded].astype(self._scaler.dtype), n_threads)


def _vote_bytes(inference: str, n_classes: int) -> int:
    """Return what is kept of a row while readings of E wait for that of the embedding: nothing if it would be much."""
    n_bytes = 8 * n_classes if split_inference(inference)[1] else 0
    return n_bytes if n_bytes <= _VOTE_BYTES else 0


def _speaking_rows(known: Supervision, weights: Weights) -> Rows:
    """Return the rows that speak for a class: with a label, and of weight 0 only if the class has no others."""
    rows = np.flatnonzero(known.class_ids >= 0)
    if weights is None:
        return rows
    counts = weights[rows] > 0
    speaking: Rows = rows[counts | np.isin(known.class_ids[rows], known.class_ids[rows[counts]], invert=True)]
    return speaking
