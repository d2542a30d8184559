"""Parameters with which `FSSMSC` has nothing to choose: tests of other things compare like with like, and sooner."""

from __future__ import annotations

from typing import Any

SETTLED: dict[str, Any] = {"scaling": "minmax", "units": "paper", "inference": "nearest"}
CHOSEN: dict[str, Any] = {"scaling": "minmax", "ridge": 3.0, "must_link_weight": 3.0, "inference": "nearest"}
"""The same in the units of the data: what a fit with defaults may come to, without judging 48 settings first."""
