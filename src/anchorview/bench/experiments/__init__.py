"""The experiments of the paper, one file each: a function that makes the runs and returns the section to show."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from ...report.document import Section
from ..runner import Runner
from ..settings import Settings
from .ablation import run_ablation
from .comparison import run_comparison
from .convergence import run_convergence
from .flops import count_flops
from .label_ratio import run_label_ratios
from .memory import measure_memory
from .scaling import run_scaling
from .sensitivity import run_sensitivity
from .timing import measure_times

Experiment = Callable[[Settings, Runner, Path], Section]

NEED_LABELS = ("label-ratio", "time")  # these compare methods that use labels
EXPERIMENTS: dict[str, Experiment] = {
    "comparison": run_comparison,
    "sensitivity": run_sensitivity,
    "convergence": run_convergence,
    "label-ratio": run_label_ratios,
    "ablation": run_ablation,
    "time": measure_times,
    "flops": count_flops,
    "memory": measure_memory,
    "scaling": run_scaling,
}
