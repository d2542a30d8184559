"""The one loop over rows: in memory, in stores and on a cluster; for labels, probabilities and the embedding."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from functools import partial
from typing import Any, Literal

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..core.arrays import Mask, Matrix, Presence, softmax_at, temper
from ..data.validation import RowChecks
from ..data.views import Views
from ..engine.blocks import count_threads, iter_blocks, map_blocks, one_blas_thread, row_blocks
from ..engine.sources.dask_rows import join_sources
from ..features.products import ViewCrossProducts
from ..features.projected import PROJECTED_ROWS, project_texts, shared_texts
from ..features.scaled import ViewsScaler
from ..features.scaling import check_finite
from ..readers.base import class_probabilities, to_space
from ..readers.linear import FoldedReader
from ..solver.codes import CodeStack, stack_codes
from ..solver.elastic_net import complete_products
from ..solver.result import Encoder
from .model import Branch, Embedder, Member, Model

_FEW_ROWS = 8  # whose codes are read dense: a sparse product of one row takes ten times as long as its arithmetic

CHUNK_ROWS = 65_536  # predicted at a time: rows that are read once, and a bound on memory
Wanted = Literal["class_ids", "probabilities", "embedding", "codes", "products"]
Chunk = tuple[slice, Any, Mask | None]  # rows, what was wanted of them, and which have no view; None if all have one


def predict_chunks(
    model: Model, views: Views, wanted: Wanted, checks: RowChecks, n_jobs: int | None
) -> Iterator[Chunk]:
    """Read rows chunk by chunk: rows of a store are read once, and memory does not grow with them.

    Rows on a cluster are read where they are: what is wanted comes back, the rows do not.
    """
    work, is_stored = _OfBlock(model, wanted, checks, views.names), views.is_stored
    if is_stored and views.is_on_cluster:
        try:
            yield from join_sources(views.names, views.arrays).map(work, (views.present,))
        except ValueError:  # the same, by the numbers that rows have in all of them
            check_finite(views, 1, checks.find_present(views)[0])
            raise
        return
    n_threads, chunks = count_threads(n_jobs), row_blocks(len(views), CHUNK_ROWS)
    for chunk in chunks:
        part = views if len(chunks) == 1 and not is_stored else views[chunk]
        try:
            with one_blas_thread():  # once for all steps: each sets and restores the limit if nobody holds it
                found = work.of_views(part, chunk, n_threads)
        except ValueError:
            if len(chunks) > 1:  # the same, by the numbers that rows have in all of them
                check_finite(views, n_threads, checks.find_present(views)[0])
            raise
        yield found
    views.check_unchanged()


@dataclass(frozen=True)
class _OfBlock:
    """What is wanted of a block of rows; small enough to be sent to where they are."""

    model: Model
    wanted: Wanted
    checks: RowChecks
    names: list[str]

    def __call__(self, arrays: list[Any], block: slice, present: Presence) -> Chunk:
        with one_blas_thread():
            return self.of_views(Views(arrays, names=self.names, mask=present), block, 1)

    def of_views(self, views: Views, block: slice, n_threads: int) -> Chunk:
        present, empty = self.checks.check(views, block.start)
        return block, predict_rows(self.model, views, present, self.wanted, n_threads), empty


def predict_rows(model: Model, views: Views, present: Presence, wanted: Wanted, n_threads: int) -> Any:
    """Return class numbers (places in `classes`), probabilities (a column for each), or what comes before them."""
    if wanted == "embedding":
        return embed_rows(model.embedder, views, present, n_threads)
    if wanted == "codes":
        codes = encode_rows(model.embedder, views, present, n_threads, lambda part: part)
        return stack_codes(codes, len(model.embedder.landmarks))
    if wanted == "products":
        return read_products(model.embedder, views, present, n_threads)
    probabilities = average_members(model, views, present, n_threads)
    if wanted == "class_ids":
        return model.places(probabilities.argmax(axis=1))
    return model.by_class(probabilities)


def embed_rows(embedder: Embedder, views: Views, present: Presence, n_threads: int) -> Matrix:
    """Return the embedding of rows."""
    return np.concatenate(encode_rows(embedder, views, present, n_threads, embedder.embed))


def encode_rows(
    embedder: Embedder, views: Views, present: Presence, n_threads: int, use: Callable[[sparse.csr_array], Any]
) -> list[Any]:
    """Return what is made of the codes of rows, block by block."""
    cross = ViewCrossProducts(views, embedder.scaler, embedder.landmarks, present=present, for_prediction=True)

    def of_block(block: slice) -> Any:
        return use(embedder.encoder.encode(*_read_block(cross, block, partial(check_finite, views, present=present))))

    return map_blocks(of_block, cross.blocks, n_threads, "encoding")


def read_products(embedder: Embedder, views: Views, present: Presence, n_threads: int) -> Matrix:
    """Return the products of rows with the landmarks, completed where views are missing."""
    cross = ViewCrossProducts(views, embedder.scaler, embedder.landmarks, present=present, for_prediction=True)

    def of_block(block: slice) -> Matrix:
        return complete_products(
            *_read_block(cross, block, partial(check_finite, views, present=present)), embedder.encoder
        )

    return np.concatenate(map_blocks(of_block, cross.blocks, n_threads, "comparing"))


def average_members(model: Model, views: Views, present: Presence, n_threads: int) -> Matrix:
    """Return the class probabilities of rows, by the numbers that classes have in the fit."""
    pairs = [(branch, member) for branch in model.branches for member in branch.members]
    if model.temperature is None:
        ((branch, member),) = pairs
        assert member.encoder is not None and member.embedding is not None
        embedder = Embedder(branch.scaler, branch.landmarks, member.encoder, member.embedding)
        return class_probabilities(member.reader, embed_rows(embedder, views, present, n_threads), n_threads)
    dtype = np.result_type(*(_precision(*pair) for pair in pairs))
    votes = empty_votes([member for _, member in pairs], len(views), len(model.classes), dtype)
    add_votes(model.branches, views, present, votes, n_threads)
    return votes_to_probabilities(votes, model.temperature)


def votes_to_probabilities(votes: Matrix, temperature: float) -> Matrix:
    """Turn votes into probabilities, the likeliest class being that of all votes.

    Members that learned from rows the others were sure of find more rows right, but believe their own guesses. So all
    votes choose the class, and those of members that saw given labels only (the first) say how likely it is.

    Examples
    --------
    >>> import numpy as np
    >>> votes = np.array([[[3.0, 1.0]], [[0.0, 4.0]]])  # the second class has the votes of those that saw guesses
    >>> votes_to_probabilities(votes, 1.0)
    array([[0.25, 0.75]])
    """
    result = temper(votes[0], temperature)
    if len(votes) == 1:
        return result
    rows, first, chosen = np.arange(len(result)), result.argmax(axis=1), votes.sum(axis=0).argmax(axis=1)
    result[rows, first], result[rows, chosen] = result[rows, chosen], result[rows, first]
    return result


@dataclass(frozen=True, eq=False)
class KeptCodes:
    """Codes that are kept while rows are read: those over some landmarks, by one encoder."""

    landmarks: Matrix
    encoder: Encoder
    stack: CodeStack


def empty_votes(members: Sequence[Member], n_rows: int, n_classes: int, dtype: npt.DTypeLike = np.float64) -> Matrix:
    """Return sums of no votes: of members that saw given labels only and, if there are any, of those that saw more."""
    return np.zeros((1 + any(member.saw_guesses for member in members), n_rows, n_classes), dtype)


def _precision(branch: Branch, member: Member) -> np.dtype[Any]:
    """Return the precision of a member's probabilities, if it can be single; averages of many are in double."""
    if member.reader.reads == "embedding":
        return branch.scaler.dtype
    if isinstance(member.reader, FoldedReader):
        return np.result_type(np.float32, member.reader.intercept)
    return np.dtype(np.float64)


