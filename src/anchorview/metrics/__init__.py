"""How well a clustering agrees with known classes, how often labels are right, how honest confidence is."""

from .clusters import (
    adjusted_rand,
    clustering_accuracy,
    clustering_report,
    normalized_mutual_info,
    pairwise_f,
    pairwise_precision_recall,
    purity,
)
from .labels import expected_calibration_error, labelled_accuracy, labelled_scorer
from .reliability import ReliabilityCurve, reliability_curve

__all__ = [
    "ReliabilityCurve",
    "adjusted_rand",
    "clustering_accuracy",
    "clustering_report",
    "expected_calibration_error",
    "labelled_accuracy",
    "labelled_scorer",
    "normalized_mutual_info",
    "pairwise_f",
    "pairwise_precision_recall",
    "purity",
    "reliability_curve",
]
