"""Which code made a figure: the commit that last changed what is measured, and the defaults of both estimators.

Records carry both in their keys, so that a figure of other code, or of other defaults, is never found.
"""

from __future__ import annotations

import hashlib
import json
import subprocess
from datetime import UTC, datetime
from functools import lru_cache
from pathlib import Path

PACKAGE = Path(__file__).parents[1]
NOT_MEASURED = ("app", "bench", "export", "plotting", "report")  # subpackages that change no label and no time of a fit
DIRTY = "-dirty"


@lru_cache(maxsize=1)
def code_stamp() -> dict[str, str]:
    """Return the commit of the measured code ("-dirty" if it was changed since) and a digest of all defaults.

    Examples
    --------
    >>> sorted(code_stamp())
    ['commit', 'defaults']
    """
    return {"commit": _measured_commit(), "defaults": defaults_digest()}


def defaults_digest() -> str:
    """Return eight characters that change with any default of `FSSMSC` or `AnchorViewClassifier`.

    Examples
    --------
    >>> len(defaults_digest())
    8
    """
    from ..classifier import AnchorViewClassifier
    from ..fssmsc import FSSMSC

    defaults = {kind.__name__: kind().get_params() for kind in (FSSMSC, AnchorViewClassifier)}
    return hashlib.sha256(json.dumps(defaults, sort_keys=True, default=repr).encode()).hexdigest()[:8]


def is_clean(stamp: dict[str, str]) -> bool:
    """Tell whether the code of a stamp can be checked out again.

    Examples
    --------
    >>> is_clean({"commit": "1a2b3c4"}), is_clean({"commit": "1a2b3c4-dirty"}), is_clean({"commit": "unknown"})
    (True, False, False)
    """
    return not stamp["commit"].endswith(DIRTY) and stamp["commit"] != "unknown"


def today() -> str:
    """Return the date, as records and tables have it.

    Examples
    --------
    >>> len(today())
    10
    """
    return datetime.now(UTC).date().isoformat()


def _measured_commit() -> str:
    return last_commit(".", *(f":(exclude){name}" for name in NOT_MEASURED))


def last_commit(*paths: str) -> str:
    """Return the commit that last changed some paths of the package, with "-dirty" if they were changed since.

    Examples
    --------
    >>> isinstance(last_commit("app"), str)
    True
    """
    commit = _git("log", "-1", "--format=%h", "--", *paths)
    if not commit:
        return "unknown"
    return commit + (DIRTY if _git("status", "--porcelain", "--", *paths) else "")


def _git(*words: str) -> str:
    try:
        run = subprocess.run(["git", "-C", str(PACKAGE), *words], capture_output=True, text=True, check=True)
    except (OSError, subprocess.CalledProcessError):
        return ""
    return run.stdout.strip()
