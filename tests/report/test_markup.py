"""Tables as Markdown and LaTeX."""

import re

from anchorview.report.document import Section, Table, score_cells
from anchorview.report.markup import latex, section_markdown, to_latex, to_markdown


def test_best_is_bold_and_second_underlined() -> None:
    table = Table("t", "A title with 5 % of φ_M", ["Dataset", "a", "b", "c"])
    table.add_heading("ACC (%)")
    table.add("x_y", *score_cells([1.0, None, 2.0], ["1.0 ± 0.1", "OM", "2.0 ± 0.2"]))
    text = to_latex(table)
    assert r"x\_y & \underline{1.0} $\pm$ 0.1 & OM & \textbf{2.0} $\pm$ 0.2 \\" in text
    assert r"\caption{A title with 5 \% of $\phi_\mathcal{M}$}" in text
    assert r"\multicolumn{4}{c}{\textbf{ACC (\%)}}" in text
    assert latex("1.43e8") == r"$1.43 \times 10^{8}$"
    times = score_cells([3.0, 1.0], ["3.00 (1.00)", "1.00"], smallest=True)
    assert [cell.mark for cell in times] == ["second", "best"]
    assert [cell.mark for cell in score_cells([5.0, 5.0], ["5.0", "5.0"])] == ["", ""]


NASTY = r"$\frac{$ <b>x</b>|y*_z_ [a](b) `c` ~d~ & &amp; #1 50%^2 " + "\n\0end"


def test_names_are_plain_text_in_markdown() -> None:
    table = Table(NASTY, NASTY, ["Dataset", NASTY], note=NASTY)
    table.add(NASTY, "1.0")
    table.add_heading(NASTY)
    section = Section("s", "S", [NASTY], [table])
    text = section_markdown(section)
    plain = r"\$\\frac{\$ \<b\>x\</b\>\|y\*\_z\_ \[a\](b) \`c\` \~d\~ \& \&amp; #1 50%^2  end"
    assert text.count(plain) == 6
    rows = [line for line in text.splitlines() if line.startswith("|")]
    assert {len(re.findall(r"(?<!\\)\|", row)) for row in rows} == {3}  # two columns, whatever the names hold
    assert "\0" not in text


def test_names_are_plain_text_in_latex() -> None:
    table = Table(NASTY, NASTY, ["Dataset", NASTY])
    table.add(NASTY, "1.0")
    text = to_latex(table)
    plain = (
        r"\$\textbackslash{}frac\{\$ \textless{}b\textgreater{}x\textless{}/b\textgreater{}\textbar{}y*\_z\_ [a](b) "
    )
    plain += r"`c` \textasciitilde{}d\textasciitilde{} \& \&amp; \#1 50\%\textasciicircum{}2  end"
    assert text.count(plain) == 3
    assert {line.count(" & ") for line in text.splitlines() if line.endswith(r"\\")} == {1}
    assert latex("run1.43e8") == "run1.43e8"  # a name, not a number


def test_our_methods_have_a_star() -> None:
    table = Table("t", "T", ["Dataset", "MVAR", "FSSMSC"], ours=["FSSMSC", "AnchorViewClassifier"])
    table.add("hw", "1.0", "2.0")
    assert "| MVAR | FSSMSC ★ |" in re.sub(" +", " ", to_markdown(table))
    assert "★: methods of this library." in to_markdown(table)
    assert r"MVAR & FSSMSC $\star$ \\" in to_latex(table)


def test_marks_compare_like_with_like() -> None:
    cells = score_cells([99.0, 80.0, 70.0, 60.0], ["99.0", "80.0", "70.0", "60.0"], groups=[0, 1, 1, 1])
    assert [cell.mark for cell in cells] == ["", "best", "second", ""]
