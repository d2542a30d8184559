"""Spectral clustering of one view, the best by a criterion that needs no labels: what more views have to add to."""

from __future__ import annotations

from dataclasses import KW_ONLY, dataclass

import numpy as np
from scipy import linalg, sparse
from scipy.sparse.csgraph import connected_components
from scipy.sparse.linalg import ArpackNoConvergence, eigsh
from sklearn.cluster import KMeans
from sklearn.metrics import silhouette_score

from ..core.arrays import AnyMatrix, ClassIds, Matrix, squared_norms, unit_rows
from ..core.checks import COUNT, Mark, Number, OneOf, is_plain_number, shorten
from ..data.views import Views
from ._base import MultiViewClusterer, Task
from ._graphs import knn_graph, normalized_laplacian
from ._matrix import diagonal, multiply
from ._parameters import method, parameter

_SILHOUETTE_ROWS = 2000  # a sample: all pairs of more rows would take too long


@method
class BestViewSpectral(MultiViewClusterer):
    """Spectral clustering of the nearest-neighbour graph of a single view.

    The eigenvectors of D^{−1/2} W D^{−1/2} with the largest eigenvalues, rows scaled to unit length, then k-means
    (Ng, Jordan and Weiss), in turn for every view; the best view is kept.

    Parameters
    ----------
    n_clusters : int
        Number of clusters.
    view : str or int, optional
        Name or number of the view to use; by default `criterion` chooses.
    criterion : {"silhouette", "eigengap"}, default="silhouette"
        What is largest in the best view: the silhouette of the clusters among the rows of eigenvectors, or the
        relative gap (μ_{k+1} − μ_k) / μ_{k+1} between eigenvalues of the normalised Laplacian.
    n_neighbors : int, default=10
        Neighbours of a row in the graph; two rows are joined if either is a neighbour of the other. Parts of the
        graph without a link between them get one.

    Attributes
    ----------
    view_ : str
        Name of the view that was used.
    view_scores_ : dict of str to float
        The criterion of each view that was tried.
    n_iter_ : int
        Number of views that were tried.

    Examples
    --------
    >>> from anchorview.baselines import BestViewSpectral
    >>> from anchorview.datasets import make_multiview_subspaces
    >>> data = make_multiview_subspaces(200, 3, random_state=0)
    >>> model = BestViewSpectral(n_clusters=3, random_state=0).fit(data.views)
    >>> len(set(model.labels_)), model.view_ in data.views.names
    (3, True)
    """

    _: KW_ONLY
    view: str | int | None = parameter(None, Mark())
    criterion: str = parameter("silhouette", OneOf(("silhouette", "eigengap")))
    n_neighbors: int = parameter(10, COUNT)
    n_init: int = parameter(10, Number(1, 10_000, integer=True))

    def _check_sizes(self, views: Views, n_clusters: int) -> None:
        if self.view is not None:
            self._fixed_view(list(views.names))

    def _max_rounds(self, n_views: int) -> int:
        return n_views if self.view is None else 1

    def _cluster(self, task: Task, n_clusters: int) -> ClassIds:
        tried = range(len(task.views)) if self.view is None else [self._fixed_view(task.names)]
        clusterings: dict[str, _Clustering] = {}
        for number, place in enumerate(tried, start=1):
            result = self._of_view(task, task.views[place], n_clusters)
            clusterings[task.names[place]] = result
            if task.report(number, result.score, np.inf):
                break
        self.view_scores_ = {name: result.score for name, result in clusterings.items()}
        self.view_ = max(clusterings, key=lambda name: clusterings[name].score)
        self._record(list(self.view_scores_.values()))
        return clusterings[self.view_].labels

    def _fixed_view(self, names: list[str]) -> int:
        if isinstance(self.view, str) and self.view in names:
            return names.index(self.view)
        if is_plain_number(self.view, integer=True) and -len(names) <= int(self.view) < len(names):  # type: ignore[arg-type]
            return int(self.view)  # type: ignore[arg-type]
        raise ValueError(f"view={shorten(self.view)} is not known; give a number below {len(names)} or one of {names}.")

    def _of_view(self, task: Task, rows: AnyMatrix, n_clusters: int) -> _Clustering:
        graph = connect(self._graphs.build(knn_graph, rows, self.n_neighbors, n_threads=task.n_threads), rows)
        values, vectors = leading_eigenvectors(graph, n_clusters, task.rng)
        embedded = unit_rows(vectors)
        labels = KMeans(n_clusters, n_init=self.n_init, random_state=task.rng).fit_predict(embedded).astype(np.intp)
        if self.criterion == "eigengap":
            return _Clustering(labels, float((values[-1] - values[-2]) / max(values[-1], 1e-9)))
        return _Clustering(labels, _silhouette(embedded, labels, task.rng))


