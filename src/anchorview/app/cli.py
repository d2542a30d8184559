"""The command `anchorview`."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer
from rich.console import Console
from typer.core import TyperGroup

from .. import __version__
from .bench import app as bench_app
from .data import app as data_app
from .doctor_command import doctor
from .errors import EXIT_CODES, FAILED, CommandError
from .export import export
from .fit import fit
from .label import label
from .predict import predict
from .report import report
from .serve import serve
from .speaking import say
from .stopping import exit_code, heed_signals
from .tune import tune

if TYPE_CHECKING:
    import numpy as np

PAPER_HW = (97.1, 93.4, 93.6, 4.8)  # FSSMSC on HW in the paper: ACC, NMI, ARI, seconds

_HELP = {"help_option_names": ["-h", "--help"]}
_SUFFIXES = (".png", ".svg", ".pdf")
console = Console()


class _Command(TyperGroup):
    """The command; Ctrl-C, or a file that cannot be read or written, ends it with one line instead of a traceback."""

    def invoke(self, ctx: Any) -> Any:
        try:
            return super().invoke(ctx)
        except KeyboardInterrupt as error:  # with what to do next, where there is something to say
            say(" ".join(["Stopped.", *map(str, error.args)]), err=True)
            raise typer.Exit(exit_code()) from None
        except CommandError as error:
            say(f"Error: {error}", err=True)
            raise typer.Exit(error.code) from None
        except BrokenPipeError:
            raise  # whoever read the output has seen enough: typer ends without a word
        except OSError as error:
            say(f"Error: {error}", err=True)
            raise typer.Exit(FAILED) from None


app = typer.Typer(
    cls=_Command,
    no_args_is_help=True,
    context_settings=_HELP,
    help="Label every row of a table, or of several feature sets, from a few labels.",
    epilog=EXIT_CODES,
    pretty_exceptions_enable=False,
)


def _version(value: bool) -> None:
    if value:
        console.print(f"anchorview {__version__}")
        raise typer.Exit


for _command in (fit, label, predict, tune, report, export, serve):
    app.command(epilog=EXIT_CODES)(_command)
app.add_typer(bench_app, name="bench")
app.add_typer(data_app, name="data")
app.command()(doctor)


@app.callback()
def _root(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    pass


@app.command()
def demo(
    labels: Annotated[float, typer.Option(min=0.005, max=0.9, help="Share of the rows that keep their label.")] = 0.05,
    repeats: Annotated[int, typer.Option(min=1, max=10_000, help="Random selections of the labelled rows.")] = 5,
    seed: Annotated[int, typer.Option(min=0, max=2**31 - 1, help="First random seed.")] = 0,
    output: Annotated[Path, typer.Option(help="Picture to write (.png, .svg or .pdf).")] = Path("anchorview-demo.png"),
    force: Annotated[bool, typer.Option("--force", help="Overwrite the picture if it exists.")] = False,
) -> None:
    """Label 2,000 handwritten digits (six views, built in) from a few labels; print the scores and save a picture."""
    _check_output(output, force)
    import numpy as np

    from .. import FSSMSC, datasets
    from ..metrics import clusters as metrics

    digits = datasets.load_handwritten()
    console.print(f"Handwritten digits: {digits.views!r}")
    with console.status("Compiling the kernels (first run on this machine only, 5-15 s) …"):
        start = time.perf_counter()
        FSSMSC(n_landmarks=50, random_state=0).fit(digits.views[::5], digits.target[::5])
        console.print(f"Kernels ready after {time.perf_counter() - start:.1f} s.")
    rows = []
    for repeat in range(repeats):
        y = datasets.hide_labels(digits.target, labels, random_state=seed + repeat)
        hidden = y == -1
        start = time.perf_counter()
        model = FSSMSC(random_state=seed + repeat).fit(digits.views, y)
        seconds = time.perf_counter() - start
        scores = metrics.clustering_report(digits.target[hidden], model.labels_[hidden])
        rows.append((100 * scores["acc"], 100 * scores["nmi"], 100 * scores["ari"], seconds))
        console.print(f"  draw {repeat + 1}/{repeats}: ACC {rows[-1][0]:.1f}, {seconds:.2f} s", highlight=False)
    _print_scores(np.array(rows), labels, int((~hidden).sum()))

    import matplotlib

    matplotlib.use("Agg")
    from ..plotting import plot_summary

    with console.status("Drawing …"):
        figure = plot_summary(model, digits.target, ~hidden)
        # The model in the picture is that of the last draw; so is what its heading says.
        figure.suptitle(f"Handwritten digits, draw {repeats} of {repeats}. {figure.get_suptitle()}", fontsize=13)
        figure.savefig(output, dpi=120)
    console.print(f"Picture: {output.resolve()}", soft_wrap=True, highlight=False, markup=False)


def _check_output(output: Path, force: bool) -> None:
    """Refuse a picture that could not be written, before the work."""
    folder, wrong = output.parent, None
    try:
        if output.is_dir():
            wrong = f"{output} is a folder; name a file in it, such as {output / 'demo.png'}."
        elif output.suffix.lower() not in _SUFFIXES:
            wrong = f"{output} does not end in .png, .svg or .pdf."
        elif not folder.is_dir():
            wrong = f"the folder {folder} does not exist."
        elif output.exists() and not force:
            wrong = f"{output} exists; choose another name or pass --force."
        elif output.exists():
            output.open("ab").close()
        else:
            output.open("xb").close()
            output.unlink()
    except OSError as error:
        wrong = f"{output} cannot be written: {error.strerror or error}."
    if wrong is not None:
        raise typer.BadParameter(wrong, param_hint="--output")


def _print_scores(rows: np.ndarray, fraction: float, n_labels: int) -> None:
    from rich.table import Table

    mean, spread = rows.mean(axis=0), rows.std(axis=0)
    table = Table(title=f"Unlabelled rows, {n_labels} labels ({100 * fraction:g} %), {len(rows)} draws")
    for name in ("", "ACC %", "NMI %", "ARI %", "seconds"):
        table.add_column(name, justify="left" if name == "" else "right")
    ours = [f"{m:.1f} ± {s:.1f}" for m, s in zip(mean[:3], spread[:3], strict=True)]
    table.add_row("anchorview, default parameters", *ours, f"{mean[3]:.2f}")
    table.add_row("paper, tuned on the test labels (5 %)", *(f"{value:.1f}" for value in PAPER_HW))
    console.print(table)


def run() -> None:
    """Run the command."""
    with heed_signals():
        app()
