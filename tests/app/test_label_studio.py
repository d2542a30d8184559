"""Tasks for Label Studio, and what comes back from it."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ElementTree
from pathlib import Path
from typing import Any

import pytest

from anchorview.app.label_studio import labelling_interface, make_tasks, read_annotations

ROWS = [
    {
        "id": "r1",
        "label": "sports",
        "confidence": 0.75,
        "second_label": "news",
        "second_confidence": 0.2,
        "source": "model",
    },
    {
        "id": "r2",
        "label": "news",
        "confidence": 1.0,
        "second_label": None,
        "second_confidence": None,
        "source": "given",
    },
    {"id": 3, "label": None, "confidence": 0.0, "source": "model"},
]


def test_labels_of_the_model_are_predictions_and_given_ones_annotations() -> None:
    model, given, none = make_tasks(ROWS, {"r1": {"text": "2:1"}, 3: None})
    assert model["data"] == {"row_id": "r1", "text": "2:1"}
    (prediction,) = model["predictions"]
    assert (prediction["model_version"], prediction["score"]) == ("anchorview", 0.75)
    assert prediction["result"] == [
        {"from_name": "label", "to_name": "text", "type": "choices", "value": {"choices": ["sports"]}}
    ]
    assert model["meta"] == {"second_label": "news", "second_confidence": 0.2}
    assert "annotations" not in model
    assert given["annotations"][0]["result"][0]["value"] == {"choices": ["news"]}
    assert "predictions" not in given
    assert none == {"data": {"row_id": 3}}


def test_names_of_the_interface() -> None:
    (task,) = make_tasks(ROWS[:1], control="topic", shown="article", model_version="run 7")
    result = task["predictions"][0]["result"][0]
    assert (result["from_name"], result["to_name"]) == ("topic", "article")
    assert task["predictions"][0]["model_version"] == "run 7"


def test_the_interface_fits_the_tasks_and_is_escaped() -> None:
    classes = ["<script>alert(1)</script>", "a \"b\" & 'c'", 7]
    view = ElementTree.fromstring(labelling_interface(classes, "body"))
    (text,), (choices,) = view.findall("Text"), view.findall("Choices")
    assert text.attrib == {"name": "text", "value": "$body"}
    assert (choices.attrib["name"], choices.attrib["toName"]) == ("label", "text")
    assert [one.attrib["value"] for one in choices] == [str(name) for name in classes]


def test_the_interface_shows_every_field() -> None:
    view = ElementTree.fromstring(labelling_interface(["a"], "sender", "body"))
    assert [text.attrib["value"] for text in view.findall("Text")] == ["$sender", "$body"]
    assert len({text.attrib["name"] for text in view.findall("Text")}) == 2
    assert view.find("Choices").attrib["toName"] == view.findall("Text")[0].attrib["name"] == "text"


# Back


def annotation(label: Any, **about: Any) -> dict[str, Any]:
    labels = label if isinstance(label, list) else [label]
    result = {"from_name": "label", "to_name": "text", "type": "choices", "value": {"choices": labels}}
    return {"id": 1, "result": [result], "was_cancelled": False, **about}


def task(row: Any, *annotations: dict[str, Any], **more: Any) -> dict[str, Any]:
    return {"id": 17, "data": {"row_id": row, "text": "…"}, "annotations": list(annotations), **more}


def read(tmp_path: Path, tasks: Any, **options: Any) -> Any:
    path = tmp_path / "export.json"
    path.write_text(tasks if isinstance(tasks, str) else json.dumps(tasks))
    return read_annotations(path, **options)


def test_what_was_sent_comes_back(tmp_path: Path) -> None:
    back = read(tmp_path, list(make_tasks(ROWS)))
    assert back.labels == {"r2": "news"}  # predictions are not what people said
    assert (back.n_tasks, back.n_skipped) == (3, 2)


def test_skipped_tasks_have_no_label(tmp_path: Path) -> None:
    tasks = [
        task("a", annotation("x")),
        task("b", annotation("x", was_cancelled=True)),
        task("c"),
        task("d", {"result": []}),
    ]
    back = read(tmp_path, tasks)
    assert back.labels == {"a": "x"}
    assert back.n_skipped == 3


def test_the_latest_of_several_is_taken_unless_one_is_the_truth(tmp_path: Path) -> None:
    early, late = annotation("x", updated_at="2024-01-01"), annotation("y", updated_at="2024-02-01")
    truth = annotation("z", updated_at="2023-01-01", ground_truth=True)
    back = read(tmp_path, [task("a", late, early), task("b", late, truth, early), task("c", early, early)])
    assert back.labels == {"a": "y", "b": "z", "c": "x"}
    assert back.disagreeing == ["a", "b"]


def test_a_row_that_two_tasks_are_about(tmp_path: Path) -> None:
    back = read(tmp_path, [task("a", annotation("x")), task("a", annotation("y"))])
    assert back.labels == {"a": "y"}
    assert back.disagreeing == ["a"]


def test_the_short_form(tmp_path: Path) -> None:
    tasks = [
        {"id": 1, "row_id": "a", "text": "…", "label": "x", "annotator": 1},
        {"id": 2, "row_id": "b", "text": "…"},
        {"id": 3, "row_id": "c", "label": {"choices": ["y"]}},
    ]
    assert read(tmp_path, tasks).labels == {"a": "x", "c": "y"}
    assert read(tmp_path, [{"row_id": "a", "topic": "x"}], control="topic").labels == {"a": "x"}


def test_the_form_of_old_versions(tmp_path: Path) -> None:
    old = {"id": 1, "data": {"row_id": "a"}, "completions": [annotation("x")]}
    assert read(tmp_path, [old]).labels == {"a": "x"}


def test_several_choices_need_a_name(tmp_path: Path) -> None:
    both = annotation("x")
    both["result"].append({"from_name": "quality", "type": "choices", "value": {"choices": ["good"]}})
    with pytest.raises(ValueError, match=r"export\.json, task 17 has several choices \(label, quality\)"):
        read(tmp_path, [task("a", both)])
    assert read(tmp_path, [task("a", both)], control="quality").labels == {"a": "good"}


@pytest.mark.parametrize(
    ("tasks", "words"),
    [
        ("id,label\n", "is not JSON .*export the project from Label Studio as JSON"),
        ("[" * 100_000, "is not JSON"),
        ({"tasks": []}, "is no list of tasks"),
        ([1, 2], "is no list of tasks"),
        ([task("a", annotation(["x", "y"]))], r"task 17 has several labels \(x, y\); a row has one class"),
        ([{"id": 5, "data": {"text": "…"}, "annotations": [annotation("x")]}], "task 5 has no field 'row_id'"),
        ([{"data": {"row_id": {}}, "annotations": [annotation("x")]}], "task 1 has no field 'row_id'"),
        ([{"id": 5, "data": {"row_id": 1}, "annotations": "x"}], "task 5: its annotations are no list"),
        ([{"row_id": 1, "label": ["x", "y"]}], "task 1 has several labels"),
    ],
)
def test_files_that_are_no_exports(tasks: Any, words: str, tmp_path: Path) -> None:
    with pytest.raises(ValueError, match=words):
        read(tmp_path, tasks)


def test_bytes_that_are_no_text(tmp_path: Path) -> None:
    (tmp_path / "x").write_bytes(b"\xff\xfe\x00")
    with pytest.raises(ValueError, match="is not JSON"):
        read_annotations(tmp_path / "x")
