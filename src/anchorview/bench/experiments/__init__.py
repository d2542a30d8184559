"""The experiments of the paper, one file each: a function that makes the runs and returns the section to show."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ...report.document import Section
from ..runner import Runner
from ..settings import Settings
from . import ablation, comparison, convergence, flops, label_ratio, memory, scaling, sensitivity, timing

Experiment = Callable[[Settings, Runner, Path], Section]

EXPERIMENTS: dict[str, Experiment] = {
    "comparison": comparison.run,
    "sensitivity": sensitivity.run,
    "convergence": convergence.run,
    "label-ratio": label_ratio.run,
    "ablation": ablation.run,
    "time": timing.run,
    "flops": flops.run,
    "memory": memory.run,
    "scaling": scaling.run,
}
