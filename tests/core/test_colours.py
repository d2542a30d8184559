"""Colours: as many as there are classes, and all can be seen and told apart."""

from __future__ import annotations

import numpy as np
import pytest

from anchorview.core.colours import DARK, blend, contrast_with_white, distinct_colours, oklab


def as_bytes(colours: list[str]) -> np.ndarray:
    return np.array([[int(colour[place : place + 2], 16) for place in (1, 3, 5)] for colour in colours])


def differences(colours: list[str]) -> np.ndarray:
    places = oklab(as_bytes(colours))
    apart = np.linalg.norm(places[:, None] - places, axis=2)
    return apart + 9 * np.eye(len(colours))


def test_oklab_is_that_of_its_author() -> None:
    """Red, and white, from Ottosson's page."""
    assert oklab(np.array([[255, 0, 0]])) == pytest.approx(np.array([[0.628, 0.225, 0.126]]), abs=1e-3)
    assert oklab(np.array([[255, 255, 255]])) == pytest.approx(np.array([[1, 0, 0]]), abs=1e-3)
    assert contrast_with_white(np.array([[0, 0, 0], [255, 255, 255]])) == pytest.approx(np.array([21.0, 1.0]))


@pytest.mark.parametrize(("count", "apart"), [(2, 0.3), (10, 0.15), (15, 0.13), (40, 0.08), (100, 0.05)])
def test_colours_differ_and_stand_out(count: int, apart: float) -> None:
    """A difference of 0.02 in OKLab can just be seen."""
    colours = distinct_colours(count)
    assert len(colours) == count
    assert contrast_with_white(as_bytes(colours)).min() >= 3
    assert differences(colours).min() >= apart


@pytest.mark.parametrize("count", range(2, 101))
def test_neighbours_differ_more_than_the_others_and_colours_stay(count: int) -> None:
    colours = distinct_colours(count)
    assert colours == distinct_colours(100)[:count]
    assert np.diag(differences(colours), 1).min() >= 0.055


def test_colours_in_use_are_avoided() -> None:
    taken = ["#1f77b4", "#c1121f"]
    free = distinct_colours(10, avoid=taken)
    assert differences(taken + free).min() >= 0.15


def test_more_than_there_are() -> None:
    assert len(distinct_colours(5000)) == 5000
    assert len(set(distinct_colours(1000))) == 1000
    assert distinct_colours(0) == []


@pytest.mark.parametrize(("count", "apart"), [(2, 0.2), (10, 0.12), (40, 0.07), (100, 0.04)])
def test_colours_for_dark_pages_stand_out_and_differ_too(count: int, apart: float) -> None:
    colours = distinct_colours(count, on_dark=True)
    page = contrast_with_white(as_bytes([DARK]))[0]
    assert (page / contrast_with_white(as_bytes(colours)) >= 3.0).all()
    assert differences(colours).min() > apart


def test_a_blend_begins_and_ends_with_its_stops_in_even_steps() -> None:
    colours = blend(["#d94801", "#9aa0a6", "#1f77b4"], 21)
    assert (colours[0], colours[10], colours[20]) == ("#d94801", "#9aa0a6", "#1f77b4")
    steps = np.linalg.norm(np.diff(oklab(as_bytes(colours)), axis=0), axis=1)
    assert steps[:10].std() < 0.1 * steps[:10].mean() and steps[10:].std() < 0.1 * steps[10:].mean()
