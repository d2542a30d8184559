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


@pytest.mark.parametrize(("count", "apart"), [(2, 0.3), (10, 0.13), (20, 0.12), (40, 0.07), (100, 0.045)])
def test_colours_differ_and_stand_out(count: int, apart: float) -> None:
    """A difference of 0.02 in OKLab can just be seen."""
    colours = distinct_colours(count)
    assert len(colours) == count
    assert contrast_with_white(as_bytes(colours)).min() >= 3
    assert differences(colours).min() >= apart


def ciede2000(first: np.ndarray, second: np.ndarray) -> np.ndarray:
    """Return the colour difference of Sharma, Wu and Dalal (2005) between CIELAB colours."""
    (l1, a1, b1), (l2, a2, b2) = np.moveaxis(first, -1, 0), np.moveaxis(second, -1, 0)
    mean = (np.hypot(a1, b1) + np.hypot(a2, b2)) / 2
    stretch = 1.5 - 0.5 * np.sqrt(mean**7 / (mean**7 + 25.0**7))
    c1, c2 = np.hypot(stretch * a1, b1), np.hypot(stretch * a2, b2)
    h1, h2 = (np.degrees(np.arctan2(b, stretch * a)) % 360 for a, b in ((a1, b1), (a2, b2)))
    turn = (h2 - h1 + 180) % 360 - 180
    hue = np.where(np.abs(h1 - h2) <= 180, (h1 + h2) / 2, (h1 + h2 + np.where(h1 + h2 < 360, 360, -360)) / 2)
    light, chroma = (l1 + l2) / 2, (c1 + c2) / 2
    cosines = [np.cos(np.radians(angle)) for angle in (hue - 30, 2 * hue, 3 * hue + 6, 4 * hue - 63)]
    t = 1 - 0.17 * cosines[0] + 0.24 * cosines[1] + 0.32 * cosines[2] - 0.2 * cosines[3]
    in_light = (l2 - l1) / (1 + 0.015 * (light - 50) ** 2 / np.sqrt(20 + (light - 50) ** 2))
    in_chroma = (c2 - c1) / (1 + 0.045 * chroma)
    in_hue = 2 * np.sqrt(c1 * c2) * np.sin(np.radians(turn) / 2) / (1 + 0.015 * chroma * t)
    rotation = -2 * np.sqrt(chroma**7 / (chroma**7 + 25.0**7))
    rotation = rotation * np.sin(np.radians(60 * np.exp(-(((hue - 275) / 25) ** 2))))
    return np.sqrt(in_light**2 + in_chroma**2 + in_hue**2 + rotation * in_chroma * in_hue)


def cielab(colours: np.ndarray) -> np.ndarray:
    part = colours / 255
    light = np.where(part <= 0.04045, part / 12.92, ((part + 0.055) / 1.055) ** 2.4)
    to_xyz = [[0.4124564, 0.3575761, 0.1804375], [0.2126729, 0.7151522, 0.072175], [0.0193339, 0.119192, 0.9503041]]
    xyz = light @ np.array(to_xyz).T / [0.95047, 1, 1.08883]
    x, y, z = np.where(xyz > 216 / 24389, np.cbrt(xyz), (24389 / 27 * xyz + 16) / 116).T
    return np.column_stack([116 * y - 16, 500 * (x - y), 200 * (y - z)])


def test_ciede2000_is_that_of_its_authors() -> None:
    """Three pairs of their table."""
    first = np.array([[50, 2.6772, -79.7751], [50, 2.5, 0], [60.2574, -34.0099, 36.2677]])
    second = np.array([[50, 0, -82.7485], [73, 25, -18], [60.4626, -34.1751, 39.4387]])
    assert ciede2000(first, second) == pytest.approx(np.array([2.0425, 27.1492, 1.2644]), abs=1e-4)


@pytest.mark.parametrize("on_dark", [False, True])
@pytest.mark.parametrize("count", [8, 12, 18, 20])
def test_up_to_twenty_classes_no_two_colours_look_the_same(count: int, on_dark: bool) -> None:
    """Differences of 10 are seen at a glance; small dots need more."""
    places = cielab(as_bytes(distinct_colours(count, on_dark=on_dark)))
    apart = ciede2000(places[:, None], places[None]) + 99 * np.eye(count)
    assert apart.min() >= 17


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
