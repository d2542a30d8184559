"""
Pairs instead of labels
=======================

Nobody can name the classes, but people can say "these two are the same" or "these are different".
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from anchorview import FSSMSC, Constraints, Views, datasets, metrics

digits = datasets.load_handwritten()
views = Views(digits.data[:2], names=["fourier", "profile"], ids=[f"d{row}" for row in range(2000)])
rng = np.random.default_rng(0)

# %%
# Draw pairs of rows, half of them from the same class, and ask for "same" or "different".
counts, scores = (0, 100, 500, 1000), []
for count in counts:
    must, cannot = [], []
    while len(must) < count // 2:
        one, other = rng.integers(0, 2000, 2)
        if one != other and digits.target[one] == digits.target[other]:
            must.append((f"d{one}", f"d{other}"))
    while len(cannot) < count // 2:
        one, other = rng.integers(0, 2000, 2)
        if digits.target[one] != digits.target[other]:
            cannot.append((f"d{one}", f"d{other}"))
    pairs = Constraints.from_pairs(must=must, cannot=cannot) if count else None
    model = FSSMSC(n_clusters=10, n_landmarks=200, random_state=0).fit(views, constraints=pairs)
    scores.append(metrics.clustering_accuracy(digits.target, model.labels_))
    print(f"{count:5d} pairs: clustering accuracy {scores[-1]:.3f}")

# %%
fig, ax = plt.subplots(figsize=(6, 3))
ax.plot(counts, scores, marker="o")
ax.set(xlabel="pairs", ylabel="clustering accuracy")
fig.tight_layout()

# %%
# Pairs combine with labels: ``fit(views, y, constraints=pairs)``. Where you can, label rows instead. A label says more
# than a pair.
