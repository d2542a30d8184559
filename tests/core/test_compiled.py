"""Compiled kernels work wherever they can be read, written or not."""

from __future__ import annotations

import importlib
import importlib.util
import os
import shutil
import sys
import tempfile
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numba
import pytest

import anchorview
from support.processes import SECONDS, run

PACKAGE = Path(anchorview.__file__).parent
KERNEL = """
from anchorview.core.compiled import compiled

@compiled(fastmath=True)
def double(x):
    return 2 * x
"""
IMPORT = """
import numpy as np
import anchorview.baselines
from anchorview import FSSMSC, AnchorViewClassifier
from anchorview.features import kernels, ranking
from anchorview.solver.kernels import dot_codes
assert dot_codes(np.arange(4), np.arange(3), np.ones(3), np.ones(3), np.eye(3)) == 3.0
"""  # every kernel is defined, and a small one compiled
FIT = """
from anchorview import FSSMSC, AnchorViewClassifier, datasets
data = datasets.make_multiview_subspaces(300, 3, (8, 6), random_state=0)
for model in (FSSMSC(n_landmarks=20, random_state=0), AnchorViewClassifier(n_landmarks=20, random_state=0)):
    assert (model.fit(data.views, data.target).predict(data.views) == data.target).mean() > 0.9
"""


@pytest.fixture
def nowhere(tmp_path: Path) -> Path:
    """A path in which nothing can be made, not even by root: it is below a file."""
    (tmp_path / "file").write_text("")
    return tmp_path / "file" / "below"


@pytest.fixture
def define(tmp_path: Path, nowhere: Path, monkeypatch: pytest.MonkeyPatch) -> Callable[[], Any]:
    """Define a kernel in a read-only folder, as a new process would: home and numba's folder cannot be written."""
    folder = tmp_path / "installed"
    folder.mkdir()
    (folder / "__pycache__").write_text("")
    (folder / "some_kernel.py").write_text(KERNEL)
    for name in ("HOME", "XDG_CACHE_HOME", "LOCALAPPDATA"):
        monkeypatch.setenv(name, str(nowhere))
    monkeypatch.setattr(numba.config, "CACHE_DIR", "")
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    monkeypatch.setattr(sys, "dont_write_bytecode", True)

    def make() -> Any:
        spec = importlib.util.spec_from_file_location("some_kernel", folder / "some_kernel.py")
        assert spec is not None and spec.loader is not None
        module = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(module)
        return module.double

    return make


def hits(kernel: Any) -> int:
    """Call the kernel, and tell how often it was found on disk."""
    assert kernel(3) == 6
    return sum(kernel.stats.cache_hits.values())


def test_the_temporary_folder_serves_where_numba_has_none(define: Callable[[], Any], tmp_path: Path) -> None:
    assert [hits(define()), hits(define())] == [0, 1]
    (folder,) = (path for path in tmp_path.glob("anchorview*") if path.is_dir())
    assert os.name == "nt" or folder.stat().st_mode & 0o777 == 0o700
    assert list(folder.rglob("*.nbc"))
    assert numba.config.CACHE_DIR == ""


def test_where_nothing_can_be_written_each_process_compiles(
    define: Callable[[], Any], nowhere: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tempfile, "tempdir", str(nowhere))
    assert [hits(define()), hits(define())] == [0, 0]


def test_a_folder_named_by_the_user_is_used_if_it_can_be_written(
    define: Callable[[], Any], nowhere: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(nowhere))
    assert [hits(define()), hits(define())] == [0, 1]  # the temporary folder again
    assert str(nowhere) == numba.config.CACHE_DIR
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(tmp_path / "named"))
    assert [hits(define()), hits(define())] == [0, 1]
    assert list((tmp_path / "named").rglob("*.nbc"))


@pytest.mark.skipif(not hasattr(os, "getuid"), reason="folders of other users")
def test_a_temporary_folder_that_others_may_write_to_is_not_read(define: Callable[[], Any], tmp_path: Path) -> None:
    """What is read from it is run."""
    folder = tmp_path / f"anchorview-{os.getuid()}"
    folder.mkdir()
    folder.chmod(0o777)
    assert hits(define()) == 0
    assert not list(folder.iterdir())


def test_damaged_files_and_folders_that_go_do_not_stop_a_fit(
    define: Callable[[], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    kept = tmp_path / "kept"
    monkeypatch.setattr(numba.config, "CACHE_DIR", str(kept))
    assert hits(define()) == 0
    for path in kept.rglob("*.nb?"):
        path.write_bytes(b"damaged")
    assert hits(define()) == 0
    kernel = define()
    shutil.rmtree(kept)
    kept.write_text("a file where the folder was")
    assert hits(kernel) == 0


def test_kernels_in_a_zip_file(define: Callable[[], Any], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    """Where numba takes for granted that the home can be written, and would fail when it has compiled."""
    with zipfile.ZipFile(tmp_path / "package.zip", "w") as archive:
        archive.writestr("zipped_kernel.py", KERNEL)
    monkeypatch.syspath_prepend(tmp_path / "package.zip")
    assert hits(importlib.import_module("zipped_kernel").double) == 0
    del sys.modules["zipped_kernel"]


def test_jit_may_be_switched_off(define: Callable[[], Any], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(numba.config, "DISABLE_JIT", 1)
    assert define()(3) == 6


@pytest.mark.parametrize(
    "script", [pytest.param(IMPORT, id="IMPORT"), pytest.param(FIT, marks=pytest.mark.slow, id="FIT")]
)
def test_a_read_only_package_without_a_home(script: str, nowhere: Path, tmp_path: Path) -> None:
    """It imports and fits without a word."""
    copy = tmp_path / "installed" / "anchorview"
    shutil.copytree(PACKAGE, copy, ignore=shutil.ignore_patterns("__pycache__"))
    for folder in [copy, *(path for path in copy.rglob("*") if path.is_dir())]:
        (folder / "__pycache__").write_text("")
    variables = {"HOME": nowhere, "XDG_CACHE_HOME": nowhere, "TMPDIR": tmp_path, "PYTHONPATH": copy.parent}
    environment = os.environ | {name: str(value) for name, value in variables.items()}
    environment.pop("NUMBA_CACHE_DIR", None)
    done = run([sys.executable, "-c", script], seconds=600 if script == FIT else SECONDS, env=environment, check=False)
    assert (done.returncode, done.stdout, done.stderr) == (0, "", "")