def add_votes(
    branches: Sequence[Branch],
    views: Views,
    present: Presence,
    votes: Matrix,
    n_threads: int,
    kept: KeptCodes | None = None,
) -> None:
    """Add the class probabilities that members give to rows; the codes of one encoder may be kept."""
    check = partial(check_finite, views, n_threads, present)
    if len(branches) == 1:
        _add_branch(branches[0], views, branches[0].scaler, present, votes, n_threads, check, kept)
    else:
        _add_branches(branches, views, present, votes, n_threads, check, kept)
    if not np.isfinite(votes).all():
        check()


def _add_branches(
    branches: Sequence[Branch],
    views: Views,
    present: Presence,
    votes: Matrix,
    n_threads: int,
    check: Callable[[], None],
    kept: KeptCodes | None,
) -> None:
    """Add the votes of several branches; text that they scale alike is scaled once."""
    scalers = [branch.scaler for branch in branches]
    n_together = PROJECTED_ROWS if shared_texts(scalers) else max(len(views), 1)
    for rows in row_blocks(len(views), n_together):
        part, has_views = (views, present) if n_together >= len(views) else (views[rows], _part(present, rows))
        projected, left = project_texts(part, scalers, has_views, n_threads)
        for branch, scaler in zip(branches, left, strict=True):
            of_branch = kept if kept is not None and kept.landmarks is branch.landmarks else None
            _add_branch(branch, projected, scaler, has_views, votes[:, rows], n_threads, check, of_branch)


