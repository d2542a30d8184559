"""Small files for the command, and the command itself as a user types it, in this process."""

from __future__ import annotations

import csv
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np
from typer.testing import CliRunner

from anchorview.app.cli import app

# Nothing to choose, and few landmarks: a fit takes a tenth of a second.
QUICK = (
    'text_encoder = "none"\n[parameters]\nn_landmarks = 12\nscaling = "auto"\nridge = 1.0\n'
    'must_link_weight = 3.0\nreaders = "nearest"\n'
)
TOPICS = {"car": "engine wheel brake road", "food": "oven flour sugar bread", "sport": "racket goal pitch ball"}


def invoke(*words: Any) -> Any:
    """Run the command in this process."""
    return CliRunner().invoke(app, [str(word) for word in words])


def refused(*words: Any, code: int) -> str:
    """Run the command, which must end with this exit code and one line; return the line."""
    done = invoke(*words)
    assert done.exit_code == code, done.output + repr(done.exception)
    assert "Traceback" not in done.output
    lines = [line for line in done.stderr.splitlines() if line.startswith("Error: ")]
    assert len(lines) == 1, done.stderr
    return lines[0].removeprefix("Error: ")


def write_csv(path: Path, columns: Mapping[str, Sequence[Any]], delimiter: str = ",") -> Path:
    """Write a table as CSV, None as an empty cell."""
    with path.open("w", newline="", encoding="utf-8") as stream:
        writer = csv.writer(stream, delimiter=delimiter)
        writer.writerow(columns)
        writer.writerows(zip(*columns.values(), strict=True))
    return path


def read_csv(path: Path) -> list[dict[str, str]]:
    """Read a table from CSV."""
    with path.open(newline="", encoding="utf-8") as stream:
        return list(csv.DictReader(stream))


def reviews(n_rows: int = 90, seed: int = 0) -> dict[str, list[Any]]:
    """Return a raw table of three topics; the first 30 rows are labelled."""
    rng = np.random.RandomState(seed)
    topics = [list(TOPICS)[row % 3] for row in range(n_rows)]
    words = [TOPICS[topic].split() for topic in topics]
    return {
        "id": [f"r{row:03d}" for row in range(n_rows)],
        "text": [
            f"the {rng.choice(w)} and the {rng.choice(w)} with {rng.choice(w)} {row}" for row, w in enumerate(words)
        ],
        "price": [round(float(rng.rand()) + row % 3, 3) for row in range(n_rows)],
        "shop": [["north", "south"][rng.randint(2)] for _ in range(n_rows)],
        "topic": [topic if row < 30 else None for row, topic in enumerate(topics)],
    }


def quick(folder: Path) -> Path:
    """Write a configuration with which a fit is quick."""
    path = folder / "quick.toml"
    path.write_text(f"fast = true\n{QUICK}")
    return path
