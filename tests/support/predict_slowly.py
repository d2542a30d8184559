"""Predict rows of a folder of `.npy` views with its `model.pkl`, as a process that is killed by a test or by itself."""

from __future__ import annotations

import os
import pickle
import signal
import sys
from pathlib import Path
from typing import Any

from anchorview import Views, open_rows
from anchorview.core import files, folders
from anchorview.core.partial_results import PartialResults
from anchorview.export import predict_to


def die(*arguments: Any, **options: Any) -> None:
    """End as by SIGKILL of the system."""
    os.kill(os.getpid(), signal.SIGKILL)


def main() -> None:
    folder, result, how = Path(sys.argv[1]), Path(sys.argv[2]), sys.argv[3]
    model = pickle.loads((folder / "model.pkl").read_bytes())
    views = Views({path.stem: open_rows(path) for path in sorted(folder.glob("view*.npy"))})

    def after_a_part(done: int, total: int) -> None:
        print(done, flush=True)
        if how == "slowly":
            sys.stdin.readline()  # the test lets it go on, or kills it
        elif done == total and how == "while it is put together":
            folders.NewFolder.finish = files._give_name = die  # type: ignore[assignment, method-assign]
        elif done == total:  # before its parts are removed
            PartialResults.clear = die  # type: ignore[assignment, method-assign]

    predict_to(model, views, result, block_rows=40, progress=after_a_part)


if __name__ == "__main__":
    main()
