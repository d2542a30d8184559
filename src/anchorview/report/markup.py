"""Tables as Markdown and LaTeX."""

from __future__ import annotations

import re

from .document import Cell, Section, Table
from .tables import markdown_table

_SYMBOLS = {
    "‖Z‖₁": r"$\|\mathbf{Z}\|_1$",
    "λ_M": r"$\lambda_M$",
    "λ_Z": r"$\lambda_Z$",
    "φ_M": r"$\phi_\mathcal{M}$",
    "φ_C": r"$\phi_\mathcal{C}$",
    "φ_s": r"$\phi_s$",
    "β": r"$\beta$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "≥": r"$\geq$",
    "–": "--",
    "·": r"$\cdot$",
    "²": r"$^2$",
    "…": r"\dots{}",
}


def to_markdown(table: Table) -> str:
    """Return a table with its title; the best bold, the second underlined."""
    width = len(table.header)
    rows = [
        [f"**{row[0].text}**", *[""] * (width - 1)] if len(row) == 1 else [_markdown_cell(cell) for cell in row]
        for row in table.rows
    ]
    parts = [f"**{table.title}**", "", markdown_table(table.header, rows)]
    return "\n".join([*parts, "", table.note] if table.note else parts)


def _markdown_cell(cell: Cell) -> str:
    head, space, rest = cell.text.partition(" ")
    if cell.mark == "best":
        return f"**{head}**{space}{rest}"
    return f"<u>{head}</u>{space}{rest}" if cell.mark == "second" else cell.text


def section_markdown(section: Section) -> str:
    """Return a section with links to its figures."""
    parts = [f"## {section.title}", *section.text]
    parts += [to_markdown(table) for table in section.tables]
    parts += [f"![{figure.title}](figures/{figure.name}.png)\n\n*{figure.title}*" for figure in section.figures]
    return "\n\n".join(parts)


def to_latex(table: Table) -> str:
    r"""Return a table in the paper's form (package booktabs); the best bold, the second underlined.

    Examples
    --------
    >>> table = Table("t", "Scores", ["Dataset", "MVAR"])
    >>> table.add("HW", Cell("95.6 ± 2.0", "best"))
    >>> print(to_latex(table).splitlines()[8])
    HW & \textbf{95.6} $\pm$ 2.0 \\
    """
    width = len(table.header)
    lines = [r"\begin{table}[!ht]", r"\centering", r"\footnotesize", rf"\caption{{{latex(table.title)}}}"]
    lines += [rf"\begin{{tabular}}{{l{'c' * (width - 1)}}}", r"\toprule"]
    lines += [" & ".join(map(latex, table.header)) + r" \\", r"\midrule"]
    for number, row in enumerate(table.rows):
        if len(row) == 1:
            rule = [] if number == 0 else [r"\midrule"]
            lines += [*rule, rf"\multicolumn{{{width}}}{{c}}{{\textbf{{{latex(row[0].text)}}}}} \\", r"\midrule"]
        else:
            lines.append(" & ".join(map(_latex_cell, row)) + r" \\")
    lines += [r"\bottomrule", r"\end{tabular}"]
    lines += [rf"\par\smallskip {latex(table.note)}"] if table.note else []
    return "\n".join([*lines, r"\end{table}", ""])


def _latex_cell(cell: Cell) -> str:
    head, space, rest = cell.text.partition(" ")
    command = {"best": r"\textbf", "second": r"\underline"}.get(cell.mark)
    return f"{command}{{{latex(head)}}}{space}{latex(rest)}" if command else latex(cell.text)


def latex(text: str) -> str:
    r"""Return text with what LaTeX would take for its own escaped, and symbols as mathematics.

    Examples
    --------
    >>> print(latex("ACC (%) of caltech_7: 1.43e8"))
    ACC (\%) of caltech\_7: $1.43 \times 10^{8}$
    """
    for symbol in sorted(_SYMBOLS, key=len, reverse=True):
        text = text.replace(symbol, f"\0{list(_SYMBOLS).index(symbol)}\0")
    text = re.sub(r"([&%$#_{}])", r"\\\1", text)
    text = re.sub(r"(\d\.\d+)e(-?\d+)", r"$\1 \\times 10^{\2}$", text)
    return re.sub("\0(\\d+)\0", lambda match: list(_SYMBOLS.values())[int(match[1])], text)
