"""Codes in files: what a fit that was killed has left of them goes with the next."""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

import pytest
from scipy import sparse

from anchorview.solver.disk_codes import DiskCodeStack

KILLED = """
import os, signal
from scipy import sparse
from anchorview.solver.disk_codes import DiskCodeStack
stack = DiskCodeStack(2)
stack.add(sparse.csr_array([[1.0, 0.0]]))
os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.mark.skipif(sys.platform == "win32", reason="SIGKILL")
def test_codes_of_a_process_that_was_killed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("TMPDIR", str(tmp_path))
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
    subprocess.run([sys.executable, "-c", KILLED], check=False)
    left = set(tmp_path.glob("anchorview-codes-*"))
    assert len(left) == 1
    stack = DiskCodeStack(2)
    stack.add(sparse.csr_array([[0.0, 3.0]]))
    codes = stack.codes()
    del stack
    assert len(list(tmp_path.iterdir())) == 1
    assert not left & set(tmp_path.iterdir())
    assert codes[:].toarray().tolist() == [[0.0, 3.0]]
    del codes
    assert list(tmp_path.iterdir()) == []
