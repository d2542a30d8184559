"""
Calibration, and rows to trust
==============================

Is a confidence of 0.8 right in 80 of 100 cases? Compare stated confidence and true accuracy with 1, 5 and 20 % labels.
"""

# %%
import matplotlib.pyplot as plt

from anchorview import FSSMSC, datasets, metrics, plotting

digits = datasets.load_handwritten()
fig, axes = plt.subplots(1, 3, figsize=(10, 3.4), sharey=True)
for ax, share in zip(axes, (0.01, 0.05, 0.2), strict=True):
    y = datasets.hide_labels(digits.target, share, random_state=0)
    hidden = y == -1
    model = FSSMSC(n_landmarks=100, random_state=0).fit(digits.views, y)
    right = (model.labels_ == digits.target)[hidden]
    error = metrics.expected_calibration_error(right, model.confidence_[hidden])
    plotting.plot_reliability(right, model.confidence_[hidden], ax=ax)
    ax.set_title(f"{share:.0%} labels: accuracy {right.mean():.2f}, ECE {error:.3f}", fontsize=9)
fig.tight_layout()

# %%
# With few labels, some rows need a look. Labels drawn at random make the model's own estimate honest: say so with
# ``label_source``.
y = datasets.hide_labels(digits.target, 0.1, random_state=0)
source = {int(row): "random" for row in (y != -1).nonzero()[0]}
model = FSSMSC(n_landmarks=100, random_state=0).fit(digits.views, y, label_source=source)
print(model.expected_accuracy_)

# %%
# :meth:`anchorview.FSSMSC.trusted_rows` returns the largest set of rows whose labels are right often enough.
trusted = model.trusted_rows(accuracy=0.95)
hidden = y == -1
print(trusted.describe())
