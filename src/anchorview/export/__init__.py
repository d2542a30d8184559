"""Results where users want them: tables, AnnData and MuData objects, files that are written part by part."""

from __future__ import annotations

from .predictions import predict_to
from .results import results_frame, save_results, write_results

__all__ = ["predict_to", "results_frame", "save_results", "write_results"]
