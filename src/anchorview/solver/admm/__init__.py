"""The paper's Algorithm 1."""

from .algorithm import solve_admm

__all__ = ["solve_admm"]
