"""The command `anchorview doctor`."""

from __future__ import annotations

from typing import Annotated, Any

import typer
from rich.console import Console
from rich.table import Table

from .speaking import say, say_json

Section = tuple[str, list[tuple[str, str]]]


def doctor(
    as_json: Annotated[bool, typer.Option("--json", help="Print JSON, for programs and bug reports.")] = False,
) -> None:
    """Show versions, BLAS, threads, memory, what size of data would fit, and which optional packages are there."""
    from .doctor import examine

    found = examine()
    if as_json:
        say_json(found, indent=2)
        return
    console = Console()
    for title, lines in sections(found):
        if console.is_terminal:
            table = Table("", "", title=title, title_justify="left", show_header=False, box=None, pad_edge=False)
            for line in lines:
                table.add_row(*line)
            console.print(table, "", markup=False, highlight=False)
        else:
            say(title)
            for label, value in lines:
                say(f"  {label}: {value}" if label else f"  {value}")


def sections(found: dict[str, Any]) -> list[Section]:
    """Return what `examine` has found in words: titles, and under each labels and values."""
    machine, memory = found["machine"], found["memory"]
    cores = f"{machine['usable_cores']} of {machine['cores']}"
    variables = ", ".join(f"{name}={value}" for name, value in machine["variables"].items()) or "none set"
    blas = [
        (
            f"{one['library']} {one['version'] or ''}".strip(),
            f"{one['threads']} thread{'s'[: one['threads'] - 1]}, kernel {one['kernel'] or 'unknown'}, {one['file']}",
        )
        for one in found["blas"]
    ]
    left = [(f"left by the {name}", _size(value)) for name, value in memory["left_by"].items()]
    free = "unknown: the system does not tell" if memory["free"] is None else _size(memory["free"])
    fits = [
        (f"{one['features']:,} features", f"{one['rows']:,} rows (float32, {one['landmarks']} landmarks)")
        for one in found["fits"]
    ]
    kernels = found["kernels"]
    return [
        ("Versions", list(found["versions"].items())),
        (
            "Machine",
            [
                ("system", machine["system"]),
                ("CPU", machine["cpu"]),
                ("cores", cores),
                ("threads of a fit", str(machine["threads"])),
                ("variables", variables),
            ],
        ),
        ("BLAS", blas or [("", "none found")]),
        ("Memory", [("free", free), *left]),
        ("The largest FSSMSC fit for which memory is enough, input included", fits or [("", "unknown")]),
        ("Optional packages", _extras(found["extras"]) or [("", "unknown: anchorview is not installed")]),
        (
            "Compiled functions",
            [("kept in", ", ".join(kernels["folders"]) or "no folder"), ("kept so far", str(kernels["compiled"]))],
        ),
        ("Advice", [("", line) for line in found["advice"]] or [("", "nothing to improve")]),
    ]


def _extras(extras: list[dict[str, Any]]) -> list[tuple[str, str]]:
    """Return a line for each extra: what is there or, if something is missing, how to get it."""
    lines = []
    for name in dict.fromkeys(one["extra"] for one in extras):
        packages = [one for one in extras if one["extra"] == name]
        listed = ", ".join(f"{one['package']} {one['installed'] or 'missing'}" for one in packages)
        lacks = not all(one["recent"] for one in packages)
        lines.append((name, f"{listed}; {packages[0]['command']}" if lacks else listed))
    return lines


def _size(n_bytes: float) -> str:
    return f"{n_bytes / 1e9:.1f} GB" if n_bytes >= 1e9 else f"{n_bytes / 1e6:.0f} MB"
