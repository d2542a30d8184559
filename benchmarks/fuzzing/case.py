"""What a case is, and what its outcome is called."""

from __future__ import annotations

import linecache
import re
import warnings
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from sklearn.exceptions import NotFittedError

CLEAR, FINE, VAGUE, NONSENSE = "clear error", "fine", "vague error", "silent nonsense"
DIED, SLOW = "child died", "over a minute"
OUTCOMES = (CLEAR, FINE, VAGUE, NONSENSE, DIED, SLOW)
GOOD = (CLEAR, FINE)

REFUSE, WORK, EITHER = "refuse", "work", "either"
_KINDS = (ValueError, TypeError, NotFittedError, MemoryError, ImportError, FileNotFoundError, OSError)
_SKLEARN = ("sklearn/utils/validation.py", "sklearn/utils/multiclass.py", "sklearn/utils/_tags.py")


class Broken(Exception):
    """The answer fails an oracle: raised by a case."""


class VisibleLabels(Exception):
    """The command said no, in words and by its exit code: raised by a case."""


@dataclass(frozen=True)
class Case:
    """Something a user might do.

    Parameters
    ----------
    what : str
        In words.
    run : callable
        Does it, checks the answer, and raises `Broken` if that is nonsense.
    expect : {"refuse", "work", "either"}
        What must happen.
    names : tuple of str
        Of which an error must name one: the parameter, the view, the row, the file.
    """

    what: str
    run: Callable[[], Any]
    expect: str
    names: tuple[str, ...] = ()


@dataclass(frozen=True)
class Outcome:
    """What became of a case."""

    kind: str
    detail: str


def judge(case: Case) -> Outcome:
    """Run a case and say what became of it."""
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always")
        try:
            case.run()
        except Broken as broken:
            return Outcome(NONSENSE, str(broken))
        except VisibleLabels as told:
            return Outcome(CLEAR, str(told))
        except (Exception, SystemExit) as error:
            return judge_error(case, error)
    if case.expect != REFUSE:
        return Outcome(FINE, "")
    warned = [str(one.message) for one in caught if issubclass(one.category, UserWarning)]
    return Outcome(FINE, f"with the warning: {warned[0]}") if warned else Outcome(NONSENSE, "taken without a word")


def judge_error(case: Case, error: BaseException) -> Outcome:
    """Tell a clear error, raised on purpose and naming the thing, from a vague one."""
    text = f"{type(error).__name__}: {error}"
    if case.expect == WORK:
        return Outcome(VAGUE, f"should work, but {text} ({_place(error)})")
    if not isinstance(error, _KINDS):
        return Outcome(VAGUE, f"{text} ({_place(error)})")
    if not _is_deliberate(error):
        return Outcome(VAGUE, f"not raised on purpose: {text} ({_place(error)})")
    if not any(re.search(rf"(?<!\w){re.escape(name)}", str(error), re.IGNORECASE) for name in case.names):
        return Outcome(VAGUE, f"names none of {case.names}: {text} ({_place(error)})")
    return Outcome(CLEAR, text)


def _innermost(error: BaseException) -> Any:
    frame = error.__traceback__
    while frame is not None and frame.tb_next is not None:
        frame = frame.tb_next
    return frame


def _place(error: BaseException) -> str:
    frame = _innermost(error)
    if frame is None:
        return "?"
    name = frame.tb_frame.f_code.co_filename
    return f"{'/'.join(name.split('/')[-3:])}:{frame.tb_lineno}"


def _is_deliberate(error: BaseException) -> bool:
    """Tell whether the error comes from a `raise` of ours, or of scikit-learn's checks of X and y."""
    frame = _innermost(error)
    if frame is None:
        return False
    name = frame.tb_frame.f_code.co_filename
    if "/anchorview/" not in name and not name.endswith(_SKLEARN):
        return False
    return linecache.getline(name, frame.tb_lineno).strip().startswith("raise ")
