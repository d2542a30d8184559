"""The paper's Algorithm 1, transcribed literally: slow, float64, columns are samples, every matrix formed.

Letters, shapes and the order of the updates are those of fssmsc.tex. Nothing here is shared with the
library, so that an agreement of the two means something. The labelled samples are the first n_l columns.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import linalg

Matrix = NDArray[np.float64]


@dataclass
class Parameters:
    """λ_Z, β, λ_M and what the paper keeps fixed."""

    lambda_Z: float = 0.2
    beta: float = 1e-4
    lambda_M: float = 1e4
    lam: float = 100.0  # λ
    lam0: float = 100.0  # λ₀
    m_Z: float = 1.0
    eps: float = 1e-5  # ε
    eps_q: float = 1e-5  # ε_q
    mu: float = 0.0  # ridge; 0 in the paper
    released: bool = False  # as the authors' code: columns of Z sum to 1, columns of A have length 1


@dataclass
class State:
    """Every variable of the algorithm."""

    A: Matrix  # k×m
    Z: Matrix  # m×n
    q: Matrix  # m
    B: Matrix  # m×n
    Lam: Matrix  # Λ, m×n


def dense_laplacians(labels: NDArray[np.intp]) -> tuple[Matrix, Matrix]:
    """L_M and L_C of labels: ordered pairs, a sample with itself counted in M."""
    same = labels[:, None] == labels[None, :]
    M = same / same.sum()
    C = ~same / max((~same).sum(), 1)
    return np.diag(M.sum(axis=1)) - M, np.diag(C.sum(axis=1)) - C


def trace_ratio(L_d: Matrix, L_f: Matrix, k: int) -> Matrix:
    """Maximise Tr(A L_d Aᵀ) / Tr(A L_f Aᵀ) by Newton's method on the ratio, with full decompositions."""
    A = linalg.eigh(L_d)[1][:, -k:].T
    ratio = -np.inf
    for _ in range(200):
        new = np.trace(A @ L_d @ A.T) / np.trace(A @ L_f @ A.T)
        if new <= ratio * (1 + 1e-14):  # the ratio rises until it is exact to rounding
            break
        ratio = new
        A = linalg.eigh(L_d - ratio * L_f)[1][:, -k:].T
    return A


def trace_ratio_matrices(
    Z: Matrix, q: Matrix, L_M: Matrix, L_C: Matrix, k: int, p: Parameters
) -> tuple[Matrix, Matrix]:
    """L_d and L_f of eq. solve A2."""
    Z_l, D, identity = Z[:, : len(L_M)], np.diag(q**-0.5), np.eye(len(Z))
    L_f = p.lambda_M * Z_l @ L_M @ Z_l.T + identity - D @ Z @ Z.T @ D
    L_d = Z_l @ L_C @ Z_l.T + p.eps / k * identity
    return L_d, L_f


def phi(A: Matrix, Z: Matrix, L: Matrix) -> float:
    """φ_M or φ_C: Tr(A Z_l L (A Z_l)ᵀ)."""
    F = A @ Z[:, : len(L)]
    return float(np.trace(F @ L @ F.T))


def phi_s(A: Matrix, Z: Matrix, q: Matrix) -> float:
    """φ_s with the degrees q: Tr(A (I − D_q^-½ Z Zᵀ D_q^-½) Aᵀ)."""
    D = np.diag(q**-0.5)
    return float(np.trace(A @ (np.eye(len(Z)) - D @ Z @ Z.T @ D) @ A.T))


def block_P(Z: Matrix, s: State, L_M: Matrix, L_C: Matrix, p: Parameters) -> float:
    """P(Z), eq. P, with the other variables as in s."""
    ratio = (phi_s(s.A, Z, s.q) + p.lambda_M * phi(s.A, Z, L_M)) / (phi(s.A, Z, L_C) + p.eps)
    return float(
        p.beta * ratio
        - np.sum(s.Lam * Z)
        + p.lambda_Z * Z.sum()
        + p.mu / 2 * np.sum(Z**2)
        + p.lam / 2 * np.sum((s.B - Z) ** 2)
        + p.lam0 / 2 * np.sum((s.q - Z @ Z.T @ np.ones(len(Z))) ** 2)
    )


def block_Q(q: Matrix, s: State, L_C: Matrix, p: Parameters) -> float:
    """Q(q), eq. Q, with the other variables as in s."""
    penalty = p.lam0 / 2 * np.sum((q - s.Z @ s.Z.T @ np.ones(len(q))) ** 2)
    return float(p.beta * phi_s(s.A, s.Z, q) / (phi(s.A, s.Z, L_C) + p.eps) + penalty)


def gradient_P(Z: Matrix, s: State, L_M: Matrix, L_C: Matrix, p: Parameters) -> Matrix:
    """∇P(Z), term by term as printed."""
    m, n = Z.shape
    n_l = len(L_M)
    one = np.ones(m)
    tau_1 = phi_s(s.A, Z, s.q) + p.lambda_M * phi(s.A, Z, L_M)
    tau_2 = phi(s.A, Z, L_C) + p.eps
    L_pc = 2 * p.lambda_M / tau_2 * L_M - 2 * tau_1 / tau_2**2 * L_C
    AtA = s.A.T @ s.A
    D = np.diag(s.q**-0.5)
    r = Z @ Z.T @ one - s.q
    pairs = np.hstack([p.beta * AtA @ Z[:, :n_l] @ L_pc, np.zeros((m, n - n_l))])
    return (
        -s.Lam
        + p.lam * (Z - s.B)
        + p.lambda_Z * np.ones((m, n))
        + p.mu * Z
        + pairs
        - 2 * p.beta / tau_2 * D @ AtA @ D @ Z
        + p.lam0 * (np.outer(r, one @ Z) + np.outer(one, r @ Z))
    )


