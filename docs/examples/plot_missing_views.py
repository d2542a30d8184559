"""
Missing views
=============

Three in ten feature sets are missing at random. anchorview describes a row by the views it has. Filling the gaps with
means, the usual remedy, loses more.
"""

# %%
import matplotlib.pyplot as plt
import numpy as np

from anchorview import FSSMSC, Views, datasets

digits = datasets.load_handwritten()
shares = (0.0, 0.3, 0.5)
scores = {"mask": [], "mean imputation": []}
for share in shares:
    y = datasets.hide_labels(digits.target, 0.05, random_state=0)
    mask = np.random.default_rng(0).random((2000, 6)) >= share  # True: the row has the view
    mask[:, 0] |= ~mask.any(axis=1)  # every row keeps one
    filled = []
    for number, array in enumerate(digits.data):
        present = mask[:, number, None]
        filled.append(np.where(present, array, array[mask[:, number]].mean(axis=0)))
    for name, views in {"mask": Views(digits.data, mask=mask), "mean imputation": Views(filled)}.items():
        model = FSSMSC(n_landmarks=200, random_state=0).fit(views, y)
        scores[name].append((model.labels_ == digits.target)[y == -1].mean())
        print(f"{share:.0%} missing, {name}: {scores[name][-1]:.3f}")

# %%
fig, ax = plt.subplots(figsize=(6, 3))
for name, values in scores.items():
    ax.plot([100 * share for share in shares], values, marker="o", label=name)
ax.set(xlabel="missing cells (%)", ylabel="accuracy", ylim=(0.6, 1))
ax.legend()
fig.tight_layout()

# %%
# A whole view may also be missing when you predict. Leave it out by name.
model = FSSMSC(n_landmarks=200, random_state=0).fit({"pixels": digits.data[3], "shape": digits.data[5]}, y)
print(model.predict({"pixels": digits.data[3][:5]}))
