"""
Photos
======

Photos become four views without any network: edges, texture, layout and colour. The pictures here are drawn by the
example; give your own folder instead. Needs ``pip install "anchorview[images]"``.
"""

# %%
import tempfile
from pathlib import Path

import matplotlib.pyplot as plt
import numpy as np
from PIL import Image, ImageDraw

from anchorview import FSSMSC, ImageViews

rng = np.random.default_rng(0)
folder = Path(tempfile.mkdtemp())
paths, shapes = [], []
for number in range(150):
    shape = ("disc", "square", "stripes")[number % 3]
    picture = Image.new("RGB", (64, 64), tuple(int(c) for c in rng.integers(150, 255, 3)))
    pen, ink = ImageDraw.Draw(picture), tuple(int(c) for c in rng.integers(0, 110, 3))
    x, y, size = (int(v) for v in (rng.integers(4, 20), rng.integers(4, 20), rng.integers(24, 40)))
    if shape == "disc":
        pen.ellipse((x, y, x + size, y + size), fill=ink)
    elif shape == "square":
        pen.rectangle((x, y, x + size, y + size), fill=ink)
    else:
        for left in range(x, x + size, 8):
            pen.rectangle((left, y, left + 3, y + size), fill=ink)
    noise = rng.normal(0, 12, (64, 64, 3))
    picture = Image.fromarray(np.clip(np.asarray(picture) + noise, 0, 255).astype(np.uint8))
    paths.append(folder / f"{number:03d}.png")
    picture.save(paths[-1])
    shapes.append(shape)
shapes = np.array(shapes)

fig, axes = plt.subplots(1, 6, figsize=(9, 1.8))
for ax, path, shape in zip(axes, paths, shapes, strict=False):
    ax.imshow(Image.open(path))
    ax.set_title(shape)
    ax.axis("off")

# %%
# Five labels of each class.
labels = np.where(np.arange(150) < 15, shapes, "")
views = ImageViews().fit_transform([str(path) for path in paths])
print(views)

# %%
model = FSSMSC(random_state=0).fit(views, labels)
print(f"accuracy on photos without a label: {(model.labels_ == shapes)[15:].mean():.3f}")

# %%
# On the command line: ``anchorview fit photos/ --labels labels.csv -o run``. With an encoder of your own as an ONNX
# file (``--image-encoder network.onnx``) photos are compared by meaning.
