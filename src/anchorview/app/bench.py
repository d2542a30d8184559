"""The command `anchorview bench …`."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from contextlib import ExitStack
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NoReturn

import typer
from rich.console import Console

from ..core.printable import printable
from .speaking import say
from .stopping import exit_code

if TYPE_CHECKING:  # what runs an experiment takes seconds to load: not for --help
    from ..bench.output import Output
    from ..bench.runner import Runner
    from ..bench.settings import Settings
    from ..bench.worker import Worker

app = typer.Typer(
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Reproduce the tables and figures of the paper, on any data.",
    epilog="Exit code: 0 if every run gave scores or reached a limit (OM, OT); 1 if no run gave scores, or results "
    "could not be written; 2 for options or data that cannot be used; 3 if some runs failed; 130 if interrupted.",
)
console = Console()

DataOption = Annotated[
    list[Path] | None,
    typer.Option("--data", help="Folder of .npz and .mat files, or one such file; can be repeated. [the digits]"),
]
NamesOption = Annotated[list[str] | None, typer.Option("--name", help="Only this data set; can be repeated.")]
MethodsOption = Annotated[list[str] | None, typer.Option("--method", help="Only this method; can be repeated.")]
RepeatsOption = Annotated[
    int | None, typer.Option(min=1, max=10_000, help="Random selections of labels. [20; --quick: 3]")
]
SelectOption = Annotated[
    list[str] | None,
    typer.Option(
        help="How parameters are chosen: oracle (best on the evaluation labels, the paper's way), cv (on the given "
        "labels) or default; can be repeated. [default]"
    ),
]
LabelsOption = Annotated[
    float | None, typer.Option(min=0.0001, max=0.9, help="Share of labelled rows. [0.05; from 10,000 rows 0.01]")
]
OutOption = Annotated[Path, typer.Option(help="Folder of results; a later call resumes there.")]
TimeOption = Annotated[float, typer.Option(min=1, help="Seconds after which a run is 'OT'.")]
MemoryOption = Annotated[
    float | None, typer.Option(min=0.1, help="GB above which a run is 'OM'. [85 % of what is free]")
]
QuickOption = Annotated[bool, typer.Option("--quick", help="3 repetitions, small grids and sizes.")]
SizesOption = Annotated[list[int] | None, typer.Option("--rows", min=100, help="Sizes for 'scaling'; can be repeated.")]
SeedOption = Annotated[int, typer.Option(min=0, max=2**31, help="First random seed.")]

HELP = {
    "comparison": "ACC, NMI, ARI and time of all methods, beside the paper's figures.",
    "sensitivity": "FSSMSC over λ_M × β (heat map) and λ_Z (curves).",
    "convergence": "Stop criterion and objective of each round, both solvers.",
    "label-ratio": "Scores against the labelled part of the rows.",
    "ablation": "FSSMSC without each of its parts, and without β.",
    "time": "Time against the number of rows, and its part spent on similarity graphs.",
    "flops": "Tables of floating-point operations.",
    "memory": "Memory by the paper's count, and measured peaks.",
    "scaling": "FSSMSC up to a million rows.",
    "all": "All of these.",
}


def _command(names: tuple[str, ...]) -> Callable[..., None]:
    def command(
        data: DataOption = None,
        name: NamesOption = None,
        method: MethodsOption = None,
        select: SelectOption = None,
        repeats: RepeatsOption = None,
        labels: LabelsOption = None,
        quick: QuickOption = False,
        out: OutOption = Path("anchorview-bench"),
        time_limit: TimeOption = 3600.0,
        memory_limit: MemoryOption = None,
        rows: SizesOption = None,
        seed: SeedOption = 0,
    ) -> None:
        from ..bench.experiments import EXPERIMENTS
        from ..bench.methods import choose_methods
        from ..bench.output import Output
        from ..bench.reading import read_descriptions
        from ..bench.settings import Settings
        from ..bench.sources import find_sources
        from ..bench.worker import Worker
        from ..core.locks import InUseError

        with ExitStack() as stack:
            try:
                _check_finite({"--labels": labels, "--time-limit": time_limit, "--memory-limit": memory_limit})
                _check_selections(select or [])
                choose_methods(method or [])
                sources = find_sources(data or [], name or [])
                output = Output(out, tuple(EXPERIMENTS), _tell)
                worker = stack.enter_context(Worker(time_limit, _memory(memory_limit)))
                settings = Settings(
                    read_descriptions(sources, worker),  # every file is read before anything is written
                    tuple(method or ()),
                    repeats or (3 if quick else 20),
                    tuple(select or ("default",)),
                    labels,
                    seed,
                    quick,
                    tuple(rows or ()),
                )
                wanted = _possible(tuple(EXPERIMENTS) if names == ("all",) else names, settings)
                stack.enter_context(output)
            except InUseError as error:
                _refuse(str(error), 1)
            except (ValueError, OSError) as error:
                _refuse(str(error), 2)
            code = _run(wanted, settings, output, worker)
        raise typer.Exit(code)

    return command


for _name, _help in HELP.items():
    app.command(_name, help=_help)(_command((_name,)))


def _run(names: tuple[str, ...], settings: Settings, output: Output, worker: Worker) -> int:
    """Make the runs of some experiments and write what they show; return the exit code."""
    from ..bench.experiments import EXPERIMENTS
    from ..bench.runner import Runner

    assert worker.time_limit is not None and worker.memory_limit is not None
    try:
        with Runner(output.records, worker.time_limit, worker.memory_limit, console, worker) as runner:
            for name in names:
                runner.errors.clear()
                section = EXPERIMENTS[name](settings, runner, output.figures)
                output.write(section)
                _tell(f"{section.title}: done.")
    except KeyboardInterrupt:
        _tell(f"Stopped. What is finished is kept in {output.folder}; the same command goes on from there.")
        return exit_code()
    except OSError as error:
        _refuse(f"{error}. What is finished is kept in {output.folder}; the same command goes on from there.", 1)
    console.print(f"{runner.n_made} runs made, {len(output.records)} records kept.", highlight=False)
    for name in ("report.html", "report.md", "tables", "figures", "records.jsonl"):
        _tell(f"  {output.folder / name}")
    return _judge(runner)


def _judge(runner: Runner) -> int:
    """Say which runs gave nothing, and return the exit code."""
    counts = Counter(runner.outcomes.values())
    made, failed = counts.pop("ok", 0), counts["error"]
    total = made + counts.total()
    if not total or (made and not failed):
        return 0  # operations are counted without runs; a limit that was reached is a result
    words = {"error": "with an error", "OM": "out of memory", "OT": "out of time"}
    text = ", ".join(f"{count} {words[kind]}" for kind, count in counts.items() if count)
    say(f"Error: {total - made} of {total} runs gave no scores ({text}).", err=True)
    for message in dict.fromkeys(runner.messages):
        say(f"  {message}", err=True)
    return 3 if made else 1


def _memory(limit: float | None) -> int:
    from ..cost.estimate import available_memory

    return int(limit * 1e9) if limit is not None else int(0.85 * (available_memory() or 8 * 2**30))


def _possible(names: tuple[str, ...], settings: Settings) -> tuple[str, ...]:
    """Return the experiments for which the methods asked for will do."""
    from ..bench.experiments import NEED_LABELS
    from ..bench.methods import WITH_LABELS

    if settings.choose(WITH_LABELS):
        return names
    idle = [name for name in names if name in NEED_LABELS]
    text = f"None of the methods asked for uses labels, so there is nothing to do for {' and '.join(idle)}; "
    text += f"methods that do are {', '.join(WITH_LABELS)}."
    if len(idle) == len(names):
        raise ValueError(text)
    if idle:
        _tell(text)
    return tuple(name for name in names if name not in idle)


def _check_finite(options: dict[str, float | None]) -> None:
    for name, value in options.items():
        if value is not None and not math.isfinite(value):
            raise ValueError(f"{name} is {value}; it needs a finite number.")


def _check_selections(names: list[str]) -> None:
    from ..bench.settings import SELECTIONS

    unknown = [name for name in names if name not in SELECTIONS]
    if unknown:
        raise ValueError(f"There is no way to select named {unknown[0]!r}; there are {', '.join(SELECTIONS)}.")


def _tell(text: str) -> None:
    console.print(printable(text, keep="\n"), soft_wrap=True, highlight=False, markup=False)


def _refuse(message: str, code: int) -> NoReturn:
    """Print what is wrong on one line, and exit."""
    say(f"Error: {' '.join(message.split())}", err=True)
    raise typer.Exit(code)
