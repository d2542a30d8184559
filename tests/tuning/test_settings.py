"""What a search tries, and the constants that a user may change."""

from __future__ import annotations

import numpy as np
import pytest
from scipy import sparse

from anchorview import Views
from anchorview.tuning.options import SearchOptions, make_options
from anchorview.tuning.settings import Setting, count_changes, scalings_to_try

RNG = np.random.RandomState(0)
DEFAULT = SearchOptions()


def test_dense_counts_are_tried_as_text() -> None:
    counts = RNG.poisson(0.07, size=(60, 140)).astype(float)  # 93 % zeros: perhaps text
    text = RNG.poisson(0.02, size=(60, 140)).astype(float)  # 98 %: the default takes it for text
    plain = RNG.normal(size=(60, 5))
    assert scalings_to_try(Views([plain]), DEFAULT) == ["minmax", "symmetric", "standard", "l2"]
    assert scalings_to_try(Views([counts]), DEFAULT) == ["minmax", "symmetric", "standard", "l2", "lsa"]
    assert scalings_to_try(Views([text]), DEFAULT) == ["lsa", "minmax", "symmetric", "standard", "l2"]
    assert scalings_to_try(Views([plain, counts]), DEFAULT)[-1] == ("minmax", "lsa")
    assert scalings_to_try(Views([sparse.csr_array(counts), plain]), DEFAULT)[0] == ("lsa", "minmax")


def test_nearly_parallel_rows_are_not_scaled_to_0_1() -> None:
    parallel = 5 + RNG.uniform(size=(60, 1)) + 0.02 * RNG.uniform(size=(60, 8))
    parallel[0] = 0
    assert scalings_to_try(Views([parallel]), DEFAULT) == ["standard", "symmetric", "l2"]


def test_options_decide_what_is_tried() -> None:
    counts, plain = RNG.poisson(0.07, size=(60, 140)).astype(float), RNG.normal(size=(60, 5))
    assert scalings_to_try(Views([plain]), make_options({"dense_scalings": ("minmax", "l2")})) == ["minmax", "l2"]
    careful = make_options({"count_zeros": 0.99})
    assert "lsa" not in scalings_to_try(Views([counts]), careful)


def test_options_start_from_the_defaults() -> None:
    assert make_options(None) == make_options({}) == DEFAULT
    changed = make_options({"n_finalists": 1, "ridges": ()})
    assert (changed.n_finalists, changed.ridges, changed.l1s) == (1, (), DEFAULT.l1s)


def test_unknown_options_are_named() -> None:
    with pytest.raises(
        ValueError, match=r"search_options \['finalists', 'speed'\] are not known; there are .*n_finalists"
    ):
        make_options({"speed": 9, "n_finalists": 1, "finalists": 1})


def test_values_without_a_meaning_for_a_head_are_no_changes() -> None:
    assert count_changes(Setting("minmax", 50)) == 0
    assert count_changes(Setting("minmax", 50, l1=0.05, ridge=1.0)) == 2
    assert count_changes(Setting("minmax", 50, l1=0.05, ridge=3.0, head="spread")) == 0
