"""Tables as Markdown and LaTeX. All text is plain text: what the format would take for its own is escaped."""

from __future__ import annotations

import re
from collections.abc import Callable
from urllib.parse import quote

from .document import Cell, Section, Table
from .tables import markdown_table

OURS = "★"
OURS_NOTE = f"{OURS}: methods of this library."
_SYMBOLS = {
    "‖Z‖₁": r"$\|\mathbf{Z}\|_1$",
    "λ_M": r"$\lambda_M$",
    "λ_Z": r"$\lambda_Z$",
    "φ_M": r"$\phi_\mathcal{M}$",
    "φ_C": r"$\phi_\mathcal{C}$",
    "φ_s": r"$\phi_s$",
    "β": r"$\beta$",
    "Λ": r"$\Lambda$",
    "±": r"$\pm$",
    "×": r"$\times$",
    "≥": r"$\geq$",
    "–": "--",
    "·": r"$\cdot$",
    "²": r"$^2$",
    "µ": r"$\mu$",
    "…": r"\dots{}",
    OURS: r"$\star$",
    "†": r"$\dagger$",
    "‡": r"$\ddagger$",
    "§": r"\S{}",
    "\\": r"\textbackslash{}",
    "~": r"\textasciitilde{}",
    "^": r"\textasciicircum{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    **{sign: f"\\{sign}" for sign in "&%$#_{}"},
}
_NUMBER = r"(?<![\w.])(\d\.\d+)e(-?\d+)(?!\w)"
_LATEX = re.compile("|".join([_NUMBER, *map(re.escape, sorted(_SYMBOLS, key=len, reverse=True))]))
# An underscore within a word means nothing in Markdown, so that names of files stay readable.
_MARKDOWN = re.compile(r"[\\`*\[\]<>|&$~]|(?<![A-Za-z0-9])_|_(?![A-Za-z0-9])")


def one_line(text: str) -> str:
    r"""Return text without line breaks and other control characters.

    Examples
    --------
    >>> one_line("two\nlines")
    'two lines'
    """
    return re.sub(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+", " ", text)


def markdown(text: str) -> str:
    r"""Return text with what Markdown would take for its own escaped.

    Examples
    --------
    >>> print(markdown("a|b <b>*x*</b> caltech_7 $y$"))
    a\|b \<b\>\*x\*\</b\> caltech_7 \$y\$
    """
    return _MARKDOWN.sub(r"\\\g<0>", one_line(text))


def to_markdown(table: Table) -> str:
    """Return a table with its title; the best bold, the second underlined."""
    width = len(table.header)
    rows = [
        [f"**{markdown(row[0].text)}**", *[""] * (width - 1)]
        if len(row) == 1
        else [_marked(cell, markdown, "**{}**", "<u>{}</u>") for cell in row]
        for row in table.rows
    ]
    parts = [f"**{markdown(table.title)}**", "", markdown_table([markdown(text) for text in header(table)], rows)]
    return "\n".join([*parts, "", markdown(note(table))] if note(table) else parts)


def header(table: Table) -> list[str]:
    """Return the header, our own methods with a star."""
    return [f"{text} {OURS}" if text in table.ours else text for text in table.header]


def note(table: Table) -> str:
    """Return what stands below a table."""
    return " ".join(text for text in (table.note, OURS_NOTE if table.ours else "") if text)


def section_markdown(section: Section) -> str:
    """Return a section with links to its figures."""
    parts = [f"## {markdown(section.title)}", *map(markdown, section.text)]
    parts += [to_markdown(table) for table in section.tables]
    for figure in section.figures:
        title = markdown(figure.title)
        parts.append(f"![{title}](figures/{quote(figure.name)}.png)\n\n*{title}*")
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
    lines += [" & ".join(map(latex, header(table))) + r" \\", r"\midrule"]
    for number, row in enumerate(table.rows):
        if len(row) == 1:
            rule = [] if number == 0 else [r"\midrule"]
            lines += [*rule, rf"\multicolumn{{{width}}}{{c}}{{\textbf{{{latex(row[0].text)}}}}} \\", r"\midrule"]
        else:
            lines.append(
                " & ".join(_marked(cell, latex, r"\textbf{{{}}}", r"\underline{{{}}}") for cell in row) + r" \\"
            )
    lines += [r"\bottomrule", r"\end{tabular}"]
    lines += [rf"\par\smallskip {latex(note(table))}"] if note(table) else []
    return "\n".join([*lines, r"\end{table}", ""])


def _marked(cell: Cell, escape: Callable[[str], str], best: str, second: str) -> str:
    """Return a cell whose first word, the mean, is marked."""
    form = {"best": best, "second": second}.get(cell.mark)
    head, space, rest = cell.text.partition(" ")
    return escape(cell.text) if form is None else form.format(escape(head)) + space + escape(rest)


def latex(text: str) -> str:
    r"""Return text with what LaTeX would take for its own escaped, and symbols and numbers as mathematics.

    Examples
    --------
    >>> print(latex("ACC (%) of caltech_7: 1.43e8"))
    ACC (\%) of caltech\_7: $1.43 \times 10^{8}$
    >>> print(latex(r"$\frac{$"))
    \$\textbackslash{}frac\{\$
    """
    return _LATEX.sub(_as_latex, one_line(text))


def _as_latex(match: re.Match[str]) -> str:
    return rf"${match[1]} \times 10^{{{match[2]}}}$" if match[1] else _SYMBOLS[match[0]]
