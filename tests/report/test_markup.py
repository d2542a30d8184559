"""Tables as LaTeX."""

from anchorview.report.document import Table, score_cells
from anchorview.report.markup import latex, to_latex


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
