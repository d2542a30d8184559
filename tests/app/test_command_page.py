"""docs/command.md: a newcomer can follow it, since every block of it runs, in order."""

from __future__ import annotations

import json
import re
import shlex
from pathlib import Path
from typing import Any

import pytest

from anchorview.app.settings import read_settings
from support.command import invoke, read_csv

PAGE = (Path(__file__).parents[2] / "docs" / "command.md").read_text()
README = (Path(__file__).parents[2] / "README.md").read_text()
OUTPUT = re.findall(r"^(?:40 labels|  \w+: (?:text|number)).*$", README, flags=re.MULTILINE)  # the same for any model
BLOCKS = re.findall(r"```(\w*)\n(.*?)```", PAGE, flags=re.DOTALL)


def test_the_page_can_be_followed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    commands, printed = [], ""
    for kind, block in BLOCKS:
        if kind == "python":
            exec(block, names)
        elif kind == "toml":
            Path("own.toml").write_text(block)
            assert read_settings(Path("own.toml")).columns == {"price": "ignore"}
        elif kind == "console":
            for line in block.splitlines():
                words = shlex.split(line.removeprefix("$ anchorview "))
                if words[0] == "fit" and "--fast" not in words:
                    words.append("--fast")  # the tuned model takes its time; it is tested elsewhere
                done = invoke(*words)
                assert done.exit_code == 0, (line, done.output)
                commands.append(words[0])
                printed += done.output
    assert commands == ["fit", "fit", "predict", "report", "export", "export"]
    truth = [row[4] for row in names["rows"]]
    labels = [row["label"] for row in read_csv(tmp_path / "run" / "labels.csv")]
    assert sum(label == topic for label, topic in zip(labels, truth, strict=True)) > 140
    assert list(names["labels"]) == [row["label"] for row in read_csv(tmp_path / "tomorrow-labels.csv")]
    assert len(json.loads((tmp_path / "tasks.json").read_text())) == 20
    assert [line for line in OUTPUT if line not in printed] == []
    assert "review: text, such as" in capsys.readouterr().out


@pytest.mark.slow
def test_the_output_in_readme_is_that_of_today(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    exec(BLOCKS[1][1], {})
    done = invoke("fit", "reviews.csv", "--label", "topic", "-o", "run")
    assert done.exit_code == 0, done.output
    shown = [*OUTPUT, *(line for line in README.splitlines() if line.startswith("Expected accuracy"))]
    assert [line for line in shown if line not in done.output] == []


def test_the_files_of_a_run_are_named(raw_run: Path) -> None:
    table = PAGE.partition("The folder `run` contains")[2].partition("The folder is created")[0]
    named = set(
        re.findall(r"`([\w.]+\.\w+)`", "\n".join(line.split("|")[1] for line in table.splitlines() if "|" in line))
    )
    assert named == {path.name for path in raw_run.iterdir()}
