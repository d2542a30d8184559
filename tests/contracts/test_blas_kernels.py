"""The kernels of OpenBLAS, which the processor decides on, do not change what a fit says."""

from __future__ import annotations

import json
import os
import sys
from typing import Any

import pytest

from support.processes import run

KERNELS = ("Haswell", "Sandybridge")  # products with and without fused multiply-add
SKIPPED = 77
CODE = f"""
import hashlib, json, sys, warnings
import numpy as np
from threadpoolctl import threadpool_info
import scipy.linalg
from anchorview import ADMM, FSSMSC, datasets

found = {{pool["architecture"] for pool in threadpool_info() if pool["internal_api"] == "openblas"}}
if found != {{sys.argv[1]}}:
    sys.exit({SKIPPED})
warnings.simplefilter("ignore")
data = datasets.load_handwritten()
rows = slice(0, 2000, 5)
views, target = data.views[rows], data.target[rows]
y = datasets.hide_labels(target, 0.1, stratified=True, random_state=0)
rng = np.random.default_rng(0)
few = (rng.random((300, 200)) < 0.03).astype(np.float32)  # few words in common: a graph of many parts
few[:, :5] = 0
few[np.arange(300), rng.integers(5, 10, 300)] = 1
topic = rng.integers(0, 3, 300)
few[np.arange(300), 10 + topic] = 1
asked = datasets.hide_labels(topic, 0.1, stratified=True, random_state=0)
# Others judge settings.
settled = dict(view_weights=None, ridge=3.0, must_link_weight=3.0, readers="nearest", solver=ADMM(units="data"))
fits = {{
    "features as they are": (views, y, dict(scaling="none")),
    "features as they are, admm": (views, y, dict(scaling="none", **settled)),
    "a graph in parts, admm": ([few], asked, dict(scaling="l2", n_landmarks=90, **settled)),
}}
result = {{}}
for name, (X, known, options) in fits.items():
    model = FSSMSC(**{{"n_landmarks": 80, "random_state": 0, **options}}).fit(X, known)
    landmarks = hashlib.sha256(np.ascontiguousarray(model.landmarks_)).hexdigest()
    result[name] = dict(labels=model.labels_.tolist(), status=model.status_, landmarks=landmarks)
print(json.dumps(result))
"""


def fit_under(kernel: str) -> dict[str, Any]:
    """Fit in a process whose OpenBLAS runs a kernel; skip the test where that cannot be had."""
    environment = {**os.environ, "OPENBLAS_CORETYPE": kernel, "OMP_NUM_THREADS": "1"}
    done = run([sys.executable, "-c", CODE, kernel], env=environment, check=False)
    if done.returncode == SKIPPED:
        pytest.skip(f"NumPy and SciPy do not both run OpenBLAS with OPENBLAS_CORETYPE={kernel}")
    if done.returncode < 0:
        pytest.skip(f"this processor cannot run OpenBLAS's kernel {kernel} (signal {-done.returncode})")
    assert done.returncode == 0, done.stderr
    result: dict[str, Any] = json.loads(done.stdout)
    return result


def test_fits_are_the_same_under_two_kernels_of_openblas() -> None:
    one, other = (fit_under(kernel) for kernel in KERNELS)
    for name in one:
        assert one[name] == other[name], name
