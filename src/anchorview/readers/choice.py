"""What reads the labels, as a parameter: which readers there are, and which go together."""

from __future__ import annotations

from typing import Any

from ..core.checks import is_sequence, shorten
from .nearest import RULES

OF_PRODUCTS = ("linear", "poisson")  # readers of the products with the landmarks; those of the embedding are `RULES`
JOINABLE = ("nearest", "knn")  # readers of the embedding that go together with these
COMBINATIONS: tuple[tuple[str, ...], ...] = (
    *((name,) for name in (*RULES, *OF_PRODUCTS)),
    OF_PRODUCTS,
    *((first, *others) for first in JOINABLE for others in (("linear",), ("poisson",), OF_PRODUCTS)),
)

READ_LABELS = 20_000  # of which the regression learns; it has at most as many coefficients a class as landmarks
# Rows of a graph that reads labels: their neighbours cost half a second, and any other row 5,000 short distances; half
# of them may be labelled, the others show where the rows are.
READ_GRAPH = 5000


class ReadersRule:
    """What the parameter `readers` may be: "auto", a name, or several that go together, in any order."""

    def check(self, name: str, value: Any) -> None:
        """Raise an error that lists what is possible unless the value is."""
        listed = [value] if isinstance(value, str) else list(value) if is_sequence(value) else [None]
        if (isinstance(value, str) and value == "auto") or _in_order(listed) in COMBINATIONS:
            return
        names = ", ".join(map(repr, (*RULES, *OF_PRODUCTS)))
        raise ValueError(
            f"{name}={shorten(value)} is not known; choose 'auto', one of {names}, or several: 'nearest' or 'knn' with "
            "'linear', 'poisson' or both, or 'linear' with 'poisson'."
        )


def resolve_readers(readers: Any) -> tuple[str, ...] | None:
    """Return the readers that a parameter names, that of the embedding first; None for "auto", an error for nonsense.

    Examples
    --------
    >>> resolve_readers("nearest"), resolve_readers(["poisson", "knn"]), resolve_readers("auto")
    (('nearest',), ('knn', 'poisson'), None)
    """
    ReadersRule().check("readers", readers)
    if isinstance(readers, str):
        return None if readers == "auto" else (str(readers),)
    return _in_order(list(readers))


def _in_order(names: list[Any]) -> tuple[str, ...]:
    """Return names in the order of their probabilities in the mean; what is no name is left last."""
    order = [*RULES, *OF_PRODUCTS]
    known = [str(name) for name in names if isinstance(name, str) and name in order]
    return (*sorted(known, key=order.index), *([""] * (len(names) - len(known))))
