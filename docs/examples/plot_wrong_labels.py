"""
Wrong labels
============

One label in ten is wrong. The model ranks the labels it was given, so that a person can check the worst first.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from anchorview import FSSMSC, datasets

digits = datasets.load_handwritten()
y = datasets.hide_labels(digits.target, 0.1, random_state=0)
given = np.flatnonzero(y != -1)
flipped = given[::10]
y[flipped] = (y[flipped] + 1) % 10
print(len(given), "labels,", len(flipped), "of them wrong")

# %%
# ``label_quality_`` is the probability of each label, according to models that have not seen it.
model = FSSMSC(n_landmarks=200, random_state=0).fit(digits.views, y)
order = given[np.argsort(model.label_quality_[given])]
found = np.cumsum(np.isin(order, flipped))
print(f"among the first {len(flipped)} of the list: {found[len(flipped) - 1]} of {len(flipped)} wrong labels")

# %%
fig, ax = plt.subplots(figsize=(6, 3))
ax.plot(np.arange(1, len(order) + 1), found, label="sorted by label_quality_")
ax.plot([0, len(order)], [0, len(flipped)], linestyle="--", color="grey", label="random order")
ax.set(xlabel="labels checked", ylabel="wrong labels found")
ax.legend()
fig.tight_layout()

# %%
# ``relabel=0.9`` corrects labels that are wrong with a probability above 0.9 and fits with the corrected ones.
corrected = FSSMSC(n_landmarks=200, relabel=0.9, random_state=0).fit(digits.views, y)
hidden = y == -1
for name, one in {"as given": model, "relabel=0.9": corrected}.items():
    print(f"{name}: accuracy {(one.labels_ == digits.target)[hidden].mean():.3f}")
print("changed:", len(corrected.relabelled_), "wrong among them:", np.isin(corrected.relabelled_, flipped).sum())
