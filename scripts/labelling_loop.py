"""A loop of labelling on the digits, played to its end, and its curve: docs/images/labelling_loop.png.

    python scripts/labelling_loop.py

Twenty labels at a time, sixteen that the model asks for and four of the audit; the person who labels is the data set's
own target. What it prints is written into docs/labelling_loop.md as well.
"""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from matplotlib.figure import Figure

from anchorview import FSSMSC, datasets

DOCS = Path(__file__).resolve().parent.parent / "docs"
PICTURE, PAGE = DOCS / "images" / "labelling_loop.png", DOCS / "labelling_loop.md"
N_ROUNDS, BATCH = 8, 20


def main() -> None:
    digits = datasets.load_handwritten()
    truth, y, source = digits.target, np.full(2000, -1), {}
    model = FSSMSC(n_clusters=10, random_state=0).fit(digits.views)  # no label yet: groups
    points, lines = [], []
    for number in range(1, N_ROUNDS + 1):
        for each in model.suggest_labels(BATCH, explain=True):
            y[each.row], source[each.row] = truth[each.row], each.source
        if number == 1:
            model = FSSMSC(random_state=0).fit(digits.views, y, label_source=source)
        else:
            model.update(y, label_source=source)
        stated, right = model.expected_accuracy_, (model.labels_ == truth)[y < 0].mean()
        changed = "" if number == 1 else f"; {100 * model.changed_:.1f} % of the labels changed"
        if stated is not None:
            points.append((BATCH * number, right, stated.value, stated.low, stated.high, stated.rests_on))
            lines.append(
                f"{BATCH * number:4d} labels of {len(model.classes_):2d} classes: {100 * right:.1f} % right; stated "
                f"{100 * stated.value:.1f} ({100 * stated.low:.0f} to {100 * stated.high:.0f}) "
                f"by {stated.rests_on}{changed}"
            )
    text = "\n".join([*lines, model.trusted_rows(0.9).describe(), model.labels_needed(0.99).describe()])
    print(text)
    page = PAGE.read_text()
    PAGE.write_text(re.sub(r"(?<=```text\n).*?(?=\n```)", lambda _: text, page, count=1, flags=re.DOTALL))
    draw(points)


def draw(points: list[tuple[int, float, float, float, float, str]]) -> None:
    """Draw stated and true accuracy against the number of labels."""
    labels, right, value, low, high = (np.array([point[place] for point in points]) for place in range(5))
    figure = Figure(figsize=(6.4, 3.8), layout="constrained")
    panel = figure.subplots()
    panel.fill_between(labels, 100 * low, 100 * high, color="tab:blue", alpha=0.2, linewidth=0, label="90 % interval")
    panel.plot(labels, 100 * value, color="tab:blue", marker="o", label="stated (expected_accuracy_)")
    panel.plot(labels, 100 * right, color="black", marker="s", label="true, of rows without a label")
    panel.set(xlabel="labels given", ylabel="accuracy in percent", title="A labelling loop on 2,000 digits")
    panel.grid(alpha=0.3)
    panel.legend(frameon=False, loc="lower right")
    figure.savefig(PICTURE, dpi=110)


if __name__ == "__main__":
    main()
