"""What a run is asked to do: from options, from a .toml file, and written to one that repeats it."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import tomllib
from dataclasses import dataclass, field
from functools import partial
from pathlib import Path
from typing import Any

from .errors import UsageError
from .sources import map_files
from .view_spec import parse_views

_TYPES: dict[str, tuple[type, ...]] = {
    "table": (str,),
    "views": (list,),
    "id": (str,),
    "label": (str,),
    "labels": (list, str),
    "on_conflict": (str,),
    "unlabelled": (str,),
    "order": (str,),
    "assume_order": (bool,),
    "columns": (dict,),
    "labels_from_folders": (bool,),
    "image_encoder": (str,),
    "text_encoder": (str,),
    "fast": (bool,),
    "clusters": (int,),
    "memory_limit": (int, float),
    "seed": (int,),
    "jobs": (int,),
    "strict": (bool,),
    "keep_rows": (bool,),
    "output": (str,),
    "parameters": (dict,),
}
_PATHS = ("table", "output", "image_encoder")
LATER, ERROR = "later", "error"  # what is done where sources of labels disagree
NO_ID = "none"  # as the name of the column of ids: rows are numbered


@dataclass(frozen=True)
class RunSettings:
    """What a run is asked to do; the fields are the keys of the .toml file.

    Parameters
    ----------
    table : Path or None
        The one table.
    views : list of str
        Each ``NAME=SPEC``.
    id, label : str or None
        Columns of ids and of labels. The id "none" numbers the rows.
    labels : list of Path
        Files of labels; a later one goes before an earlier one, and all go before the column.
    on_conflict : {"later", "error"}
        What happens where they disagree.
    unlabelled : str or None
        The value that means "no label".
    order : str or None
        Whose order the files without ids have: the name of a view, or a file of ids.
    assume_order : bool
        Whether they have the order of the first file with ids.
    columns : dict of str to str
        What columns of a raw table are.
    labels_from_folders : bool
        Whether the folder that a photo is in is its label.
    image_encoder : Path or None
        An .onnx file that encodes photos.
    text_encoder : str or None
        What encodes text: "auto", "wordllama", or the folder of a model.
    fast : bool
        The plain model in place of the tuned one.
    clusters : int or None
        Number of clusters, without labels.
    memory_limit : float or None
        GB that the fit may take.
    seed, jobs : int
        Random seed, and number of threads.
    strict : bool
        Whether a fit that did not converge is an error.
    keep_rows : bool
        Whether the model keeps what further rounds of labelling need.
    output : Path or None
        Folder for the results; it is not written to run.toml, since a run does not replace itself.
    parameters : dict
        Further parameters of the estimator.
    """

    table: Path | None = None
    views: list[str] = field(default_factory=list)
    id: str | None = None
    label: str | None = None
    labels: list[Path] = field(default_factory=list)
    on_conflict: str = LATER
    unlabelled: str | None = None
    order: str | None = None
    assume_order: bool = False
    columns: dict[str, str] = field(default_factory=dict)
    labels_from_folders: bool = False
    image_encoder: Path | None = None
    text_encoder: str | None = None
    fast: bool = False
    clusters: int | None = None
    memory_limit: float | None = None
    seed: int = 0
    jobs: int | None = None
    strict: bool = False
    keep_rows: bool = False
    output: Path | None = None
    parameters: dict[str, Any] = field(default_factory=dict)

    def override(self, given: dict[str, Any]) -> RunSettings:
        """Return the settings with those options that were given; files of labels, and kinds of columns, are added."""
        told = {
            name: value for name, value in given.items() if value is not None and value is not False and value != []
        }
        if "labels" in told:  # a round of labelling adds to the ones before it
            known = [path.resolve() for path in self.labels]
            told["labels"] = [*self.labels, *(path for path in told["labels"] if path.resolve() not in known)]
        if "columns" in told:
            told["columns"] = self.columns | told["columns"]
        return dataclasses.replace(self, **told)

    def files(self) -> list[Path]:
        """Return the files that are read."""
        specs = parse_views(self.views)
        order = [Path(str(self.order))] if self._order_is_file() else []
        named = (self.table, *self.labels, *order, *(spec.path for spec in specs))
        return [path for path in named if path is not None]

    def _order_is_file(self) -> bool:
        return self.order is not None and self.order not in [spec.name for spec in parse_views(self.views)]

    def seen_from(self, folder: Path) -> RunSettings:
        """Return the settings with files named as they are found from a folder, wherever both are moved together."""
        specs = [
            spec if spec.path is None else dataclasses.replace(spec, path=_seen_from(folder, spec.path))
            for spec in parse_views(self.views)
        ]
        return dataclasses.replace(
            self,
            table=None if self.table is None else map_files(self.table, partial(_seen_from, folder)),
            image_encoder=None if self.image_encoder is None else _seen_from(folder, self.image_encoder),
            labels=[_seen_from(folder, path) for path in self.labels],
            views=[str(spec) for spec in specs],
            order=str(_seen_from(folder, Path(str(self.order)))) if self._order_is_file() else self.order,
        )

    def to_toml(self, folder: Path) -> str:
        """Return the settings as a file in `folder` that repeats the run, whatever folder one is in."""
        whole = dataclasses.replace(self.seen_from(folder), output=None)
        values = {item.name: getattr(whole, item.name) for item in dataclasses.fields(whole)}
        tables = {name: values.pop(name) for name in ("columns", "parameters")}
        lines = [f"{name} = {write_value(value)}" for name, value in values.items() if value not in (None, [])]
        for name, entries in tables.items():
            if entries:
                lines += [
                    "",
                    f"[{name}]",
                    *(f"{write_key(key)} = {write_value(value)}" for key, value in entries.items()),
                ]
        return "\n".join(lines) + "\n"


def read_settings(path: Path) -> RunSettings:
    """Read settings from a .toml file; paths in it are relative to its folder."""
    try:
        values = tomllib.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise UsageError(f"{path} cannot be read: {error.strerror or error}.") from None
    except (tomllib.TOMLDecodeError, UnicodeDecodeError) as error:
        raise UsageError(f"{path}: {error}") from None
    for name, value in values.items():
        if name not in _TYPES:
            raise UsageError(f"{path}: {name!r} is no setting; there are {', '.join(_TYPES)}.")
        if not isinstance(value, _TYPES[name]) or (isinstance(value, bool) and bool not in _TYPES[name]):
            raise UsageError(f"{path}: {name} = {value!r} is not of the right type ({_TYPES[name][0].__name__}).")
    if values.get("on_conflict", LATER) not in (LATER, ERROR):
        raise UsageError(f"{path}: on_conflict = {values['on_conflict']!r} must be {LATER!r} or {ERROR!r}.")
    values |= {name: map_files(Path(values[name]), path.parent.joinpath) for name in _PATHS if name in values}
    if "labels" in values:
        listed = [values["labels"]] if isinstance(values["labels"], str) else values["labels"]
        values["labels"] = [path.parent / str(name) for name in listed]
    specs = parse_views([str(text) for text in values.get("views", [])], path.parent)
    if specs:
        values["views"] = [str(spec) for spec in specs]
    if "order" in values and values["order"] not in [spec.name for spec in specs]:
        values["order"] = str(path.parent / values["order"])
    return RunSettings(**values)


def write_value(value: Any) -> str:
    r"""Write a value as TOML does.

    Examples
    --------
    >>> print(write_value(["a", 1, 0.5, True]), write_value('say "hi"'))
    ["a", 1, 0.5, true] "say \"hi\""
    """
    if isinstance(value, dict):
        return "{" + ", ".join(f"{write_key(key)} = {write_value(one)}" for key, one in value.items()) + "}"
    if isinstance(value, list | tuple):
        return "[" + ", ".join(write_value(one) for one in value) + "]"
    if isinstance(value, bool):
        return "true" if value else "false"
    if isinstance(value, int | float):
        return repr(value)
    # JSON's text is TOML's, but for two things: surrogate pairs, and the character DEL.
    return json.dumps(str(value), ensure_ascii=False).replace("\x7f", "\\u007F")


def write_key(key: str) -> str:
    """Write a key, in quotes unless it is plain."""
    return key if re.fullmatch(r"[A-Za-z0-9_-]+", key) else write_value(key)


def _seen_from(folder: Path, path: Path) -> Path:
    try:
        return Path(os.path.relpath(path.resolve(), folder.resolve()))
    except ValueError:  # another drive
        return path.resolve()