def _add_branch(
    branch: Branch,
    views: Views,
    scaler: ViewsScaler,
    present: Presence,
    votes: Matrix,
    n_threads: int,
    check: Callable[[], None],
    kept: KeptCodes | None,
) -> None:
    """Add the votes of a branch; `scaler` is its own, or what is left of it to do (`features.projected`)."""
    together = [member for member in branch.members if member.reader.reads == "embedding"]
    needs_products = kept is not None or any(member.reader.reads != "features" for member in branch.members)
    cross = ViewCrossProducts(views, scaler, branch.landmarks, present=present, for_prediction=True)

    def of_block(block: slice) -> tuple[list[Matrix], sparse.csr_array | None]:
        products, has_views = _read_block(cross, block, check) if needs_products else (None, cross.present_in(block))
        forms = _Forms(branch, products, has_views, lambda: scaler.read(views, block, present).stacked())
        embedded = []
        for member in branch.members:
            if member.reader.reads == "embedding":
                embedded.append(forms.of(member))
            else:
                add_vote(member, forms.of(member), votes[:, block])
        return embedded, None if kept is None else forms.codes(kept.encoder)

    parts: list[list[Matrix]] = [[] for _ in together]
    for embedded, codes in iter_blocks(of_block, cross.blocks, n_threads, "reading votes"):
        if kept is not None and codes is not None:
            kept.stack.add(codes)
        for part, rows in zip(parts, embedded, strict=True):
            part.append(rows)
    for member, part in zip(together, parts, strict=True):  # of many rows, most labelled ones can be left out
        add_vote(member, np.concatenate(part).astype(branch.scaler.dtype, copy=False), votes, n_threads)


def add_vote(member: Member, rows: Any, votes: Matrix, n_threads: int = 1) -> None:
    """Add class probabilities, times the weight, of rows given by what a member reads."""
    scores = member.reader.scores(rows, n_threads)
    votes[int(member.saw_guesses)] += member.weight * softmax_at(scores, member.reader.temperature)


class _Forms:
    """What the rows of a block are to readers, each computed once."""

    def __init__(self, branch: Branch, products: Matrix | None, present: Presence, features: Callable[[], Any]) -> None:
        self._branch, self._products, self._present, self._features = branch, products, present, features
        self._known: dict[tuple[Any, ...], Any] = {}

    def of(self, member: Member) -> Any:
        """Return what the reader of a member reads."""
        space = member.reader.reads
        key = space, id(member.encoder), id(member.embedding), id(member.graph)
        if key not in self._known:
            self._known[key] = self._make(member)
        return self._known[key]

    def _make(self, member: Member) -> Any:
        space = member.reader.reads
        if space == "features":
            return self._features()
        if space == "products":
            return self._completed()
        if space == "graph":
            assert member.graph is not None
            return member.graph.weights(self._completed())
        assert member.encoder is not None
        codes = self._readable_codes(member.encoder)
        if space == "embedding":
            assert member.embedding is not None
            return codes @ member.embedding.T
        return to_space(space, codes, member.embedding)

    def codes(self, encoder: Encoder) -> sparse.csr_array:
        """Return the codes that an encoder gives."""
        key = ("codes", id(encoder))
        if key not in self._known:
            assert self._products is not None
            self._known[key] = encoder.encode(self._products, self._present)
        return self._known[key]

    def _readable_codes(self, encoder: Encoder) -> Any:
        """Return the codes as readers get them: dense for few rows, where SciPy's own overhead would take longest."""
        codes = self.codes(encoder)
        if codes.shape[0] > _FEW_ROWS:
            return codes
        key = ("dense codes", id(encoder))
        if key not in self._known:
            self._known[key] = codes.toarray()
        return self._known[key]

    def _completed(self) -> Matrix:
        """Return rows of E as if every row had all views."""
        products, completer = self._products, self._branch.completer
        assert products is not None
        if completer is None or self._present is None:
            return products
        key = ("completed",)
        if key not in self._known:
            codes = self._known.get(("codes", id(completer)))
            self._known[key] = complete_products(products, self._present, completer, codes)
        completed: Matrix = self._known[key]
        return completed


def _read_block(cross: ViewCrossProducts, block: slice, check: Callable[[], None]) -> tuple[Matrix, Presence]:
    """Return finite products of rows, and which rows have which view."""
    present, products = cross.present_in(block), cross.read(block)
    if not np.isfinite(products.sum()):  # NaN and infinity pass through the product: no extra pass over X
        check()
    return products, present


def _part(present: Presence, rows: slice) -> Presence:
    return None if present is None else present[rows]
