"""What the scripts in benchmarks/ share: options, data sets by name, runs that are made once, and reports."""

from __future__ import annotations

import argparse
import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache, partial
from pathlib import Path
from typing import Any

from ..core.files import replace_file
from ..datasets import make_multiview_subspaces
from ..report.tables import mean_and_spread
from .environment import environment_line
from .process import JobResult
from .records import Records
from .sources import Source, find_sources, load_dataset
from .stamps import code_stamp, is_clean

Result = dict[str, Any]
SCORES = ("acc", "nmi", "ari")


def make_parser(description: str | None, script: str) -> argparse.ArgumentParser:
    """Return a parser with ``--data``, ``--fresh`` and ``--out``.

    Results go to the folder ``results`` beside the script (its ``__file__``) unless ``--out`` names another.

    Examples
    --------
    >>> options = make_parser("Measures something.", "benchmarks/accuracy.py").parse_args(["--data", "folder"])
    >>> options.data == [Path("folder")], options.fresh, options.out == Path("benchmarks/results")
    (True, False, True)
    """
    parser = argparse.ArgumentParser(description=description, formatter_class=argparse.RawDescriptionHelpFormatter)
    text = "folder of .npz and .mat files, or one file; may be given several times; default: the embedded digits (hw)"
    parser.add_argument("--data", type=Path, action="append", default=[], help=text)
    parser.add_argument("--fresh", action="store_true", help="compute again what is already recorded")
    parser.add_argument("--any-commit", action="store_true", help="take records of earlier commits with these defaults")
    parser.add_argument("--out", type=Path, default=Path(script).parent / "results", help="folder of the results")
    return parser


def add_draws(
    parser: argparse.ArgumentParser, default: int | None = None, text: str = "draws of labels"
) -> argparse.ArgumentParser:
    """Add ``--draws`` and return the parser.

    Examples
    --------
    >>> add_draws(make_parser(None, "some.py"), 20).parse_args([]).draws
    20
    """
    parser.add_argument("--draws", type=int, default=default, help=text)
    return parser


class DataSets:
    """The data sets of some folders and files, by name, each read when it is needed; see `find_sources`.

    Examples
    --------
    >>> data = DataSets([])
    >>> list(data.sources), data.load("hw").target.shape
    (['hw'], (2000,))
    >>> data.load("scene15")
    Traceback (most recent call last):
    SystemExit: There is no data set 'scene15'; there are hw. Give the folder that holds it with --data.
    """

    def __init__(self, places: Sequence[Path], names: Sequence[str] = ()) -> None:
        self.places, self.names = places, names

    @cached_property
    def sources(self) -> dict[str, Source]:
        """All sources by name; a message and the end of the script if a folder or a name is wrong."""
        try:
            return {source.name: source for source in find_sources(self.places, self.names)}
        except ValueError as error:
            raise SystemExit(f"{error} (options --data, --sets)") from None

    def source(self, name: str) -> Source:
        """Return one source, or end the script with a message."""
        if name not in self.sources:
            there = f"There is no data set {name!r}; there are {', '.join(self.sources)}."
            raise SystemExit(f"{there} Give the folder that holds it with --data.")
        return self.sources[name]

    def load(self, name: str) -> Any:
        """Read a data set; the last one stays in memory."""
        return _load(self.source(name).place)

    def readable(self) -> list[Source]:
        """Return the sources that can be read; name the others, so that one bad file does not end the run."""
        kept = []
        for source in self.sources.values():
            try:
                print(f"{source.name}: {source.describe()}")
                kept.append(source)
            except Exception as error:
                print(f"{source.name} is left out: {error}")
        return kept


@lru_cache(maxsize=1)
def _load(place: str) -> Any:
    return load_dataset(place)


