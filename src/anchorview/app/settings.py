"""What a run is asked to do: from options, from a .toml file, and written to one that repeats it."""

from __future__ import annotations

import dataclasses
import json
import os
import re
import tomllib
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from .errors import UsageError
from .view_spec import parse_views

_TYPES: dict[str, tuple[type, ...]] = {
    "table": (str,),
    "views": (list,),
    "id": (str,),
    "label": (str,),
    "labels": (str,),
    "unlabelled": (str,),
    "columns": (dict,),
    "fast": (bool,),
    "clusters": (int,),
    "memory_limit": (int, float),
    "seed": (int,),
    "jobs": (int,),
    "strict": (bool,),
    "output": (str,),
    "parameters": (dict,),
}
_PATHS = ("table", "labels", "output")


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
        Columns of ids and of labels.
    labels : Path or None
        File of labels.
    unlabelled : str or None
        The value that means "no label".
    columns : dict of str to str
        What columns of a raw table are.
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
    output : Path or None
        Folder for the results; it is not written to run.toml, since a run does not replace itself.
    parameters : dict
        Further parameters of the estimator.
    """

    table: Path | None = None
    views: list[str] = field(default_factory=list)
    id: str | None = None
    label: str | None = None
    labels: Path | None = None
    unlabelled: str | None = None
    columns: dict[str, str] = field(default_factory=dict)
    fast: bool = False
    clusters: int | None = None
    memory_limit: float | None = None
    seed: int = 0
    jobs: int | None = None
    strict: bool = False
    output: Path | None = None
    parameters: dict[str, Any] = field(default_factory=dict)

    def override(self, given: dict[str, Any]) -> RunSettings:
        """Return the settings with those options that were given."""
        told = {
            name: value for name, value in given.items() if value is not None and value is not False and value != []
        }
        return dataclasses.replace(self, **told)

    def files(self) -> list[Path]:
        """Return the files that are read."""
        of_views = [spec.path for spec in parse_views(self.views)]
        return [path for path in (self.table, self.labels, *of_views) if path is not None]

    def seen_from(self, folder: Path) -> RunSettings:
        """Return the settings with files named as they are found from a folder, wherever both are moved together."""
        table, labels = (None if path is None else _seen_from(folder, path) for path in (self.table, self.labels))
        specs = [
            spec if spec.path is None else dataclasses.replace(spec, path=_seen_from(folder, spec.path))
            for spec in parse_views(self.views)
        ]
        return dataclasses.replace(self, table=table, labels=labels, views=[str(spec) for spec in specs])

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
    values |= {name: path.parent / values[name] for name in _PATHS if name in values}
    if "views" in values:
        values["views"] = [str(spec) for spec in parse_views([str(text) for text in values["views"]], path.parent)]
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
