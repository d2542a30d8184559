"""The upkeep of a passive set: after every move, L is the factor of H on P and x solves the problem on it."""

from __future__ import annotations

import numpy as np

from anchorview.core.compiled import compiled
from anchorview.core.vectors import WIDTH
from anchorview.solver.moves import blocking_index, most_negative
from anchorview.solver.passive_set import ANY, add_indices, remove_index, solve_factor, start_from

M = 20


class Passive:
    """P, L and y of a random problem."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        factor = rng.normal(size=(M, M)) + 1.0
        self.hessian, self.b = factor @ factor.T + np.eye(M), 5 * rng.normal(size=M)
        self.factor, self.y, self.passive = np.zeros((M, M)), np.zeros((1, M)), np.empty(M, np.int32)
        self.space, self.size = (np.empty(WIDTH, np.int32), np.zeros((M + 1, WIDTH))), 0

    def add(self, *wanted: int, least: float = ANY) -> None:
        array = np.array(wanted, np.int32)
        state = self.hessian, self.b, self.factor, self.y, self.passive, self.size
        self.size = add_indices(*state, array, 0, len(array), least, *self.space)

    def remove(self, place: int) -> None:
        remove_index(self.factor, self.y, self.passive, self.size, place, np.zeros((2, M)))
        self.size -= 1

    def solution(self) -> np.ndarray:
        x = np.zeros(M)
        solve_factor(self.factor, self.y, x, self.size)
        return x[: self.size]

    @property
    def members(self) -> list[int]:
        return self.passive[: self.size].tolist()

    def check(self) -> None:
        square = self.hessian[np.ix_(self.members, self.members)]
        lower = np.tril(self.factor[: self.size, : self.size], -1) + np.diag(1 / np.diag(self.factor)[: self.size])
        np.testing.assert_allclose(lower @ lower.T, square, atol=1e-9)
        np.testing.assert_allclose(self.solution(), np.linalg.solve(square, self.b[self.members]), atol=1e-9)


def test_indices_come_and_go() -> None:
    """Eight together, a few together, one by one; out of the middle and at the end."""
    for seed in range(3):
        state = Passive(seed)
        state.add(3, 7, 1, 12, 5, 9, 15, 2, 11, 0)
        assert state.members == [3, 7, 1, 12, 5, 9, 15, 2, 11, 0]
        state.check()
        state.remove(4)
        assert state.members == [3, 7, 1, 12, 9, 15, 2, 11, 0]
        state.check()
        state.remove(8)
        state.check()
        state.add(19, 18, 17)
        state.add(5)
        assert state.members == [3, 7, 1, 12, 9, 15, 2, 11, 19, 18, 17, 5]
        state.check()


def test_of_violated_indices_the_largest_gradient_enters_and_those_that_are_no_longer_violated_stay_out() -> None:
    n_left_out = 0
    for seed in range(10):
        state, slow = Passive(seed), [3, 7]
        state.add(*slow)
        wanted = [1, 12, 5, 9, 15, 2]
        left = list(wanted)
        while left:
            x = np.linalg.solve(state.hessian[np.ix_(slow, slow)], state.b[slow])
            gradient = {j: state.b[j] - state.hessian[j, slow] @ x for j in left}
            best = max(left, key=gradient.__getitem__)
            if gradient[best] <= 0.5:
                break
            slow.append(best)
            left.remove(best)
        n_left_out += len(left)
        state.add(*wanted, least=0.5)
        assert state.members == slow
        state.check()
    assert n_left_out > 0


@compiled()
def start(b, indices, size, factors, factor, y, passive):
    start_from(b, indices, np.int64(0), size, factors, np.int64(0), factor, y, passive)


def test_a_known_factor_is_where_the_next_row_starts() -> None:
    known, other = Passive(0), Passive(0)
    known.add(4, 9, 2, 11)
    other.b = other.b[::-1].copy()
    packed = known.factor[np.tril_indices(4)]
    start(other.b, known.passive, 4, packed, other.factor, other.y, other.passive)
    other.size = 4
    assert other.members == [4, 9, 2, 11]
    other.check()


@compiled()
def most_negative_of(x, size):
    return most_negative(x, size)


@compiled()
def blocking_of(x, current, size):
    return blocking_index(x, current, size)


def test_the_most_negative_index_is_the_one_to_leave() -> None:
    assert most_negative_of(np.array([1.0, -0.5, 2.0, -3.0, -9.0]), 4) == 3
    assert most_negative_of(np.array([1.0, 0.0, 2.0]), 3) == 1  # zero is no entry of a code
    assert most_negative_of(np.array([1.0, 2.0, -1.0]), 2) == -1


def test_a_careful_step_ends_where_the_first_entry_is_zero() -> None:
    """Of (1, 2, 4) towards (−1, −6, 2) the second is the first to be zero, after a quarter of the way."""
    current = np.array([1.0, 2.0, 4.0, 7.0])
    assert blocking_of(np.array([-1.0, -6.0, 2.0]), current, 3) == 1
    np.testing.assert_allclose(current, [0.5, 3.5, 3.5, 7.0])  # it is taken out, the others move up
    assert blocking_of(np.array([1.0, 2.0]), current, 2) == -1


def test_an_index_that_would_make_it_singular_stays_out() -> None:
    state = Passive(0)
    state.hessian[:, 4] = state.hessian[:, 6]
    state.hessian[4] = state.hessian[6]
    state.hessian[4, 4] = state.hessian[6, 6]
    state.add(6, 4, 8, 10)
    assert state.members == [6, 8, 10]
    state.check()
