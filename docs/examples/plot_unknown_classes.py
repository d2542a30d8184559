"""
Classes nobody labelled
=======================

The labels cover seven of ten digits. Rows of the other three must get a wrong label.
Does the confidence give them away?
"""

# %%
import matplotlib.pyplot as plt
import numpy as np
from sklearn.metrics import roc_auc_score

from anchorview import FSSMSC, datasets

digits = datasets.load_handwritten()
y = datasets.hide_labels(digits.target, 0.05, random_state=0)
y[np.isin(y, (3, 6, 8))] = -1  # nobody labelled these
unknown = np.isin(digits.target, (3, 6, 8))
hidden = y == -1

# %%
# ``readers="knn"`` doubts rows that are far from all labels.
model = FSSMSC(readers="knn", random_state=0).fit(digits.views, y)
auc = roc_auc_score(unknown[hidden], 1 - model.confidence_[hidden])
print(f"a random row of an unknown class is less certain than one of a known class with probability {auc:.2f}")

# %%
fig, ax = plt.subplots(figsize=(6, 3))
bins = np.linspace(0, 1, 21)
ax.hist(model.confidence_[hidden & ~unknown], bins, alpha=0.7, label="labelled classes")
ax.hist(model.confidence_[hidden & unknown], bins, alpha=0.7, label="classes nobody labelled")
ax.set(xlabel="confidence", ylabel="rows")
ax.legend()
fig.tight_layout()

# %%
# ``suggest_labels`` spreads its suggestions over the data, so it reaches unknown classes soon.
rows = model.suggest_labels(20)
print("digits among 20 suggestions:", sorted(int(digit) for digit in digits.target[rows]))

# %%
# The digits are easy. On hard data the confidence separates unknown classes much less; label a random sample to find
# out whether a class is missing.
