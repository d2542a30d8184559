"""
Single cells: MuData in, labels back in ``obs``
===============================================

RNA and surface proteins of the same cells, as in CITE-seq. Some cells have no protein measurement, and few have a cell
type. The counts are generated.
"""

# %%
import mudata
import numpy as np
import pandas as pd
from anndata import AnnData
from mudata import MuData

from anchorview import FSSMSC, plotting
from anchorview.export import write_results

mudata.set_options(pull_on_update=False)  # as its next version will do
rng = np.random.default_rng(0)
names = np.array(["B", "T", "NK", "monocyte"])
kind = rng.integers(0, 4, 800)
rates_rna, rates_protein = rng.gamma(0.5, 2, (4, 200)), rng.gamma(1.0, 3, (4, 20))
cells = pd.DataFrame(index=[f"cell{number:03d}" for number in range(800)])
genes, proteins = (pd.DataFrame(index=[f"{name}{n}" for n in range(size)]) for name, size in (("g", 200), ("p", 20)))
rna = AnnData(rng.poisson(rates_rna[kind]).astype(np.float32), obs=cells, var=genes)
protein = AnnData(rng.poisson(rates_protein[kind]).astype(np.float32), obs=cells, var=proteins)[:600].copy()
for part in (rna, protein):
    part.X = np.log1p(part.X)
mdata = MuData({"rna": rna, "protein": protein})
mdata.obs["celltype"] = pd.Series(np.where(rng.random(800) < 0.05, names[kind], None), index=cells.index)
print(mdata.obs["celltype"].value_counts(dropna=False).to_string())

# %%
# Fit on the object itself. The labels are a column of ``obs``. Cells without protein are missing that view.
model = FSSMSC(random_state=0).fit(mdata, "celltype")
print(f"accuracy: {(model.labels_ == names[kind]).mean():.3f}")

# %%
# Write labels, confidence and the embedding back.
write_results(model, mdata)
print(mdata.obs[["anchorview_label", "anchorview_confidence"]].head().to_string())

# %%
plotting.plot_embedding(mdata.obsm["X_anchorview"], model.labels_)
