"""
The labelling loop
==================

Start with no labels. Label twenty rows at a time, once the rows that the model suggests and once random ones.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from anchorview import FSSMSC, datasets

digits = datasets.load_handwritten()
views, truth = digits.views[::2], digits.target[::2]  # 1,000 digits; truth plays the person who labels
rng = np.random.default_rng(0)


def loop(suggested):
    """Return the number of labels and the accuracy after each round."""
    y = np.full(len(truth), -1)
    start = FSSMSC(n_clusters=10, n_landmarks=200, random_state=0).fit(views)
    rows = start.suggest_labels(20) if suggested else rng.choice(len(truth), 20, replace=False)
    y[rows] = truth[rows]
    model = FSSMSC(n_landmarks=200, random_state=0).fit(views, y)
    curve = []
    for _ in range(5):
        curve.append(((y != -1).sum(), (model.labels_ == truth).mean()))
        rows = model.suggest_labels(20) if suggested else rng.choice(np.flatnonzero(y == -1), 20, replace=False)
        y[rows] = truth[rows]
        model = model.update(y)  # the same rows, more labels: a fraction of a fit
    return np.array([*curve, ((y != -1).sum(), (model.labels_ == truth).mean())])


curves = {"suggested": loop(True), "random": loop(False)}
for name, curve in curves.items():
    print(name, *(f"{int(labels)}: {accuracy:.3f}" for labels, accuracy in curve))

# %%
fig, ax = plt.subplots(figsize=(6, 3))
for name, curve in curves.items():
    ax.plot(*curve.T, marker="o", label=name)
ax.set(xlabel="labels", ylabel="accuracy of all rows")
ax.legend()
fig.tight_layout()

# %%
# One start and one data set: a picture of the idea, not a measurement. ``python benchmarks/confidence.py --only
# suggestions`` measures it.
