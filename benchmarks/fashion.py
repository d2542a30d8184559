"""Fashion-MNIST as five views: pixels, HOG, LBP, gradient and profile features (70,000 rows × 2,064 features).

    apt-get install dataset-fashion-mnist
    python benchmarks/fashion.py --out /tmp/anchorview-data        writes fashion.npz, about 15 s

The images come from Debian's package `dataset-fashion-mnist` (MIT licence).
"""

from __future__ import annotations

import argparse
import gzip
from pathlib import Path

import numpy as np
import numpy.typing as npt

SOURCE = Path("/usr/share/datasets/fashion-mnist")
Array = npt.NDArray[np.floating]


def read_idx(path: Path) -> npt.NDArray[np.uint8]:
    """Read one idx file, plain or gzipped."""
    file = path if path.exists() else path.with_name(path.name + ".gz")
    if not file.exists():
        raise SystemExit(f"{path} is not there; run: apt-get install dataset-fashion-mnist")
    raw = gzip.decompress(file.read_bytes()) if file.suffix == ".gz" else file.read_bytes()
    n_dimensions = raw[3]
    shape = np.frombuffer(raw, ">u4", n_dimensions, 4)
    return np.frombuffer(raw, np.uint8, offset=4 + 4 * n_dimensions).reshape(shape)


def gradients(images: Array) -> tuple[Array, Array]:
    """Central differences, zero at the border."""
    dx, dy = np.zeros_like(images), np.zeros_like(images)
    dx[:, :, 1:-1] = images[:, :, 2:] - images[:, :, :-2]
    dy[:, 1:-1] = images[:, 2:] - images[:, :-2]
    return dx, dy


def cell_sums(maps: Array, cell: int) -> Array:
    """Sum square cells of maps of shape (n, 28, 28)."""
    side = maps.shape[1] // cell
    return maps[:, : side * cell, : side * cell].reshape(len(maps), side, cell, side, cell).sum(axis=(2, 4))


def hog(images: Array) -> Array:
    """Histograms of 9 gradient directions in 7×7 cells of 4 pixels, weighted by magnitude: 441 features."""
    dx, dy = gradients(images)
    magnitude = np.hypot(dx, dy)
    direction = (np.mod(np.arctan2(dy, dx), np.pi) * (9 / np.pi)).astype(np.int8) % 9
    cells = [cell_sums(np.where(direction == bin_, magnitude, 0), 4) for bin_ in range(9)]
    return np.stack(cells, axis=-1).reshape(len(images), -1)


def uniform_patterns() -> npt.NDArray[np.intp]:
    """Map each 8-bit pattern to one of 58 uniform ones, or to the 59th for all others."""
    table = np.full(256, 58)
    number = 0
    for pattern in range(256):
        bits = [(pattern >> i) & 1 for i in range(8)]
        if sum(bits[i] != bits[(i + 1) % 8] for i in range(8)) <= 2:
            table[pattern] = number
            number += 1
    return table


def lbp(images: Array) -> Array:
    """Histograms of uniform local binary patterns in 3×3 cells of 9 pixels: 531 features."""
    padded = np.pad(images, ((0, 0), (1, 1), (1, 1)))
    patterns = np.zeros(images.shape, dtype=np.uint8)
    ring = [(0, 0), (0, 1), (0, 2), (1, 2), (2, 2), (2, 1), (2, 0), (1, 0)]
    for bit, (row, column) in enumerate(ring):
        patterns |= (padded[:, row : row + 28, column : column + 28] >= images).astype(np.uint8) << bit
    cells = (np.minimum(np.arange(28) // 9, 2)[:, None] * 3 + np.minimum(np.arange(28) // 9, 2)) * 59
    place = uniform_patterns()[patterns] + cells + 531 * np.arange(len(images))[:, None, None]
    return np.bincount(place.ravel(), minlength=531 * len(images)).reshape(len(images), 531).astype(np.float32)


def profiles(images: Array) -> Array:
    """Where each row and column begins and ends, seen from the four sides: 112 features."""
    ink = images > 40
    sides = [ink, ink[:, :, ::-1], ink.transpose(0, 2, 1), ink.transpose(0, 2, 1)[:, :, ::-1]]
    return np.concatenate([np.where(s.any(axis=2), s.argmax(axis=2), 28) for s in sides], axis=1).astype(np.float32)


def make_views(images: npt.NDArray[np.uint8]) -> dict[str, Array]:
    """Compute all views in blocks."""
    parts = []
    for start in range(0, len(images), 5000):
        block = images[start : start + 5000].astype(np.float32)
        dx, dy = gradients(block)
        parts.append(
            {
                "pixels": block.reshape(len(block), -1),
                "hog": hog(block),
                "lbp": lbp(block),
                "gradient": cell_sums(np.hypot(dx, dy), 2).reshape(len(block), -1),
                "profile": profiles(block),
            }
        )
    return {name: np.concatenate([part[name] for part in parts]).astype(np.float32) for name in parts[0]}


def build(out: Path, source: Path = SOURCE) -> Path:
    """Write fashion.npz unless it is there, and return its path."""
    path = out / "fashion.npz"
    if path.exists():
        return path
    images = np.concatenate([read_idx(source / f"{part}-images-idx3-ubyte") for part in ("train", "t10k")])
    target = np.concatenate([read_idx(source / f"{part}-labels-idx1-ubyte") for part in ("train", "t10k")])
    views = make_views(images)
    arrays = {f"v{i}": view for i, view in enumerate(views.values())}
    out.mkdir(parents=True, exist_ok=True)
    partial = path.with_suffix(".part.npz")
    np.savez(partial, y=target.astype(np.int64), view_names=np.array(list(views)), **arrays)
    partial.rename(path)
    return path


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--out", type=Path, required=True, help="folder for fashion.npz")
    parser.add_argument("--source", type=Path, default=SOURCE, help="folder of the images")
    options = parser.parse_args()
    print(build(options.out, options.source))


if __name__ == "__main__":
    main()