@dataclass(frozen=True)
class Runs:
    """Runs of a script: taken from the records, or made and recorded.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     runs = Runs(Records(Path(folder, "some.jsonl")), DataSets([]))
    ...     made = runs.get({"parameters": {"readers": "knn"}, "seed": 0}, lambda: {"acc": 97.0})
    ...     runs.get({"parameters": {"readers": "knn"}, "seed": 0}, lambda: {"acc": 0.0})
    {'acc': 97.0}
    """

    records: Records
    data: DataSets  # what `repeat` reads
    draws: int | None = None  # draws of labels, instead of the number that an experiment asks for
    fresh: bool = False  # make runs again although they are recorded
    compute: bool = True  # whether runs may be made at all; if not, only what is recorded is returned
    any_commit: bool = False  # take what code of another commit made, if all defaults are the same
    used: set[str] = field(default_factory=set, compare=False)  # commits whose results were returned

    @property
    def folder(self) -> Path:
        """Folder of the records, for tables and pictures."""
        return self.records.path.parent

    def known(self, key: dict[str, Any]) -> Result | None:
        """Return a recorded result, None if there is none or it is to be computed again.

        Keys that name all parameters are complete. Any other is the key of a run by this commit, with these defaults.
        """
        if self.fresh and self.compute:
            return None
        stamped = self.stamped(key)
        result = self.records.get(stamped) if is_clean(code_stamp()) or stamped is key else None
        if result is None and (self.any_commit or not self.compute):
            run = self.records.newest(stamped)
            if run is not None and run[0].get("code", {}).get("defaults") == code_stamp()["defaults"]:
                stamped, result = run
        if result is not None and "code" in stamped:
            self.used.add(stamped["code"]["commit"])
        return result

    def recorded(self) -> list[tuple[dict[str, Any], Result]]:
        """Return all runs of this commit with these defaults; of any commit if that was asked for."""
        here = code_stamp()
        kept = ("commit", "defaults") if not self.any_commit else ("defaults",)
        return [
            (key, result)
            for key, result in self.records
            if "code" in key and all(key["code"][name] == here[name] for name in kept)
        ]

    @staticmethod
    def stamped(key: dict[str, Any]) -> dict[str, Any]:
        """Return a key with the commit and the defaults of today's code, unless it names all parameters itself."""
        return key if "parameters" in key else {**key, "code": code_stamp()}

    def _record(self, key: dict[str, Any], result: Result) -> None:
        self.records.add(self.stamped(key), result)
        self.used.add(code_stamp()["commit"])

    def get(self, key: dict[str, Any], run: Callable[[], Result]) -> Result | None:
        """Return the result of a run, None if it is not recorded and may not be made."""
        result = self.known(key)
        if result is None and self.compute:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # such as fewer landmarks than asked for: the same in every draw
                result = run()
            self._record(key, result)
        return result

    def get_job(self, key: dict[str, Any], run: Callable[[], JobResult], **about: Any) -> Result | None:
        """Return the result of a job in a child process, with what else is known `about` it.

        Out of memory or time is a result. An error is not: it is returned but not recorded, and tried again.
        """
        result = self.known(key)
        if result is None and self.compute:
            job = run()
            result = {**job.as_dict(), **about}
            if job.status != "error":
                self._record(key, result)
        return result

    def repeat(self, key: dict[str, Any], run: Callable[..., Result], n_draws: int) -> list[Result]:
        """Return the results of all draws, of those that are recorded if none may be made.

        Calls ``run(data, seed, **setting)``, where ``key["data"]`` names the data and the setting is the rest of the
        key but "what", the name of the experiment.
        """
        setting = {name: value for name, value in key.items() if name not in ("what", "data")}
        results = []
        for seed in range(self.draws or n_draws):
            result = self.get({**key, "seed": seed}, partial(self._run_on_data, run, key["data"], seed, setting))
            results += [] if result is None else [result]
        return results

    def _run_on_data(self, run: Callable[..., Result], name: str, seed: int, setting: dict[str, Any]) -> Result:
        return run(self.data.load(name), seed, **setting)


def warm_up(model: Any) -> None:
    """Fit a model on a few rows: loads what is compiled or imported late, so that it is not timed.

    Examples
    --------
    >>> from anchorview import baselines
    >>> warm_up(baselines.ConcatKMeans(n_clusters=3))
    """
    few = make_multiview_subspaces(90, 3, random_state=0)
    model.fit(few.views, few.target)


def result_line(result: Result) -> str:
    """Describe what came of a job on one line.

    Examples
    --------
    >>> result_line({"status": "ok", "value": {"acc": 97.1, "nmi": 93.4, "seconds": 0.5}})
    'ACC 97.1 NMI 93.4, 0.50 s'
    >>> result_line({"status": "memory", "seconds": 12.0, "peak_bytes": 2**33, "message": ""})
    'memory after 12 s, 8.0 GB'
    """
    if result["status"] != "ok":
        cost = f"{result['seconds']:.0f} s, {result['peak_bytes'] / 2**30:.1f} GB"
        return f"{result['status']} after {cost} {result['message'][-500:]}".rstrip()
    value = result["value"]
    scores = " ".join(f"{name.upper()} {value[name]:.1f}" for name in SCORES if name in value)
    return f"{scores}, {value['seconds']:.2f} s"


def score_columns(mean: Mapping[str, tuple[float, float]], scores: Sequence[str] = SCORES) -> list[str]:
    """Return cells of a table: ``mean ± spread`` of some scores.

    Examples
    --------
    >>> score_columns({"acc": (97.1, 0.5), "nmi": (93.4, 1.0), "ari": (93.6, 1.1)})
    ['97.1 ± 0.5', '93.4 ± 1.0', '93.6 ± 1.1']
    """
    return [mean_and_spread(mean[name]) for name in scores]


def write_report(path: Path, title: str, parts: Sequence[str]) -> str:
    """Write a Markdown file of a title, the environment and the parts that are not empty; return its text.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     text = write_report(Path(folder, "some.md"), "Some scores", ["20 draws.", ""])
    >>> text.splitlines()[0], text.splitlines()[-1]
    ('# Some scores', '20 draws.')
    """
    text = "\n\n".join([f"# {title}", environment_line(), *(part for part in parts if part)]) + "\n"
    path.parent.mkdir(parents=True, exist_ok=True)
    replace_file(path, text)
    return text


def run_parts(
    parser: argparse.ArgumentParser, parts: Mapping[str, Callable[[Runs], list[str]]], name: str, title: str
) -> None:
    """Run a script of several parts, all or the one of ``--only``; write one report, the other parts from records.

    The parser has the options of `make_parser` and `add_draws`; a part takes `Runs` and returns its heading, notes and
    tables; `name` is that of the records and of the report, `title` the heading.
    """
    parser.add_argument("--only", choices=[*parts, "tables"], help="compute this part only; tables: nothing")
    options = parser.parse_args()
    records, data = Records(options.out / f"{name}.jsonl"), DataSets(options.data)
    report = []
    for part, run in parts.items():
        may_run = options.only in (None, part)
        report += run(Runs(records, data, options.draws, options.fresh, may_run, options.any_commit))
    write_report(options.out / f"{name}.md", title, report)
    print(f"\nTables: {options.out / f'{name}.md'}")