@dataclass(frozen=True)
class _Clustering:
    labels: ClassIds
    score: float


def connect(graph: sparse.csr_array, rows: AnyMatrix, *, block_entries: int = 2**22) -> sparse.csr_array:
    """Join the components of a graph: one row of each with the nearest row outside, until a single one is left.

    Groups of duplicates are components of their own; with more components than clusters the eigenvectors would show
    nothing else, and Lanczos' method can miss copies of an eigenvalue. Distances are computed `block_entries` at a
    time, by default 32 MB.

    Examples
    --------
    >>> two = sparse.csr_array([[0.0, 1, 0, 0], [1, 0, 0, 0], [0, 0, 0, 1], [0, 0, 1, 0]])
    >>> connect(two, np.array([[0.0], [0.0], [8.0], [7.0]])).toarray()
    array([[0., 1., 1., 1.],
           [1., 0., 0., 0.],
           [1., 0., 0., 1.],
           [1., 0., 1., 0.]])
    """
    squared, step = squared_norms(rows), max(1, block_entries // rows.shape[0])
    while True:
        count, component = connected_components(graph, directed=False)
        if count == 1:
            return graph
        first = np.unique(component, return_index=True)[1]
        nearest = []
        for start in range(0, count, step):
            own = first[start : start + step]
            distances = squared - 2 * multiply(rows[own], rows.T)
            distances[component[own, None] == component] = np.inf
            nearest.append(distances.argmin(axis=1))
        links = sparse.csr_array((np.ones(count), (first, np.concatenate(nearest))), shape=graph.shape)
        graph = sparse.csr_array(graph.maximum(links).maximum(links.T))


def leading_eigenvectors(
    graph: sparse.csr_array, count: int, rng: np.random.RandomState, *, dense_rows: int = 300
) -> tuple[Matrix, Matrix]:
    """Return the `count` + 1 smallest eigenvalues μ of I − D^{−1/2} W D^{−1/2} and the first `count` vectors.

    Up to `dense_rows` rows all eigenvectors are computed; above, only those wanted, from a random start.
    """
    n = graph.shape[0]
    # 2I − L has the same vectors with eigenvalues 2 − μ: largest ones, all positive, are easier to find.
    matrix = sparse.csr_array(diagonal(np.full(n, 2.0)) - normalized_laplacian(graph))
    if n <= max(dense_rows, 4 * count):
        values, vectors = linalg.eigh(matrix.toarray())
        values = np.concatenate([[values[0]], values])  # with as many clusters as rows there is no eigenvalue k + 1
    else:
        start = rng.uniform(-1.0, 1.0, n)
        size = max(4 * count, 60)
        try:
            values, vectors = eigsh(matrix, count + 1, which="LA", v0=start, ncv=size, tol=1e-6, maxiter=300)
        except ArpackNoConvergence:  # close eigenvalues: directions among them hardly matter
            values, vectors = eigsh(matrix, count + 1, which="LA", v0=start, ncv=size, tol=1e-3)
    return 2.0 - values[::-1][: count + 1], vectors[:, ::-1][:, :count]


def _silhouette(embedded: Matrix, labels: ClassIds, rng: np.random.RandomState) -> float:
    """Mean silhouette of a sample of rows, −1 if the sample has no two clusters or nothing but clusters of one row."""
    n = len(labels)
    sample = np.arange(n) if n <= _SILHOUETTE_ROWS else np.sort(rng.choice(n, _SILHOUETTE_ROWS, replace=False))
    if not 1 < len(np.unique(labels[sample])) < len(sample):
        return -1.0
    return float(silhouette_score(embedded[sample], labels[sample]))
