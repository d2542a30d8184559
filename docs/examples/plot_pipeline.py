"""
In a scikit-learn pipeline
==========================

Transformers view by view, a grid search that hides labels in place of rows, and a model file.
"""

# %%
import os
import tempfile

import matplotlib.pyplot as plt
from sklearn.datasets import load_digits
from sklearn.decomposition import PCA
from sklearn.model_selection import GridSearchCV
from sklearn.pipeline import Pipeline

import anchorview
from anchorview import FSSMSC, LabelHidingKFold, PerView, Views, datasets, metrics

images, target = load_digits(return_X_y=True)
views = Views(
    {"pixels": images, "rows": images.reshape(-1, 8, 8).sum(axis=2), "columns": images.reshape(-1, 8, 8).sum(axis=1)}
)
y = datasets.hide_labels(target, 0.05, random_state=0)
print(views, (y != -1).sum(), "labels")

# %%
# ``PerView`` fits one transformer for each view. Here the pixels get a PCA, the others stay as they are.
pipeline = Pipeline(
    [
        ("prepare", PerView({"pixels": PCA(20, random_state=0)})),
        ("model", FSSMSC(n_landmarks=150, must_link_weight=3.0, readers="nearest", random_state=0)),
    ]
)

# %%
# ``LabelHidingKFold`` keeps all rows and hides labels; ``labelled_scorer`` ignores rows without a label.
search = GridSearchCV(
    pipeline,
    {"model__scaling": ["minmax", "l2"], "model__ridge": [1.0, 3.0]},
    scoring=metrics.labelled_scorer,
    cv=LabelHidingKFold(3, random_state=0),
).fit(views, y)
print(search.best_params_)

# %%
names = [", ".join(str(value) for value in setting.values()) for setting in search.cv_results_["params"]]
fig, ax = plt.subplots(figsize=(6, 2.5))
ax.barh(names, search.cv_results_["mean_test_score"], xerr=search.cv_results_["std_test_score"])
ax.set(xlabel="accuracy on hidden labels", xlim=(0.5, 1))
fig.tight_layout()

# %%
hidden = y == -1
best = search.best_estimator_
print(f"accuracy on rows without a label: {(best.predict(views) == target)[hidden].mean():.3f}")

# %%
# Model files contain no code. The whole pipeline fits into one.
path = os.path.join(tempfile.mkdtemp(), "digits.anchorview")
anchorview.save(best, path)
print((anchorview.load(path).predict(views) == best.predict(views)).all())
