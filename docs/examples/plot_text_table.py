"""
A table with text
=================

A table of short texts with a number and a category, and a label column that is mostly empty. The texts are Debian's
``fortunes`` where they are installed (``apt-get install fortunes-min``), generated sentences elsewhere.
"""

# %%
from pathlib import Path

import numpy as np
import pandas as pd
from sklearn.pipeline import make_pipeline

from anchorview import FSSMSC, TableViews, plotting

rng = np.random.default_rng(0)
folder = Path("/usr/share/games/fortunes")
files = [folder / name for name in ("fortunes", "literature", "riddles")]
if all(file.exists() for file in files):
    texts = [(t.strip(), f.name) for f in files for t in f.read_text(errors="replace").split("\n%\n") if t.strip()]
else:
    words = {
        "car": "engine wheel brake road fuel gear tyre",
        "food": "oven flour sugar bread butter salt soup",
        "sport": "racket goal pitch ball match team score",
    }
    common = ["the", "a", "of", "and", "with", "good", "bad", "new", "old", "very", "my", "your", "this"]
    texts = [
        (" ".join([rng.choice(words[topic if rng.random() < 0.9 else other].split()), *rng.choice(common, 5)]), topic)
        for topic, other in rng.choice(list(words), (600, 2))
    ]
order = rng.permutation(len(texts))[:600]
table = pd.DataFrame([texts[place] for place in order], columns=["text", "subject"])
table["length"] = table["text"].str.len()
table["weekday"] = rng.choice(["Mon", "Tue", "Wed"], len(table))
table.head()

# %%
# Keep one label in ten. An empty cell means "no label".
y = table["subject"].where(rng.random(len(table)) < 0.1, "")
print((y != "").sum(), "labels")

# %%
# :class:`anchorview.TableViews` recognises the columns and turns them into views.
model = make_pipeline(TableViews(), FSSMSC(random_state=0))
model.fit(table.drop(columns="subject"), y)
print(model[0].describe())

# %%
guess = model.predict(table.drop(columns="subject"))
hidden = (y == "").to_numpy()
print(f"accuracy on rows without a label: {(guess == table['subject'])[hidden].mean():.3f}")
plotting.plot_confusion(table["subject"].to_numpy()[hidden], guess[hidden])

# %%
# The pipeline takes raw tables, so tomorrow's rows need no preparation.
new = pd.DataFrame({"text": [table["text"][0]], "length": [40], "weekday": ["Sun"]})
print(model.predict(new))
