"""Results that are computed once, while there is room."""

from __future__ import annotations

import pickle
from functools import partial

from anchorview.core.cache import Cache
from anchorview.engine.blocks import map_blocks


def noted(made: list[int], key: int) -> int:
    made.append(key)
    return 10 * key


def test_everything_is_kept_without_a_limit() -> None:
    made: list[int] = []
    cache: Cache[int] = Cache()
    for key in (*range(50), *range(50)):
        assert cache.get(key, partial(noted, made, key), 10**9) == 10 * key
    assert made == list(range(50))
    assert len(cache) == 50


def test_what_was_used_longest_ago_goes_first() -> None:
    made: list[int] = []
    cache: Cache[int] = Cache(max_bytes=25)
    for key in (1, 2, 1, 3, 1, 2):  # 2 goes when 3 comes, since 1 was used after it
        assert cache.get(key, partial(noted, made, key), 10) == 10 * key
    assert made == [1, 2, 3, 2]
    assert len(cache) == 2


def test_a_result_larger_than_the_cache_is_still_handed_out() -> None:
    cache: Cache[int] = Cache(max_bytes=25)
    cache.get(1, lambda: 1, 10)
    assert cache.get(9, lambda: 9, 1000) == 9
    assert len(cache) == 1
    assert cache.get(2, lambda: 2, 10) == 2  # and there is room again
    assert cache.get(3, lambda: 3, 10) == 3
    assert len(cache) == 2


def test_it_is_pickled_empty_with_its_limit() -> None:
    cache: Cache[int] = Cache(max_bytes=25)
    cache.get(1, lambda: 1, 10)
    again = pickle.loads(pickle.dumps(cache))
    assert len(again) == 0
    assert again.max_bytes == 25
    assert again.get(1, lambda: 7) == 7


def test_threads_compute_a_result_once() -> None:
    made: list[int] = []
    cache: Cache[int] = Cache()
    keys = list(range(20)) * 10
    found = map_blocks(lambda key: cache.get(key, partial(noted, made, key)), keys, 4)
    assert found == [10 * key for key in keys]
    assert sorted(made) == list(range(20))
