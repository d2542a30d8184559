"""The temperature of a softmax, and what each prior keeps few rows from proving."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from scipy.special import softmax

from anchorview.readers.temperature import (
    AnyClass,
    Mistakes,
    NearOne,
    choose_temperature,
    log_loss,
    spread,
    usual_temperature,
)

PRIORS = (Mistakes(), AnyClass(), NearOne())


def sample(seed: int, n_rows: int, temperature: float) -> tuple[np.ndarray, np.ndarray]:
    """Return logits, and classes drawn from their softmax at a temperature."""
    rng = np.random.default_rng(seed)
    logits = rng.normal(size=(n_rows, 3)) * 2
    class_ids = np.array([rng.choice(3, p=p) for p in softmax(logits / temperature, axis=1)])
    return logits, class_ids


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("temperature", [0.6, 1.0, 2.0])
def test_many_rows_tell_the_temperature_whatever_the_prior(prior: Any, temperature: float) -> None:
    logits, class_ids = sample(0, 2000, temperature)
    assert choose_temperature(logits, class_ids, prior) == pytest.approx(temperature, rel=0.15)


@pytest.mark.parametrize("seed", range(3))
def test_it_has_the_least_log_loss(seed: int) -> None:
    """With half a row more, whose second-best class is right."""
    logits, class_ids = sample(seed, 500, 0.7)
    found = choose_temperature(logits, class_ids, Mistakes())
    second = np.argsort(logits, axis=1)[:, -2]

    def loss(temperature: float) -> float:
        logs = np.log(softmax(logits / temperature, axis=1))
        return float(-logs[np.arange(500), class_ids].sum() - 0.5 * logs[np.arange(500), second].mean())

    assert loss(found) <= min(loss(t) for t in np.geomspace(0.05, 10, 200)) + 1e-3


def test_faultless_rows_leave_the_doubt_of_half_a_row() -> None:
    few, many = (
        softmax(logits / choose_temperature(logits, np.arange(n) % 2, Mistakes()), axis=1).max(axis=1).mean()
        for n, logits in ((n, np.eye(2)[np.arange(n) % 2]) for n in (10, 1000))
    )
    assert few == pytest.approx(10 / 10.5, abs=0.01) and many == pytest.approx(1000 / 1000.5, abs=1e-3)


def test_more_doubt_makes_it_less_sure() -> None:
    logits, class_ids = np.eye(2)[np.arange(10) % 2], np.arange(10) % 2
    temperatures = [choose_temperature(logits, class_ids, Mistakes(rows)) for rows in (0.1, 0.5, 3.0)]
    assert temperatures == sorted(set(temperatures))


@pytest.mark.parametrize("prior", [Mistakes(), AnyClass()])
def test_few_right_answers_do_not_make_it_certain(prior: Any) -> None:
    scores, class_ids = np.eye(2), np.array([0, 1])
    few = choose_temperature(scores, class_ids, prior)
    many = choose_temperature(np.tile(scores, (200, 1)), np.tile(class_ids, 200), prior)
    assert few > 2 * many


def test_as_sure_as_it_is_right() -> None:
    rng = np.random.RandomState(0)
    class_ids = rng.randint(0, 3, 2000)
    noisy = np.where(rng.rand(2000) < 0.7, class_ids, rng.randint(0, 3, 2000))
    scores = 100.0 * np.eye(3)[noisy]  # sure of everything, right in 80 % of cases
    for prior in (Mistakes(), AnyClass()):
        temperature = choose_temperature(scores, class_ids, prior)
        assert softmax(scores / temperature, axis=1).max(axis=1).mean() == pytest.approx(0.8, abs=0.05)


def test_few_rows_leave_an_average_nearly_as_it_is() -> None:
    logits, class_ids = sample(0, 3000, 0.5)  # twice as careful as they could be
    assert choose_temperature(logits, class_ids, NearOne()) == pytest.approx(0.5, abs=0.06)
    assert 0.7 < choose_temperature(logits[:5], class_ids[:5], NearOne()) < 1.3
    assert choose_temperature(logits[:5], class_ids[:5], NearOne(rows=1e6)) == pytest.approx(1.0, abs=0.02)


@pytest.mark.parametrize("prior", PRIORS)
@pytest.mark.parametrize("scores", [np.zeros((4, 2)), np.full((4, 2), 7.0), np.full((4, 2), np.nan)])
def test_scores_that_tell_nothing_apart_have_temperature_one(prior: Any, scores: np.ndarray) -> None:
    assert choose_temperature(scores, np.zeros(4, dtype=int), prior) == 1.0


@pytest.mark.parametrize("prior", [Mistakes(), AnyClass()])
@pytest.mark.parametrize("factor", [1e-20, 1e20])
def test_it_is_in_units_of_the_scores(prior: Any, factor: float) -> None:
    logits, class_ids = sample(1, 100, 1.0)
    expected = factor * choose_temperature(logits, class_ids, prior)
    assert choose_temperature(factor * logits, class_ids, prior) == pytest.approx(expected, rel=1e-6)


def test_one_sure_mistake_is_not_worth_hundreds_of_rows() -> None:
    assert log_loss(np.array([[1.0, 0.0]]), np.array([1]))[0] == pytest.approx(-np.log(1e-3))
    np.testing.assert_allclose(log_loss(np.array([[0.5, 0.5], [0.2, 0.8]]), np.array([0, 1])), -np.log([0.5, 0.8]))


@pytest.mark.parametrize("n_rows", [5, 30, 200])
@pytest.mark.parametrize("noise", [0.1, 1.0, 3.0])
def test_not_all_temperatures_need_to_be_tried(n_rows: int, noise: float) -> None:
    """The best of them is found, or one as good; also where a few faultless rows make a second minimum."""
    rng = np.random.default_rng(n_rows)
    class_ids = rng.integers(4, size=n_rows)
    scores = 3 * np.eye(4)[class_ids] + noise * rng.normal(size=(n_rows, 4))
    any_class = 1 / (n_rows + 2)

    def loss(temperature: float) -> float:
        losses = -np.log(np.maximum(softmax(scores / temperature, axis=1), 1e-3))
        own = losses[np.arange(n_rows), class_ids]
        return float(np.mean((1 - any_class) * own + any_class * losses.mean(axis=1)))

    least = min(loss(temperature) for temperature in spread(scores, None) * np.logspace(-2.5, 1, 57))
    assert loss(choose_temperature(scores, class_ids, AnyClass())) <= least + 1e-3


def test_without_held_out_labels_a_row_is_as_sure_among_many_classes() -> None:
    """A row nearer to its class than to the others by half of the spread: with 100 classes it was given 22 %."""
    sure = {}
    for n_classes in (5, 10, 100):
        temperature = usual_temperature(np.eye(n_classes))
        sure[n_classes] = softmax(0.5 * np.eye(n_classes)[0] / temperature)[0]
    assert sure[10] == pytest.approx(0.757, abs=0.01)
    assert abs(sure[5] - sure[10]) < 0.1 and abs(sure[100] - sure[10]) < 0.1
