"""Write the model files of this release that later ones must be able to load: ``python tests/support/keep_models.py``.

Once per format version, when it is new; files that exist are never written again.
"""

from __future__ import annotations

import sys
from pathlib import Path

import numpy as np
from scipy import sparse

sys.path.insert(0, str(Path(__file__).parents[1]))

from anchorview import FSSMSC, Views, save
from anchorview.app.model_file import VERSION
from support.models import made, search, text_labels

FOLDER = Path(__file__).parents[1] / "app" / "data"


def main() -> None:
    words, numbers = np.maximum(np.round(2 * made().data[0]), 0), made().data[1].astype(np.float32)
    mask = np.random.default_rng(0).random((len(words), 2)) > 0.2
    mask[~mask.any(axis=1), 0] = True
    views = Views({"words": sparse.csr_array(words), "numbers": numbers}, mask=mask)
    plain = FSSMSC(n_landmarks=12, scaling=["lsa", "standard"], readers="knn", random_state=0)
    keep("fssmsc", plain.fit(views, text_labels()), {"words": words, "numbers": numbers})
    joined = FSSMSC(
        n_landmarks=12, scaling=["lsa", "standard"], readers=("nearest", "linear", "poisson"), random_state=0
    )
    keep("joined", joined.fit(views, text_labels()), {"words": words, "numbers": numbers})  # from version 2 on
    whole = {"words": words, "numbers": numbers}
    keep("fssmsccv", search(scaling="minmax", n_averaged=8).fit(whole, text_labels()), whole)


def keep(name: str, model: object, X: dict[str, np.ndarray]) -> None:
    """Write a model, some rows and what it says of them."""
    some = {view: part[:12] for view, part in X.items()}
    save(model, FOLDER / f"{name}-{VERSION}.anchorview")
    answers = {"labels": model.predict(some), "probabilities": model.predict_proba(some)}
    np.savez_compressed(FOLDER / f"{name}-{VERSION}.npz", **some, **answers)


if __name__ == "__main__":
    main()
