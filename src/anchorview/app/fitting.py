"""A run from files to a folder: read, fit, label, write."""

from __future__ import annotations

import dataclasses
import shlex
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

import numpy as np

from ..classifier import AnchorViewClassifier
from ..core.no_space import NoSpaceError
from ..core.progress import watch
from ..cost.estimate import MemoryEstimate
from ..data.column_kinds import USED
from ..data.validation import find_present
from ..files.sources import PHOTOS, import_extra, name_of, suffix_of
from ..fssmsc import FSSMSC
from .earlier_run import EarlierRun
from .errors import CommandError, DataError
from .history import HISTORY, describe_round, write_history
from .inputs.contents import photo_files, read_contents
from .inputs.gathering import RunData, gather
from .inputs.label_checks import check_labels, notes_on_classes
from .inputs.row_places import RowPlaces
from .progress import Reporter
from .run_folder import CODES, MARK, RunFolder
from .run_record import write_record
from .settings import NO_ID, RunSettings
from .view_spec import ViewSpec, parse_views

MODEL, EMBEDDING, PAGE, SETTINGS = "model.anchorview", "embedding.npy", "report.html", "run.toml"
LEFT_OUT = (
    "--fast: one model, its settings chosen on a sample of rows, in place of the average of the best models of a "
    "search; on the tables of text in docs/command.md accuracy is about a point lower."
)
_MANY_CLASSES = 12  # beyond which labels per class are summed up
_NOT_SETTLED = "stopped before they converged"  # what the tuner says of its logistic regressions


@dataclasses.dataclass
class FinishedRun:
    """What a run has made: for the last words, and for machines."""

    folder: Path
    record: dict[str, Any]
    converged: bool


def read(settings: RunSettings, reporter: Reporter) -> RunData:
    """Read and check everything that a run is given, and say what it is."""
    reporter.step("reading")
    with watch(reporter.line):
        data = gather(settings)
    check_labels(data.labels, settings.clusters)
    data.notes += [*data.labels.notes, *notes_on_classes(data.labels.counts)]
    for line in describe_input(data):
        reporter.say(line)
    return data


def describe_input(data: RunData) -> list[str]:
    """Say in words what was read."""
    views = data.views
    said = [f"{len(views):,} rows; {len(views.names)} view{'s' if len(views.names) > 1 else ''}:"]
    present = find_present(views)
    for number, (name, size) in enumerate(zip(views.names, views.sizes, strict=True)):
        lacking = 0 if present is None else int((~present[:, number]).sum())
        said.append(f"  {name}: {size:,} features" + (f", missing in {lacking:,} rows" if lacking else ""))
    counts = data.labels.counts
    if counts:
        listed = [f"{name} {count:,}" for name, count in counts.items()]
        if len(listed) > _MANY_CLASSES:
            listed = [*listed[: _MANY_CLASSES - 1], "…", listed[-1]]
        from_where = ", ".join(f"{n:,} from {name}" for name, n in data.labels.sources.items())
        total = f"{sum(counts.values()):,} labels of {len(counts):,} classes: {', '.join(listed)}"
        said.append(f"{from_where}: {total}" if from_where else total)
    else:
        said.append("No labels.")
    is_folder = data.file is not None and suffix_of(data.file) == PHOTOS  # which has no columns to speak of
    if data.table is not None and not is_folder:
        said += ["Columns:", *(f"  {line}" for line in data.table.describe().splitlines())]
        said.append(f"To read a column in another way: --column NAME=KIND, one of {', '.join((*USED, 'ignore'))}.")
    return [*said, *(f"Note: {note}" for note in data.notes)]


def make_model(settings: RunSettings, data: RunData) -> Any:
    """Return the estimator that a run asks for."""
    has_labels = bool(data.labels.counts)
    common: dict[str, Any] = {
        "random_state": settings.seed,
        "n_jobs": settings.jobs,
        "on_empty": "drop",
        "verbose": True,
    }
    plain = settings.fast or settings.clusters is not None or not has_labels
    if plain and settings.clusters is not None:
        common["n_clusters"] = settings.clusters
    kind = FSSMSC if plain else AnchorViewClassifier
    unknown = sorted({name.partition("__")[0] for name in settings.parameters} - set(kind().get_params()))
    if unknown:
        raise DataError(f"{kind.__name__} has no parameter {unknown[0]!r}; see its documentation.")
    with _blaming_the_data():
        return kind().set_params(**{**common, **settings.parameters})


def fit_to_data(model: Any, data: RunData) -> None:
    """Fit; what the data are to blame for is an error of the data."""
    with _blaming_the_data(None if data.file is None else RowPlaces(data.file, len(data.views))):
        model.fit(data.views, _labels_of(data), label_source=data.labels.label_source)


