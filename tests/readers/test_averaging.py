"""The choice of what is averaged, and votes that become probabilities."""

from __future__ import annotations

import numpy as np
import pytest

from anchorview.core.arrays import temper
from anchorview.model.predicting import votes_to_probabilities
from anchorview.readers.temperature import average_temperature, log_loss
from anchorview.tuning.search import select

RNG = np.random.RandomState(0)


def test_the_choice_is_at_least_as_good_as_its_first_members() -> None:
    classes = RNG.randint(3, size=30)
    members = [RNG.dirichlet(np.ones(3), size=30) for _ in range(8)]
    first = [0, 3]
    picks = select(members, classes, [0.0] * 8, 20, first)
    assert sum(picks.values()) == 20
    assert picks[0] >= 1
    assert picks[3] >= 1
    total = sum(count * members[number] for number, count in picks.items()) / 20
    start = (members[0] + members[3]) / 2
    assert log_loss(total, classes).mean() < log_loss(start, classes).mean()


def test_all_experts_choose_and_those_of_the_given_labels_say_how_likely() -> None:
    first = np.array([[6.0, 3.0, 1.0], [8.0, 1.0, 1.0]])
    second = np.array([[0.0, 9.0, 1.0], [9.0, 0.5, 0.5]])
    found = votes_to_probabilities(np.stack([first, second]), 1.0)
    np.testing.assert_allclose(found, [[0.3, 0.6, 0.1], [0.8, 0.1, 0.1]])
    sharper = votes_to_probabilities(np.stack([first, second]), 0.5)
    np.testing.assert_allclose(sharper.sum(axis=1), 1)
    assert (sharper.max(axis=1) > found.max(axis=1)).all()


def test_the_temperature_of_an_average_makes_it_as_sure_as_it_is_right() -> None:
    rng = np.random.RandomState(0)
    logits = rng.normal(size=(3000, 4)) * 1.5
    truth = np.array([rng.choice(4, p=row) for row in temper(np.exp(logits), 1.0)])
    too_careful = temper(np.exp(logits), 2.0)
    assert average_temperature(too_careful, truth) == pytest.approx(0.5, abs=0.06)
    assert average_temperature(temper(np.exp(logits), 1.0), truth) == pytest.approx(1.0, abs=0.1)
    few = average_temperature(too_careful[:5], truth[:5])
    assert 0.7 < few < 1.3  # five rows prove nothing
