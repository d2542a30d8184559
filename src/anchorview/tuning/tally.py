"""How far a search is: settings judged of all that are expected, and the time the others may take."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Iterable, Mapping

import numpy as np

from ..core.progress import time_left
from .judging import Judgement
from .settings import WITHOUT_CODES, Setting


def progress_line(
    judgement: Judgement, judged: Mapping[Setting, Judgement], planned: Collection[Setting], n_fits: int = 0
) -> str:
    """Say what was just judged, as how many of how many, and about how long the others and the last fits will take.

    Parameters
    ----------
    judgement : Judgement
        The last one.
    judged : mapping of Setting to Judgement
        All so far.
    planned : collection of Setting
        Settings that are expected, judged ones too.
    n_fits : int
        Fits with all labels after the search; one takes as long as a fold.

    Examples
    --------
    >>> import numpy as np
    >>> done = Setting("l2", 50, head="features", strength=1.0)
    >>> found = Judgement(done, 0.31, 0.912, (0.912,), 1.0, 2.0, 0.31, np.empty((0, 2)))
    >>> progress_line(found, {done: found}, {done, Setting("l2", 50, head="features")})
    '[1/2] scaling=l2 head=features strength=1: accuracy 0.912, log loss 0.310 (about 2 s left)'
    """
    total = len(judged.keys() | set(planned))
    left = [setting for setting in planned if setting not in judged]
    done = f"{len(judged):>{len(str(total))}}/{total}"
    what = f"accuracy {judgement.accuracy:.3f}, log loss {judgement.loss:.3f}"
    seconds = _seconds(left, judged.values(), n_fits / len(judgement.split_accuracies))
    return f"[{done}] {_name(judgement.setting)}: {what} ({time_left(seconds)})"


def _name(setting: Setting) -> str:
    scaling = setting.scaling if isinstance(setting.scaling, str) else "+".join(setting.scaling)
    if setting.head in WITHOUT_CODES:
        return f"scaling={scaling} head={setting.head} strength={setting.strength:g}"
    values = f"l1={setting.l1:g} ridge={setting.ridge:g} must_link_weight={setting.must_link_weight:g}"
    return f"scaling={scaling} n_landmarks={setting.n_landmarks} {values} head={setting.head}"


def _seconds(left: Iterable[Setting], judged: Iterable[Judgement], more: float) -> float:
    """Estimate the time for settings, and for so many more of any kind, by what those with the same head took."""
    times: dict[str, list[float]] = defaultdict(list)
    for judgement in judged:
        if not np.isnan(judgement.seconds):  # those of a model file are not known
            times[judgement.setting.head].append(judgement.seconds)
    usual = float(np.mean([seconds for part in times.values() for seconds in part]))
    of_heads = {head: float(np.mean(part)) for head, part in times.items()}
    return sum(of_heads.get(setting.head, usual) for setting in left) + more * usual
