"""Parameters with which `FSSMSC` has nothing to choose: tests of other things compare like with like, and sooner."""

from __future__ import annotations

from typing import Any

SETTLED: dict[str, Any] = {"scaling": "minmax", "units": "paper", "inference": "nearest"}
