"""Codes of two checkouts side by side: whether they are the same, and as fast.

    python benchmarks/steady.py --against ../main
    python benchmarks/steady.py --against ../main --kinds signed signed signed

Each checkout runs in a process of its own that encodes the same rows again and again, in turn with the other. Printed
are the median and the quartiles of the ratio of CPU seconds, and the largest difference of the codes. "digits" are rows
with few non-zeros, "signed" ones with many, "made" the rows of benchmarks/speed.py (200 features); "double" is "digits"
in double precision. One thread encodes them, and its microseconds a row are given. Where arrays come to lie differs
from process to process, and may count: a kind named several times is run by new processes each time.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path
from typing import Any

import numpy as np

HERE = Path(__file__).resolve().parents[1]
KINDS = {"digits": 2000, "double": 2000, "signed": 250, "made": 2000}  # rows that are encoded at a time


def make_products(kind: str) -> tuple[Any, Any]:
    """Return E of some rows and G of 500 landmarks, which are rows drawn at random."""
    from anchorview import datasets

    rng = np.random.default_rng(0)
    if kind == "signed":
        views = [rng.normal(size=(3000, 100)) for _ in range(3)]
    elif kind == "made":
        made = datasets.make_multiview_subspaces(3000, 10, (100, 60, 40), noise=0.3, nonnegative=True, random_state=0)
        views = [np.asarray(view, dtype=np.float64) for view in made.views.arrays]
    else:
        views = [np.asarray(view, dtype=np.float64) for view in datasets.load_handwritten().data]
    scaled = []
    for view in views:
        low, width = view.min(axis=0), np.maximum(np.ptp(view, axis=0), 1e-12)
        part = (view - low) / width
        scaled.append(part / np.maximum(np.linalg.norm(part, axis=1, keepdims=True), 1e-12))
    rows = np.hstack(scaled)
    landmarks = rows[rng.choice(len(rows), 500, replace=False)]
    dtype = np.float64 if kind == "double" else np.float32
    return (rows[: KINDS[kind]] @ landmarks.T).astype(dtype), landmarks @ landmarks.T


def serve(kind: str, out: Path) -> None:
    """Encode once and keep the codes; then once for every line that is read, and print the CPU seconds."""
    import anchorview
    from anchorview.solver.elastic_net import ElasticNetEncoder

    cross, gram = make_products(kind)
    encoder = ElasticNetEncoder(gram, 1.0, 0.2)
    codes = encoder.encode(cross)
    np.save(out, codes.toarray())
    print(anchorview.__file__, codes.nnz / len(cross), flush=True)
    for _ in sys.stdin:
        start = time.process_time()
        encoder.encode(cross)
        print(time.process_time() - start, flush=True)


def compare(checkouts: list[Path], kind: str, repeats: int) -> None:
    """Race two checkouts, and print how it went."""
    with tempfile.TemporaryDirectory() as folder:
        files = [Path(folder) / f"{number}.npy" for number in range(2)]
        children = []
        for checkout, file in zip(checkouts, files, strict=True):
            environment = os.environ | {"PYTHONPATH": str(checkout / "src")}
            command = [sys.executable, str(Path(__file__).resolve()), "--serve", kind, "--out", str(file)]
            pipes: dict[str, Any] = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "text": True}
            children.append(subprocess.Popen(command, env=environment, **pipes))
        try:
            for checkout, child in zip(checkouts, children, strict=True):
                place, nonzeros = child.stdout.readline().split()
                if not place.startswith(str(checkout)):
                    raise RuntimeError(f"{place} was measured instead of {checkout}")
            seconds = np.empty((repeats, 2))
            for number in range(repeats):
                for each in (0, 1) if number % 2 else (1, 0):
                    children[each].stdin.write("\n")
                    children[each].stdin.flush()
                    seconds[number, each] = float(children[each].stdout.readline())
        finally:
            for child in children:
                child.kill()
                child.wait()
        codes = [np.load(file) for file in files]
    low, middle, high = np.percentile(seconds[:, 0] / seconds[:, 1], [25, 50, 75])
    best = seconds.min(axis=0)
    print(
        f"{kind}: {float(nonzeros):.0f} non-zeros a row; {middle:.3f} of the other's CPU seconds (quartiles {low:.3f} "
        f"and {high:.3f}; of the fastest runs {best[0] / best[1]:.3f}), {1e6 * best[0] / KINDS[kind]:.1f} µs a row "
        f"instead of {1e6 * best[1] / KINDS[kind]:.1f}; codes differ by "
        f"{np.abs(codes[0] - codes[1]).max():.1e} at most"
    )


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--against", type=Path, help="the other checkout")
    parser.add_argument("--kinds", nargs="+", choices=KINDS, default=list(KINDS))
    parser.add_argument("--repeats", type=int, default=30)
    parser.add_argument("--serve", choices=KINDS, help=argparse.SUPPRESS)
    parser.add_argument("--out", type=Path, help=argparse.SUPPRESS)
    options = parser.parse_args()
    if options.serve:
        serve(options.serve, options.out)
        return
    if options.against is None:
        parser.error("name another checkout: --against PATH")
    for kind in options.kinds:
        compare([HERE, options.against.resolve()], kind, options.repeats)


if __name__ == "__main__":
    main()