def _labels_of(data: RunData) -> Any:
    return data.labels.values if data.labels.counts else None


@contextmanager
def _blaming_the_data(places: RowPlaces | None = None) -> Iterator[None]:
    """Turn errors of an estimator into those of the command, with the place of the row that they name."""
    try:
        yield
    except MemoryError as error:
        raise CommandError(str(error) or "The memory is not enough.") from None
    except (ValueError, TypeError) as error:
        message = " ".join(str(error).split())
        message = message if places is None else places.add_to(message)
        raise DataError(message.replace("use FSSMSC.", "label more rows, or use the plain model: --fast.")) from None


def update_to_data(earlier: EarlierRun, data: RunData) -> Any:
    """Return the model of an earlier run with the labels of this one."""
    earlier.check_rows(data)
    if not data.labels.counts:
        raise DataError("Another round needs labels; name a file of them: --labels more.csv.")
    model = earlier.model
    with _blaming_the_data():
        model.update(_labels_of(data))
    return model


def run_fit(
    settings: RunSettings,
    output: Path,
    force: bool,
    reporter: Reporter,
    *,
    with_page: bool = True,
    earlier: EarlierRun | None = None,
) -> FinishedRun:
    """Make a run, or the next round of an earlier one: nothing is written to `output` unless everything is."""
    import_extra("pyarrow", "Labels are written by pyarrow")
    if with_page:
        import_extra("bokeh", "The report is drawn by bokeh")
    folder = RunFolder(output, force)
    folder.check()
    seconds: dict[str, float] = {}
    with reporter.working(), folder:
        start = time.perf_counter()
        data = read(settings, reporter)
        seconds["reading"] = time.perf_counter() - start
        if earlier is None:
            model = make_model(settings, data)
            _check_memory(settings, data, model)
            if settings.fast and data.labels.counts and settings.clusters is None:
                reporter.say(LEFT_OUT)
            reporter.step("fitting")
            fit_to_data(model, data)
            if settings.clusters == "auto":
                data.notes += model._report.notes
                for note in model._report.notes:
                    reporter.say(f"Note: {note}")
        else:
            reporter.step("learning from other labels")
            model = update_to_data(earlier, data)
        history = [] if earlier is None else earlier.history
        n_labels = sum(data.labels.counts.values())
        history = [*history, describe_round(model, folder.target.name, n_labels, len(history) + 1)]
        seconds |= {f"fit: {name}": value for name, value in model.stage_seconds_.items()}
        settings = dataclasses.replace(data.settings, columns=_columns(data) or settings.columns)
        try:
            with watch(reporter.line):
                record = _write(model, data, settings, folder, reporter, seconds, with_page, history)
            folder.finish()
        except NoSpaceError as error:
            raise CommandError(str(error)) from None
        except OSError as error:
            raise CommandError(f"{folder.target} cannot be written: {error.strerror or error}.") from None
        except ValueError as error:  # numbers beyond what a model can hold
            raise DataError(f"The fit has given no usable model ({error}); are there extreme numbers?") from None
    return FinishedRun(folder.target, record, has_converged(model))


