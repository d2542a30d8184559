"""The command: options and files of all kinds, run as `python -m anchorview` runs it."""

from __future__ import annotations

import contextlib
import io
import os
import subprocess
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np

from .case import EITHER, REFUSE, WORK, Broken, Case, VisibleLabels
from .files import MAT, NPZ

OPTIONS: dict[str, tuple[list[str], str]] = {  # FOLDER is an empty folder, GOOD a folder with a good file
    "nothing": ([], EITHER),
    "help": (["-h"], EITHER),
    "version": (["--version"], EITHER),
    "an unknown command": (["fit"], REFUSE),
    "an unknown option": (["demo", "--rows", "3"], REFUSE),
    "labels too many": (["demo", "--labels", "1.5"], REFUSE),
    "labels negative": (["demo", "--labels", "-1"], REFUSE),
    "labels NaN": (["demo", "--labels", "nan"], REFUSE),
    "labels text": (["demo", "--labels", "x"], REFUSE),
    "repeats 0": (["demo", "--repeats", "0"], REFUSE),
    "repeats text": (["demo", "--repeats", "many"], REFUSE),
    "seed text": (["demo", "--seed", "x"], REFUSE),
    "seed negative": (["demo", "--seed", "-5", "--output", "FOLDER/a.png"], REFUSE),
    "seed huge": (["demo", "--seed", str(10**30), "--output", "FOLDER/a.png"], REFUSE),
    "output of another kind": (["demo", "--output", "FOLDER/a.txt"], REFUSE),
    "output without a suffix": (["demo", "--output", "FOLDER/a"], REFUSE),
    "output into no folder": (["demo", "--output", "FOLDER/none/a.png"], REFUSE),
    "output a folder": (["demo", "--output", "FOLDER"], REFUSE),
    "data help": (["data", "-h"], EITHER),
    "data list": (["data", "list"], EITHER),
    "data list of nothing": (["data", "list", "FOLDER"], REFUSE),
    "data list of no folder": (["data", "list", "FOLDER/none"], REFUSE),
    "data check without a path": (["data", "check"], REFUSE),
    "data check of no file": (["data", "check", "FOLDER/none.npz"], REFUSE),
    "data check of good": (["data", "check", "GOOD"], EITHER),
    "bench help": (["bench", "-h"], EITHER),
    "bench unknown": (["bench", "tables"], REFUSE),
    "bench a method that is none": (["bench", "comparison", "--method", "magic", "--out", "FOLDER/o"], REFUSE),
    "bench a name that is none": (["bench", "comparison", "--name", "nothing", "--out", "FOLDER/o"], REFUSE),
    "bench data that is none": (["bench", "comparison", "--data", "FOLDER/no", "--out", "FOLDER/o"], REFUSE),
    "bench repeats 0": (["bench", "comparison", "--repeats", "0", "--out", "FOLDER/o"], REFUSE),
    "bench labels 2": (["bench", "comparison", "--labels", "2", "--out", "FOLDER/o"], REFUSE),
    "bench labels NaN": (
        ["bench", "comparison", "--labels", "nan", "--quick", "--method", "k-means", "--out", "FOLDER/o"],
        REFUSE,
    ),
    "bench select": (["bench", "comparison", "--select", "magic", "--out", "FOLDER/o"], REFUSE),
    "bench seed text": (["bench", "comparison", "--seed", "x", "--out", "FOLDER/o"], REFUSE),
    "bench rows few": (["bench", "scaling", "--rows", "3", "--out", "FOLDER/o"], REFUSE),
    "bench time 0": (["bench", "comparison", "--time-limit", "0", "--out", "FOLDER/o"], REFUSE),
    "bench memory negative": (["bench", "comparison", "--memory-limit", "-1", "--out", "FOLDER/o"], REFUSE),
}


_NEVER = ("\0",)  # whatever an exception says: out of the command it is a traceback


class _Wordless(Exception):
    """The command ended with a traceback, or with an error that does not say what is wrong."""


def make(rng: np.random.Generator) -> Case:
    """Run the command with options, or let it look at a file."""
    in_process = rng.random() < 0.93  # starting Python takes a second or two
    if rng.random() < 0.5:
        what = str(rng.choice(list(OPTIONS)))
        arguments, expect = OPTIONS[what]
        words = (*(word.lstrip("-").replace("FOLDER", "") for word in arguments), "path", "argument", "usage")
        run = lambda: _run(arguments, expect, words, in_process)  # noqa: E731
        return Case(f"anchorview {' '.join(arguments)}", run, EITHER, _NEVER)
    table = NPZ if rng.random() < 0.5 else MAT
    what = str(rng.choice([name for name in table if name != "a folder"]))
    write, expect = table[what]

    def check() -> None:
        with tempfile.TemporaryDirectory() as folder:
            _run(["data", "check", str(write(Path(folder)))], expect, ("data.", "nothing."), in_process)

    kind = "npz" if table is NPZ else "mat"
    return Case(f"anchorview data check ({kind}: {what})", check, EITHER, _NEVER)


def _run(arguments: list[str], expect: str, words: tuple[str, ...], in_process: bool) -> None:
    with tempfile.TemporaryDirectory() as folder:
        good, empty = Path(folder) / "good", Path(folder) / "empty"
        good.mkdir()
        empty.mkdir()
        NPZ["good"][0](good)
        given = [word.replace("FOLDER", str(empty)).replace("GOOD", str(good)) for word in arguments]
        code, said = _call(given, empty) if in_process else _start(given, empty)
    if "Traceback (most recent call last)" in said:
        raise _Wordless(said[-300:])
    if expect == REFUSE and code == 0:
        raise Broken(f"exit code 0; it said {said[-300:]!r}")
    if code == 0:
        return
    if expect == WORK or not any(word and word in said.lower() for word in words):
        raise _Wordless(f"exit code {code}: {said[-300:]}")
    raise VisibleLabels(said[-300:])


def _call(arguments: list[str], folder: Path) -> tuple[Any, str]:
    from anchorview.app.cli import app

    said = io.StringIO()
    before, columns = Path.cwd(), os.environ.get("COLUMNS")
    os.chdir(folder)
    os.environ["COLUMNS"] = "200"
    try:
        with contextlib.redirect_stdout(said), contextlib.redirect_stderr(said):
            try:
                app(arguments, prog_name="anchorview")
                code: Any = 0
            except SystemExit as end:
                code = end.code or 0
    finally:
        os.chdir(before)
        if columns is None:
            del os.environ["COLUMNS"]
    return code, said.getvalue()


def _start(arguments: list[str], folder: Path) -> tuple[int, str]:
    command = [sys.executable, "-m", "anchorview", *arguments]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, timeout=55, check=False)
    return done.returncode, done.stdout + done.stderr
