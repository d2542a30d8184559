"""
A million rows
==============

This example is shown, not run, when the site is built. Run it yourself: it writes about 0.8 GB and takes a minute or
two on two cores.
"""

# %%
# Generate a million rows in two views, and keep them on disk.
import tempfile
from pathlib import Path

import numpy as np

from anchorview import FSSMSC, datasets, open_rows
from anchorview.export import predict_to

folder = Path(tempfile.mkdtemp())
data = datasets.make_multiview_subspaces(1_000_000, 10, (120, 80), noise=0.3, random_state=0)
for name, array in data.views.items():
    np.save(folder / f"{name}.npy", array.astype(np.float32))
y = datasets.hide_labels(data.target, 0.001, random_state=0)  # 1,000 labels

# %%
# ``open_rows`` opens a file without reading it. Ask what a fit would need before you start it.
views = {name: open_rows(folder / f"{name}.npy") for name in data.views.names}
print(FSSMSC().estimate_memory(1_000_000, 200, n_labelled=1_000))
model = FSSMSC(random_state=0, verbose=True).fit(views, y)
print((model.labels_ == data.target)[y == -1].mean())

# %%
# Label rows that were not in the fit, block by block. If this is killed, the same call resumes.
predict_to(model, views, folder / "labels.parquet")

# %%
# The same on a cluster: pass Dask arrays, and the fit runs on the current client.
#
# .. code-block:: python
#
#     import dask.array as da
#     from distributed import Client, LocalCluster
#
#     client = Client(LocalCluster(n_workers=2, threads_per_worker=1))
#     views = [da.from_zarr(f"{name}.zarr") for name in ("text", "image")]
#     model = FSSMSC(random_state=0).fit(views, y)
#
# ``python benchmarks/scale.py`` measures ten million rows from disk, ``python benchmarks/dask_scale.py`` one and two
# workers.
