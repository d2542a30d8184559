"""Labels to Label Studio and back: tasks with the model's labels as predictions, and the annotations people made."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from xml.sax.saxutils import quoteattr

ROW = "row_id"  # field of a task for the row it is about; in some exports "id" is the number of the task
CONTROL = "label"  # name of the choices in a labelling interface
SHOWN = "text"  # name of what is shown beside them
MODEL = "anchorview"
# Fields of a task's data, since exports of every kind keep those: the columns of labels and ids of the run's table.
LABEL_COLUMN, ID_COLUMN = "anchorview_label_column", "anchorview_id_column"


def make_tasks(
    labels: Iterable[Mapping[str, Any]],
    columns: Mapping[Any, Mapping[str, Any]] | None = None,
    *,
    control: str = CONTROL,
    shown: str = SHOWN,
    model_version: str = MODEL,
    label_column: str | None = None,
    id_column: str | None = None,
) -> Iterator[dict[str, Any]]:
    """Return a task of Label Studio for each row: a given label as an annotation, a label of the model as a prediction.

    Parameters
    ----------
    labels : iterable of mappings
        Rows of a run's table of labels: ``id``, ``label``, ``confidence``, ``source`` and, if there are any,
        ``second_label`` and ``second_confidence``. A row without a label becomes a task without a prediction.
    columns : mapping, optional
        By the ids of rows, what to show of them: ``{"r1": {"text": "..."}}``.
    control, shown : str
        Names of the ``Choices`` and of the object they are about, as the project's labelling interface has them.
    model_version : str
        Under which Label Studio lists the predictions.
    label_column, id_column : str, optional
        Columns of the run's table with its labels and ids; tasks name them, so that a fit with what people say uses
        the labels of the column too.

    Yields
    ------
    dict
        With ``data`` (``row_id`` and the columns), and ``predictions`` or ``annotations``.

    Examples
    --------
    >>> row = {"id": "r1", "label": "sports", "confidence": 0.9, "source": "model"}
    >>> task = next(make_tasks([row], {"r1": {"text": "2:1 at half-time"}}))
    >>> task["data"]
    {'row_id': 'r1', 'text': '2:1 at half-time'}
    >>> task["predictions"][0]["score"], task["predictions"][0]["result"][0]["value"]
    (0.9, {'choices': ['sports']})
    """
    named = {LABEL_COLUMN: label_column, ID_COLUMN: id_column}
    of_run = {field: name for field, name in named.items() if name is not None}
    for row in labels:
        task: dict[str, Any] = {"data": {ROW: row["id"], **((columns or {}).get(row["id"]) or {}), **of_run}}
        if row.get("label") is not None:
            choice = {
                "from_name": control,
                "to_name": shown,
                "type": "choices",
                "value": {"choices": [str(row["label"])]},
            }
            if row.get("source") == "given":
                task["annotations"] = [{"result": [choice]}]
            else:
                task["predictions"] = [
                    {"model_version": model_version, "score": row.get("confidence"), "result": [choice]}
                ]
                if row.get("second_label") is not None:
                    task["meta"] = {
                        "second_label": str(row["second_label"]),
                        "second_confidence": row.get("second_confidence"),
                    }
        yield task


def labelling_interface(classes: Iterable[Any], *fields: str, control: str = CONTROL, shown: str = SHOWN) -> str:
    """Return the labelling interface that fits the tasks, to be pasted into the settings of a project.

    It shows all `fields` of a task, by default its "text".

    Examples
    --------
    >>> print(labelling_interface(["sports", "R&D"]))
    <View>
      <Text name="text" value="$text"/>
      <Choices name="label" toName="text" choice="single" showInline="true">
        <Choice value="sports"/>
        <Choice value="R&amp;D"/>
      </Choices>
    </View>
    """
    choices = "\n".join(f"    <Choice value={quoteattr(str(name))}/>" for name in classes)
    texts = "\n".join(
        f"  <Text name={quoteattr(shown if number == 1 else f'{shown}{number}')} value={quoteattr('$' + field)}/>"
        for number, field in enumerate(fields or ("text",), start=1)
    )
    return (
        f"<View>\n{texts}\n"
        f'  <Choices name={quoteattr(control)} toName={quoteattr(shown)} choice="single" showInline="true">\n'
        f"{choices}\n  </Choices>\n</View>"
    )


@dataclass(frozen=True)
class Annotations:
    """What people said.

    Parameters
    ----------
    labels : dict
        Label of each row, by its id.
    n_tasks : int
        Tasks in the file.
    n_skipped : int
        Tasks without an annotation, or that were skipped.
    disagreeing : list
        Ids of rows that were labelled differently by different people; the latest label, or that marked as ground
        truth, is taken.
    label_column, id_column : str or None
        Columns of the table that the tasks were made from, if they name them.
    """

    labels: dict[Any, str]
    n_tasks: int
    n_skipped: int
    disagreeing: list[Any]
    label_column: str | None = None
    id_column: str | None = None


def read_tasks(path: Path) -> Iterator[tuple[str, dict[str, Any]]]:
    """Return the tasks of an export, each with its place in words; an error if it is no such file."""
    try:
        tasks = json.loads(path.read_text(encoding="utf-8-sig"))
    except (UnicodeDecodeError, json.JSONDecodeError, RecursionError) as error:
        raise ValueError(f"{path} is not JSON ({error}); export the project from Label Studio as JSON.") from None
    if not isinstance(tasks, list) or not all(isinstance(task, dict) for task in tasks):
        raise ValueError(f"{path} is not an export of Label Studio: it is no list of tasks.")
    for number, task in enumerate(tasks):
        yield f"{path}, task {task.get('id', number + 1)}", task


def read_annotations(path: Path, *, row: str = ROW, control: str | None = None) -> Annotations:
    """Read an export of Label Studio: JSON, or JSON-MIN.

    Parameters
    ----------
    path : Path
        The file.
    row : str
        Field of the tasks' data that names the row.
    control : str, optional
        Name of the ``Choices`` to read; needed only if there are several.

    Raises
    ------
    ValueError
        If the file is no such export; the message names the task.
    """
    labels: dict[Any, str] = {}
    columns: dict[str, str] = {}
    disagreeing, n_skipped = [], 0
    tasks = list(read_tasks(path))
    for where, task in tasks:
        whole = isinstance(task.get("data"), dict)
        data = task["data"] if whole else task
        columns |= {field: name for field in (LABEL_COLUMN, ID_COLUMN) if isinstance(name := data.get(field), str)}
        said = _said_by_people(task, control, where) if whole else _said_in_short(task, control or CONTROL, where)
        if not said:
            n_skipped += 1
            continue
        if row not in data or isinstance(data[row], dict | list):
            raise ValueError(f"{where} has no field {row!r} in its data, so its row is unknown.")
        key = data[row]
        if len(set(said)) > 1 or labels.get(key, said[-1]) != said[-1]:
            disagreeing.append(key)
        labels[key] = said[-1]
    named = columns.get(LABEL_COLUMN), columns.get(ID_COLUMN)
    return Annotations(labels, len(tasks), n_skipped, list(dict.fromkeys(disagreeing)), *named)


def _said_by_people(task: Mapping[str, Any], control: str | None, where: str) -> list[str]:
    """Return the labels of a task, the one to be taken last."""
    annotations = task.get("annotations", task.get("completions")) or []
    if not isinstance(annotations, list) or not all(isinstance(one, dict) for one in annotations):
        raise ValueError(f"{where}: its annotations are no list of annotations.")
    valid = [one for one in annotations if not one.get("was_cancelled")]
    valid.sort(
        key=lambda one: (bool(one.get("ground_truth")), str(one.get("updated_at") or one.get("created_at") or ""))
    )
    return [label for one in valid if (label := choice_of(one, control, where)) is not None]


def choice_of(annotation: Mapping[str, Any], control: str | None, where: str) -> str | None:
    """Return the label of an annotation; None if it has none."""
    results = [one for one in annotation.get("result") or [] if isinstance(one, dict) and one.get("type") == "choices"]
    names = list(dict.fromkeys(str(one.get("from_name")) for one in results))
    if control is None and len(names) > 1:
        raise ValueError(f"{where} has several choices ({', '.join(names)}); say which of them are the labels.")
    chosen = [one for one in results if control is None or one.get("from_name") == control]
    listed = [label for one in chosen for label in (one.get("value") or {}).get("choices") or []]
    return _one_label(listed, where)


def _said_in_short(task: Mapping[str, Any], control: str, where: str) -> list[str]:
    """Return the label of a task of JSON-MIN, where the choices stand beside the data."""
    value = task.get(control)
    if isinstance(value, dict):  # several choices
        value = value.get("choices")
    label = _one_label(value if isinstance(value, list) else [] if value in (None, "") else [value], where)
    return [] if label is None else [label]


def _one_label(listed: list[Any], where: str) -> str | None:
    if len(listed) > 1:
        raise ValueError(f"{where} has several labels ({', '.join(map(str, listed[:5]))}); a row has one class.")
    return None if not listed else str(listed[0])
