"""What a reader is: fitted, it turns rows of one kind of space into one score per class, larger for likelier."""

from __future__ import annotations

from typing import Any, Literal, Protocol

from ..core.arrays import Matrix, softmax_at, unit_rows, unit_sparse_rows

# What readers read of a row: its embedding, as `transform` gives it, or at unit length; its code at unit length; its
# scaled features; its products with the landmarks (E); the weights of its nearest rows in a graph.
Space = Literal["embedding", "unit_embedding", "unit_codes", "features", "products", "graph"]


class Reader(Protocol):
    """A fitted reader."""

    @property
    def reads(self) -> Space:
        """What the rows that it is given hold."""
        ...

    @property
    def temperature(self) -> float:
        """By which scores are divided to become the logits of class probabilities."""
        ...

    def scores(self, rows: Any, n_threads: int = 1) -> Matrix:
        """Return one number per row and class."""
        ...


def class_probabilities(reader: Reader, rows: Any, n_threads: int = 1) -> Matrix:
    """Return the class probabilities of rows."""
    return softmax_at(reader.scores(rows, n_threads), reader.temperature)


def to_space(space: Space, rows: Any, embedding: Matrix | None) -> Any:
    """Turn codes into what a reader reads of them; scaled rows, and weights of rows of a graph, stay as they are."""
    if space == "unit_codes":
        return unit_sparse_rows(rows)
    if embedding is None:
        return rows
    return unit_rows(rows @ embedding.T)
