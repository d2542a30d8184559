"""Results that are computed once, while there is room."""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Callable, Hashable
from dataclasses import dataclass, field
from threading import Lock
from typing import Any, Generic, TypeVar

T = TypeVar("T")


@dataclass
class Cache(Generic[T]):
    """Results computed once and kept while there is room; threads may share it, and it is pickled empty."""

    max_bytes: int | None = None  # the results used longest ago go when more is held; None keeps all
    _items: OrderedDict[Hashable, tuple[T, int]] = field(default_factory=OrderedDict, init=False, repr=False)
    _held: int = field(default=0, init=False, repr=False)
    _lock: Any = field(default_factory=Lock, init=False, repr=False, compare=False)

    def get(self, key: Hashable, make: Callable[[], T], n_bytes: int = 0) -> T:
        """Return what `make` gave for this key; it runs in one thread at a time."""
        with self._lock:
            if key not in self._items:
                self._items[key] = (make(), n_bytes)
                self._held += n_bytes
            self._items.move_to_end(key)
            while self.max_bytes is not None and self._held > self.max_bytes and len(self._items) > 1:
                self._held -= self._items.popitem(last=False)[1][1]
            return self._items[key][0]

    def __len__(self) -> int:
        return len(self._items)

    def __reduce__(self) -> tuple[Any, ...]:
        return type(self), (self.max_bytes,)
