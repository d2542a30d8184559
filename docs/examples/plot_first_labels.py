"""
First labels
============

Two thousand handwritten digits, a hundred labels, and a label for every row. The digits come with anchorview, in six
feature sets ("views"): Fourier coefficients, profiles, pixels and others.
"""

# %%
# Hide all labels but 100. ``-1`` means "no label".
from anchorview import FSSMSC, datasets, plotting

digits = datasets.load_handwritten()
y = datasets.hide_labels(digits.target, 0.05, random_state=0)
print(digits.views)
print((y != -1).sum(), "labels,", (y == -1).sum(), "rows without one")

# %%
# Fit. The model labels every row and returns a confidence for each.
model = FSSMSC(random_state=0).fit(digits.views, y)
hidden = y == -1
right = model.labels_ == digits.target
print(f"accuracy on the rows without a label: {right[hidden].mean():.3f}")

# %%
# You would not know that figure, because you would not have the labels. The model estimates it by hiding some of the
# labels it was given.
print(f"accuracy that the model expects:      {model.expected_accuracy_.value:.3f}")

# %%
# Every dot of the map is a row, coloured by its label. Rings mark the rows you labelled.
plotting.plot_embedding(model.embedding_, model.labels_, marked=~hidden)

# %%
# Rows that arrive tomorrow need the same views. They do not change the model.
print(model.predict(digits.views[:5]))
print(model.predict_proba(digits.views[:5]).max(axis=1).round(2))
