"""What pairs of rows say beyond the embedding: labels that must-links pass on, and classes that pairs rule out.

The embedding learns from pairs; regressions on features and labels spread over the graph do not. So that whatever reads
the labels heeds them, a row that must-links join with a labelled one counts as labelled too, and the classes of the
rows of a fit are settled together: rows that must link take one class, rows that must not link keep out of each
other's. A must-link of weight 1 or more joins; a lighter one is a hint, for the embedding alone.
"""

from __future__ import annotations

import numpy as np
from scipy import sparse
from scipy.sparse.csgraph import connected_components
from scipy.special import softmax

from ..core.arrays import ClassIds, Matrix, Rows, Weights
from ..solver.laplacian import group_matrix, pair_matrix
from ..supervision.pairs import ResolvedPairs

_FIRM = 1.0  # weight at which a must-link joins
_ROUNDS = 10  # of settling; classes that exclude each other are far apart after three or four
_LEAST = 1e-6  # probability that is left to a class which a pair rules out


def joined_rows(pairs: ResolvedPairs) -> Rows:
    """Return a number for each row, the same for rows that firm must-links join.

    Examples
    --------
    >>> from anchorview.supervision.constraints import Constraints
    >>> joined_rows(Constraints.from_pairs(must=[(0, 2), (2, 3), (1, 4, 0.5)], n_rows=5).resolve(5))
    array([0, 1, 0, 0, 2])
    """
    n_rows = pairs.n_rows
    firm = pairs.must.weight >= _FIRM
    links = sparse.coo_array(
        (np.ones(int(firm.sum())), (pairs.must.first[firm], pairs.must.second[firm])), shape=(n_rows, n_rows)
    )
    groups = [
        group_matrix(part.numbers, part.n_groups, np.ones(n_rows)) for part in pairs.must_groups if part.weight >= _FIRM
    ]
    members = sparse.vstack([sparse.csr_array((0, n_rows)), *groups])  # a group is a node joined with all its rows
    graph = sparse.block_array([[links, members.T], [members, None]], format="csr")
    result: Rows = connected_components(graph, directed=False)[1][:n_rows]
    return np.unique(result, return_inverse=True)[1]


def pass_on(class_ids: ClassIds, pairs: ResolvedPairs) -> ClassIds:
    """Give the class of a labelled row to those that must-links join with it, unless labels contradict each other.

    Examples
    --------
    >>> import numpy as np
    >>> from anchorview.supervision.constraints import Constraints
    >>> pairs = Constraints.from_pairs(must=[(0, 2), (2, 3), (1, 4), (4, 5)], n_rows=6).resolve(6)
    >>> pass_on(np.array([7, 1, -1, -1, -1, 2]), pairs)
    array([ 7,  1,  7,  7, -1,  2])
    """
    nodes, of_node = _join(class_ids, pairs)
    return of_node[nodes]


def _join(class_ids: ClassIds, pairs: ResolvedPairs) -> tuple[Rows, ClassIds]:
    """Return the node of each row, and the class of each node; rows whose links contradict labels stand alone."""
    joined = joined_rows(pairs)
    known = np.flatnonzero(class_ids >= 0)
    n_joined = int(joined.max(initial=-1)) + 1
    lowest, highest = np.full(n_joined, np.iinfo(np.intp).max), np.full(n_joined, -1)
    np.minimum.at(lowest, joined[known], class_ids[known])
    np.maximum.at(highest, joined[known], class_ids[known])
    alone = (lowest < highest)[joined]
    nodes = np.unique(np.where(alone, n_joined + np.arange(len(joined)), joined), return_inverse=True)[1]
    of_node = np.full(int(nodes.max(initial=-1)) + 1, -1)
    np.maximum.at(of_node, nodes, class_ids)
    return nodes, of_node


def apply_pairs(probabilities: Matrix, class_ids: ClassIds, pairs: ResolvedPairs, weights: Weights = None) -> Matrix:
    """Return class probabilities of the rows of a fit that heed pairs; those of rows in no pair stay.

    Rows that must link have one distribution: that of a label among them, else their mean. A row then keeps away from
    the classes of those it must not link with: q_a(c) ∝ p_a(c) Π_b (1 − q_b(c)), again and again, so that of two rows
    that want the same class the surer one gets it.

    Parameters
    ----------
    probabilities : ndarray of shape (n_rows, n_classes)
        Of rows on their own.
    class_ids : ndarray of shape (n_rows,)
        The labels given, −1 where there is none.
    pairs : ResolvedPairs
        What is known of pairs.
    weights : ndarray of shape (n_rows,), optional
        Weights of the rows in the mean; positive for rows in a pair.

    Examples
    --------
    >>> import numpy as np
    >>> from anchorview.supervision.constraints import Constraints
    >>> pairs = Constraints.from_pairs(must=[(0, 1)], cannot=[(1, 2)], n_rows=3).resolve(3)
    >>> alone = np.array([[0.9, 0.1], [0.4, 0.6], [0.6, 0.4]])
    >>> apply_pairs(alone, np.full(3, -1), pairs).argmax(axis=1)
    array([0, 0, 1])
    """
    nodes, of_node = _join(class_ids, pairs)
    each = np.arange(len(nodes))
    share = np.ones(len(nodes)) if weights is None else np.where(weights > 0, weights, 1.0)
    members = sparse.csr_array((share, (nodes, each)))
    own: Matrix = (members @ probabilities) / np.asarray(members.sum(axis=1)).reshape(-1, 1)
    known = np.flatnonzero(of_node >= 0)
    own[known] = np.eye(own.shape[1])[of_node[known]]
    settled = _keep_apart(own, nodes, known, pairs)
    result = np.array(probabilities, dtype=np.float64)
    touched = pairs.touched()
    result[touched] = settled[nodes[touched]]
    return result


def _keep_apart(own: Matrix, nodes: Rows, known: Rows, pairs: ResolvedPairs) -> Matrix:
    """Move the probabilities of nodes away from the classes of those they must not link with."""
    n_rows, ones = len(nodes), np.ones(len(nodes))
    listed = pairs.cannot
    apart = pair_matrix(listed.first, listed.second, np.minimum(listed.weight, 1.0), n_rows)
    groups = []
    for part in pairs.cannot_groups:
        assert part.members is not None
        inside = np.where(part.numbers >= 0, part.members, -1)  # a row that a bootstrap drew twice is one member
        alike = group_matrix(inside, int(inside.max(initial=-1)) + 1, ones)
        groups.append((group_matrix(part.numbers, part.n_groups, ones), alike, min(part.weight, 1.0)))
    if apart.nnz == 0 and not groups:
        return own
    gather = sparse.csr_array((ones, (nodes, np.arange(n_rows))))
    found, log_own = own.copy(), np.log(np.maximum(own, _LEAST))
    for _ in range(_ROUNDS):
        others = np.log(np.maximum(1 - found, _LEAST))[nodes]
        ruled_out = apart @ others
        for group, alike, weight in groups:  # all rows of the group, but for the row itself
            ruled_out += weight * (group.T @ (group @ others) - alike.T @ (alike @ others))
        moved = softmax(log_own + gather @ ruled_out, axis=1)
        moved[known] = own[known]
        found = 0.5 * (found + moved)  # half a step: whole ones may swing
    return found