def _write(
    model: Any,
    data: RunData,
    settings: RunSettings,
    folder: RunFolder,
    reporter: Reporter,
    seconds: dict[str, float],
    with_page: bool,
    history: list[dict[str, str]],
) -> dict[str, Any]:
    """Write all files of a run into the folder under construction."""
    from sklearn.pipeline import Pipeline

    from ..report.run_summary import map_rows, summarise_run
    from .model_file import save
    from .results import fitted_labels, write_label_table

    start = time.perf_counter()
    reporter.step("drawing the map")
    xy = map_rows(model)
    seconds["map"] = time.perf_counter() - start
    start = time.perf_counter()
    reporter.step("writing the results")
    with folder.writing("labels.csv"):
        write_label_table(fitted_labels(model, data.ids, data.labels.values, xy), folder.path)
    with folder.writing(EMBEDDING):
        np.save(folder.path / EMBEDDING, model.embedding_)
    with folder.writing(CODES):
        np.save(folder.path / CODES, model._places_of_rows())
    model.verbose = False
    # predict names rows by this column, too
    (model if data.table is None else data.table)._id_column = None if settings.id == NO_ID else settings.id
    saved = model if data.table is None else Pipeline([("table", data.table), ("model", model)])
    with folder.writing(MODEL):
        save(saved, folder.path / MODEL, updates=settings.keep_rows)
    with folder.writing(HISTORY):
        write_history(folder.path, history)
    with folder.writing(SETTINGS):
        (folder.path / SETTINGS).write_text(settings.to_toml(folder.target), encoding="utf-8")
    seconds["writing"] = time.perf_counter() - start
    start = time.perf_counter()
    reporter.step("writing the report" if with_page else "summing up")
    summary = summarise_run(
        model,
        _labels_of(data),
        X=data.views if with_page else None,
        rows=read_contents(data) if with_page else None,
        where=None if data.file is None or not with_page else RowPlaces(data.file, len(data.views)),
        photos=photo_files(data) if with_page else None,
        ids=data.ids,
        xy=xy,
        title=f"Labels for {_source(settings)}",
        command=shlex.join(["anchorview", "fit", "--config", f"{folder.target.name}/{SETTINGS}", "-o", "again"]),
        files=_files(settings),
        history=history,
    )
    if with_page:
        from ..report.run_page import write_run_page

        with folder.writing(PAGE):
            write_run_page(summary, folder.path / PAGE)
    seconds["report"] = time.perf_counter() - start
    sources = data.labels.sources or {data.labels.name: sum(data.labels.counts.values())}
    about = {
        "status": "ok" if has_converged(model) else "not converged",
        "settings": _plain(dataclasses.asdict(dataclasses.replace(settings.seen_from(folder.target), output=None))),
        "arguments": [_without_folders(text, settings) for text in sys.argv[1:]],
        "seconds": {name: round(value, 3) for name, value in seconds.items()},
        "columns": [] if data.table is None else data.table.describe().splitlines(),
        "notes": [_without_folders(text, settings) for text in data.notes],
        "warnings": [_without_folders(text, settings) for text in reporter.warnings],
        "rows": len(data.views),
        "has_ids": data.ids is not None,
        "labels": {str(name): count for name, count in data.labels.counts.items()},
        "label_sources": {_without_folders(name, settings): count for name, count in sources.items()},
        "label_conflicts": [_without_folders(text, settings) for text in data.labels.conflicts],
    }
    with folder.writing(MARK):
        return write_record(folder.path, summary, about, model.classes_.tolist())


def has_converged(model: Any) -> bool:
    """Tell whether everything in a fit has converged, by what it says of itself."""
    report = getattr(model, "_report", None)
    return _NOT_SETTLED not in model.status_ if report is None else bool(report.has_converged)


def memory_of(data: RunData, model: Any, *, count: bool = True) -> MemoryEstimate:
    """Estimate what a fit takes beyond its input; with codes counted on the data, or as usual."""
    with _blaming_the_data():
        estimate: MemoryEstimate = model.estimate_memory(X=data.views, y=_labels_of(data), count=count)
    return estimate


def _check_memory(settings: RunSettings, data: RunData, model: Any) -> None:
    if settings.memory_limit is None:
        return
    needed = memory_of(data, model)
    if needed.total > settings.memory_limit * 1e9:
        raise CommandError(
            f"The fit needs about {needed}. That is more than --memory-limit {settings.memory_limit:g} (GB); use "
            "--fast, fewer landmarks (n_landmarks under [parameters] of --config), or fit a sample of the rows and "
            "predict the others."
        )


def _columns(data: RunData) -> dict[str, str]:
    """Return what the columns were taken for, as settings have it."""
    if data.table is None:
        return {}
    return {name: found.kind if found.used else "ignore" for name, found in data.table.columns_.items()}


def _source(settings: RunSettings) -> str:
    return (
        name_of(settings.table)
        if settings.table is not None
        else ", ".join(str(_named_only(spec)) for spec in parse_views(settings.views))
    )


def _files(settings: RunSettings) -> dict[str, str]:
    named = {} if settings.table is None else {"table": name_of(settings.table)}
    for number, path in enumerate(settings.labels):
        named["labels" if number == 0 else f"labels {number + 1}"] = path.name
    return named | {
        f"view {spec.name}": str(_named_only(spec)).partition("=")[2] for spec in parse_views(settings.views)
    }


def _named_only(spec: ViewSpec) -> ViewSpec:
    return spec if spec.path is None else dataclasses.replace(spec, path=Path(spec.path.name))


def _without_folders(text: str, settings: RunSettings) -> str:
    """Return text in which the files of the run, and whatever is an absolute path, are named without their folders."""
    for path in settings.files():
        for known in sorted({str(path), str(path.absolute()), str(path.resolve())}, key=len, reverse=True):
            if Path(known).is_absolute():
                text = text.replace(known, path.name)
    option, equals, value = text.rpartition("=")
    return f"{option}{equals}{Path(value).name}" if Path(value).is_absolute() else text


def _plain(value: Any) -> Any:
    if isinstance(value, dict):
        return {key: _plain(one) for key, one in value.items()}
    if isinstance(value, list):
        return [_plain(one) for one in value]
    return str(value) if isinstance(value, Path) else value
