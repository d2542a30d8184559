"""Predict rows of a folder of `.npy` views with its `model.pkl`, as a process that a test kills."""

from __future__ import annotations

import pickle
import sys
from pathlib import Path

from anchorview import Views, open_rows
from anchorview.export import predict_to


def main() -> None:
    folder, result = Path(sys.argv[1]), Path(sys.argv[2])
    model = pickle.loads((folder / "model.pkl").read_bytes())
    views = Views({path.stem: open_rows(path) for path in sorted(folder.glob("view*.npy"))})

    def wait_to_be_killed(done: int, total: int) -> None:
        print(done, flush=True)
        if len(sys.argv) > 3:
            sys.stdin.readline()  # the test lets it go on, or kills it

    predict_to(model, views, result, block_rows=40, progress=wait_to_be_killed)


if __name__ == "__main__":
    main()
