"""The commands `anchorview bench …` and `anchorview data …`."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, NoReturn

import typer
from rich.console import Console

from ..bench.experiments import EXPERIMENTS
from ..bench.methods import choose_methods
from ..bench.output import Output
from ..bench.runner import Runner
from ..bench.settings import SELECTIONS, Settings
from ..bench.sources import find_sources
from ..cost import available_memory

app = typer.Typer(
    no_args_is_help=True,
    context_settings={"help_option_names": ["-h", "--help"]},
    help="Make the tables and figures of the paper anew, on any data.",
)
console = Console()

DataOption = Annotated[
    list[Path] | None,
    typer.Option("--data", help="Folder of .npz and .mat files, or one such file; can be repeated. [the digits]"),
]
NamesOption = Annotated[list[str] | None, typer.Option("--name", help="Only this data set; can be repeated.")]
MethodsOption = Annotated[list[str] | None, typer.Option("--method", help="Only this method; can be repeated.")]
RepeatsOption = Annotated[int | None, typer.Option(min=1, help="Draws of the labels. [20; --quick: 3]")]
SelectOption = Annotated[
    list[str] | None,
    typer.Option(
        help="How parameters are chosen: oracle (best on the evaluation labels, the paper's way), cv (on the given "
        "labels) or default; can be repeated. [default]"
    ),
]
LabelsOption = Annotated[
    float | None, typer.Option(min=0.0001, max=0.9, help="Labelled part of the rows. [0.05; from 10,000 rows 0.01]")
]
OutOption = Annotated[Path, typer.Option(help="Folder of results; a later call goes on where this one ended.")]
TimeOption = Annotated[float, typer.Option(min=1, help="Seconds after which a run is 'OT'.")]
MemoryOption = Annotated[
    float | None, typer.Option(min=0.1, help="GB above which a run is 'OM'. [85 % of what is free]")
]
QuickOption = Annotated[bool, typer.Option("--quick", help="3 repetitions, small grids and sizes.")]
SizesOption = Annotated[list[int] | None, typer.Option("--rows", min=100, help="Sizes for 'scaling'; can be repeated.")]
SeedOption = Annotated[int, typer.Option(help="First random seed.")]

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
        try:
            _check_selections(select or [])
            choose_methods(method or [])
            sources = find_sources(data or [], name or [])
            settings = Settings(
                sources,
                tuple(method or ()),
                repeats or (3 if quick else 20),
                tuple(select or ("default",)),
                labels,
                seed,
                quick,
                tuple(rows or ()),
            )
            output = Output(out, tuple(EXPERIMENTS))
            _ = settings.data  # reads every file, before anything is written
        except (ValueError, OSError, ImportError) as error:
            _refuse(str(error))
        _run(names, settings, output, time_limit, memory_limit)

    return command


for _name in (*EXPERIMENTS, "all"):
    app.command(_name, help=HELP[_name])(_command(tuple(EXPERIMENTS) if _name == "all" else (_name,)))


def _run(
    names: tuple[str, ...], settings: Settings, output: Output, time_limit: float, memory_limit: float | None
) -> None:
    free = available_memory() or 8 * 2**30
    limit = int(memory_limit * 1e9) if memory_limit is not None else int(0.85 * free)
    output.prepare()
    runner = Runner(output.records, time_limit, limit, console)
    try:
        with runner:
            for name in names:
                runner.errors.clear()
                section = EXPERIMENTS[name](settings, runner, output.figures)
                output.write(section)
                console.print(f"{section.title}: done.", highlight=False)
    except KeyboardInterrupt:
        console.print(f"Stopped. What is finished is kept in {output.folder}; the same command goes on from there.")
        raise typer.Exit(130) from None
    console.print(f"{runner.n_made} runs made, {len(output.records)} records kept.", highlight=False)
    for name in ("report.html", "report.md", "tables", "figures", "records.jsonl"):
        console.print(f"  {output.folder / name}", soft_wrap=True, highlight=False)


def _check_selections(names: list[str]) -> None:
    unknown = [name for name in names if name not in SELECTIONS]
    if unknown:
        raise ValueError(f"There is no way to select named {unknown[0]!r}; there are {', '.join(SELECTIONS)}.")


def _refuse(message: str) -> NoReturn:
    """Print what is wrong with the input and exit; nothing has been written."""
    typer.echo(f"Error: {message}", err=True)
    raise typer.Exit(2)
