"""
Are two embeddings better than one?
===================================

You have embeddings from two models and wonder whether the second is worth computing. Hide some labels and measure.
"""

# %%
# Two "embeddings" of the same digits: principal components of the pixels, and random features of the Fourier
# coefficients.
import matplotlib.pyplot as plt
import numpy as np
from sklearn.decomposition import PCA
from sklearn.kernel_approximation import RBFSampler
from sklearn.preprocessing import StandardScaler

from anchorview import FSSMSC, datasets

digits = datasets.load_handwritten()
first = PCA(30, random_state=0).fit_transform(digits.data[3])
second = RBFSampler(gamma=0.01, n_components=100, random_state=0).fit_transform(
    StandardScaler().fit_transform(digits.data[0])
)
candidates = {
    "first": {"first": first},
    "second": {"second": second},
    "both": {"first": first, "second": second},
}

# %%
# Three random choices of 100 labels each.
scores = {name: [] for name in candidates}
for seed in range(3):
    y = datasets.hide_labels(digits.target, 0.05, random_state=seed)
    for name, views in candidates.items():
        model = FSSMSC(n_landmarks=200, random_state=seed).fit(views, y)
        scores[name].append((model.labels_ == digits.target)[y == -1].mean())
for name, values in scores.items():
    print(f"{name:7s} {np.mean(values):.3f} ± {np.std(values):.3f}")

# %%
fig, ax = plt.subplots(figsize=(6, 2.5))
ax.barh(list(scores), [np.mean(values) for values in scores.values()], color="tab:blue")
ax.set(xlim=(0.5, 1), xlabel="accuracy on rows without a label")
fig.tight_layout()

# %%
# On your own data you cannot see this accuracy. Compare ``model.expected_accuracy_`` instead, or hide part of the
# labels you have.