def gradient_Q(q: Matrix, s: State, L_C: Matrix, p: Parameters) -> Matrix:
    """∇Q(q) as printed."""
    tau_2 = phi(s.A, s.Z, L_C) + p.eps
    W = s.Z @ s.Z.T
    inner = W @ np.diag(q**-0.5) @ s.A.T @ s.A @ np.diag(q**-1.5)
    return p.beta / tau_2 * np.diag(inner) + p.lam0 * (q - W @ np.ones(len(q)))


def cross_products(X: list[Matrix], U: list[Matrix]) -> tuple[Matrix, Matrix]:
    """G = Σ UᵀU and E = Σ UᵀX."""
    G = sum(u.T @ u for u in U)
    E = sum(u.T @ x for u, x in zip(U, X, strict=True))
    return np.asarray(G), np.asarray(E)


def project(Z: Matrix, p: Parameters) -> Matrix:
    """Clip Z into S_1."""
    Z = np.minimum(p.m_Z, np.maximum(0, Z))
    return Z / (Z.sum(axis=0) + np.finfo(float).eps) if p.released else Z


def initial_state(X: list[Matrix], U: list[Matrix], k: int, p: Parameters) -> State:
    """The line "Initialize" of Algorithm 1; q is clipped into S_2, else unused landmarks divide by zero."""
    G, E = cross_products(X, U)
    m, n = E.shape
    B = np.linalg.inv(p.lam * np.eye(m) + G) @ E
    Z = project(B - p.lambda_Z / p.lam, p)
    q = np.clip(Z @ Z.T @ np.ones(m), p.eps_q, n)
    return State(np.zeros((k, m)), Z, q, B, np.zeros((m, n)))


def iterate(s: State, X: list[Matrix], U: list[Matrix], L_M: Matrix, L_C: Matrix, p: Parameters) -> State:
    """One pass of the loop of Algorithm 1: A, Z, q, B, Λ, each from the newest of the others."""
    G, E = cross_products(X, U)
    m, n = E.shape
    k = len(s.A)
    identity = np.eye(m)
    L_d, L_f = trace_ratio_matrices(s.Z, s.q, L_M, L_C, k, p)
    s = State(trace_ratio(L_d, L_f, k), s.Z, s.q, s.B, s.Lam)
    if p.released:
        s.A = s.A / np.linalg.norm(s.A, axis=0)
    s.Z = project(s.Z - gradient_P(s.Z, s, L_M, L_C, p) / p.lam, p)
    s.q = np.minimum(n, np.maximum(p.eps_q, s.q - gradient_Q(s.q, s, L_C, p) / p.lam))
    s.B = np.linalg.inv(G + p.lam * identity) @ (E + p.lam * s.Z - s.Lam)
    s.Lam = s.Lam + p.lam * (s.B - s.Z)
    return s


def algorithm_1(
    X: list[Matrix],
    U: list[Matrix],
    L_M: Matrix,
    L_C: Matrix,
    k: int,
    p: Parameters,
    n_iter: int = 30,
) -> State:
    """Algorithm 1 for a fixed number of iterations with η_z = η_q = 1/λ."""
    s = initial_state(X, U, k, p)
    for _ in range(n_iter):
        s = iterate(s, X, U, L_M, L_C, p)
    return s


def objective(A: Matrix, Z: Matrix, X: list[Matrix], U: list[Matrix], L_M: Matrix, L_C: Matrix, p: Parameters) -> float:
    """J(A, Z), with D_Z = diag(Z Zᵀ 1) and the ridge μ."""
    fit = sum(np.sum((x - u @ Z) ** 2) for x, u in zip(X, U, strict=True)) / 2
    smooth = phi_s(A, Z, Z @ Z.T @ np.ones(len(Z)))
    ratio = (smooth + p.lambda_M * phi(A, Z, L_M)) / (phi(A, Z, L_C) + p.eps)
    return float(fit + p.lambda_Z * np.abs(Z).sum() + p.mu / 2 * np.sum(Z**2) + p.beta * ratio)


def augmented_lagrangian(s: State, X: list[Matrix], U: list[Matrix], L_M: Matrix, L_C: Matrix, p: Parameters) -> float:
    """L_λ(A, Z, q, B, Λ), eq. L."""
    fit = sum(np.sum((x - u @ s.B) ** 2) for x, u in zip(X, U, strict=True)) / 2
    ratio = (phi_s(s.A, s.Z, s.q) + p.lambda_M * phi(s.A, s.Z, L_M)) / (phi(s.A, s.Z, L_C) + p.eps)
    return float(
        fit
        + p.lambda_Z * np.abs(s.Z).sum()
        + p.mu / 2 * np.sum(s.Z**2)
        + np.sum(s.Lam * (s.B - s.Z))
        + p.beta * ratio
        + p.lam / 2 * np.sum((s.B - s.Z) ** 2)
        + p.lam0 / 2 * np.sum((s.q - s.Z @ s.Z.T @ np.ones(len(s.Z))) ** 2)
    )
