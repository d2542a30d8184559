"""The upkeep of a passive set: after every move, M is the inverse of H on P and x = M b_P."""

from __future__ import annotations

import numpy as np

from anchorview.solver.passive_set import add_indices, drop_non_positive, make_work, remove_index

M, PADDED = 20, 32


class Passive:
    """P, M and x of a random problem."""

    def __init__(self, seed: int) -> None:
        rng = np.random.default_rng(seed)
        factor = rng.normal(size=(M, M)) + 1.0
        self.hessian, self.b = factor @ factor.T + np.eye(M), 5 * rng.normal(size=M)
        self.inverse, self.x = np.zeros((PADDED, PADDED)), np.zeros(PADDED)
        self.passive, self.work, self.size = np.empty(M, np.int32), make_work(PADDED), 0

    def add(self, *wanted: int) -> None:
        array = np.array(wanted, np.int32)
        state = self.hessian, self.b, self.inverse, self.x, self.passive, self.size
        self.size = add_indices(*state, array, 0, len(array), self.work)

    def remove(self, place: int) -> None:
        remove_index(self.inverse, self.x, self.passive, self.size, place, self.work[0][0])
        self.size -= 1

    @property
    def members(self) -> list[int]:
        return self.passive[: self.size].tolist()

    def check(self) -> None:
        exact = np.linalg.inv(self.hessian[np.ix_(self.members, self.members)])
        np.testing.assert_allclose(self.inverse[: self.size, : self.size], exact, atol=1e-10)
        np.testing.assert_allclose(self.x[: self.size], exact @ self.b[self.members], atol=1e-9)


def test_indices_come_and_go() -> None:
    """Eight together, a few together, one by one; out of the middle and at the end."""
    for seed in range(3):
        state = Passive(seed)
        state.add(3, 7, 1, 12, 5, 9, 15, 2, 11, 0)
        assert state.members == [3, 7, 1, 12, 5, 9, 15, 2, 11, 0]
        state.check()
        state.remove(4)
        assert state.members == [3, 7, 1, 12, 0, 9, 15, 2, 11]
        state.check()
        state.remove(8)
        state.check()
        state.add(19, 18, 17)
        state.add(5)
        assert state.members == [3, 7, 1, 12, 0, 9, 15, 2, 19, 18, 17, 5]
        state.check()


def test_the_most_negative_index_leaves_first_until_all_are_positive() -> None:
    for seed in range(5):
        state, slow = Passive(seed), list(range(12))
        state.add(*slow)
        while slow:
            x = np.linalg.solve(state.hessian[np.ix_(slow, slow)], state.b[slow])
            if x.min() > 0:
                break
            del slow[int(x.argmin())]
        state.size = drop_non_positive(state.inverse, state.x, state.passive, state.size, state.work[0][0])
        assert 0 < len(slow) < 12 and sorted(state.members) == slow
        state.check()


def test_an_index_that_would_make_it_singular_stays_out() -> None:
    state = Passive(0)
    state.hessian[:, 4] = state.hessian[:, 6]
    state.hessian[4] = state.hessian[6]
    state.hessian[4, 4] = state.hessian[6, 6]
    state.add(6, 4, 8, 10)
    assert state.members == [6, 8, 10]
    state.check()
