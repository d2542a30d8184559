"""`describe_classes`: the words, values, numbers and rows that tell each class or cluster from the others."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from html import escape
from pathlib import Path
from typing import Any, overload

import numpy as np
from sklearn.utils.validation import check_is_fitted

from ..data.columns import table_columns
from ..data.records import read_raw
from ..data.table_views import TableViews
from ..data.views import Views
from ..label_loop.judging import LabelLoop
from .class_photos import N_PHOTOS, Photo, load_photos, typical_rows
from .telling import N_OTHERS, N_WORDS, ClassFeatures, class_features

_LONGEST = 100  # characters of an example


@dataclass(frozen=True)
class ClassDescription:
    """What tells one class, or cluster, from the others."""

    name: Any
    n_rows: int
    features: ClassFeatures
    rows: tuple[int, ...]  # that are typical of it
    examples: tuple[str, ...] = ()  # what these rows say, if that is known: texts, or paths of photos

    @property
    def words(self) -> tuple[str, ...]:
        """Words of its texts."""
        return self.features.words

    @property
    def values(self) -> tuple[str, ...]:
        """Categories and tags of its rows: "shop: north"."""
        return self.features.values

    @property
    def numbers(self) -> tuple[str, ...]:
        """Numbers that are high or low in it: "high price"."""
        return self.features.numbers

    def __str__(self) -> str:
        examples = "".join(f"\n    {one}" for one in self.examples)
        return f"{self.name} ({self.n_rows:,} rows): {self.features or 'nothing that stands out'}{examples}"


class ClassDescriptions(Sequence[ClassDescription]):
    """The descriptions of all classes; printed, a paragraph each, and in a notebook a table with photos."""

    def __init__(self, descriptions: Sequence[ClassDescription], photos: Sequence[Sequence[Photo]] = ()) -> None:
        self._all, self._photos = list(descriptions), photos

    @overload
    def __getitem__(self, place: int) -> ClassDescription: ...
    @overload
    def __getitem__(self, place: slice) -> list[ClassDescription]: ...
    def __getitem__(self, place: int | slice) -> ClassDescription | list[ClassDescription]:
        return self._all[place]

    def __len__(self) -> int:
        return len(self._all)

    def __iter__(self) -> Iterator[ClassDescription]:
        return iter(self._all)

    def __str__(self) -> str:
        return "\n".join(map(str, self._all))

    __repr__ = __str__

    def _repr_html_(self) -> str:
        rows = []
        for number, one in enumerate(self._all):
            shown = "".join(
                f'<img src="{photo.uri}" alt="{escape(photo.name)}" width="{photo.width}" height="{photo.height}" '
                'style="margin-right:4px;border-radius:4px">'
                for photo in (self._photos[number] if self._photos else ())
            )
            shown = shown or "<br>".join(escape(example) for example in one.examples)
            rows.append(
                f"<tr><th style='text-align:left'>{escape(str(one.name))}</th><td>{one.n_rows:,}</td>"
                f"<td style='text-align:left'>{escape(str(one.features))}</td>"
                f"<td style='text-align:left'>{shown}</td></tr>"
            )
        head = "<tr><th>class</th><th>rows</th><th>what tells it from the others</th><th>typical rows</th></tr>"
        return f"<table><thead>{head}</thead><tbody>{''.join(rows)}</tbody></table>"


def describe_classes(
    model: LabelLoop, X: Any, *, n_words: int = N_WORDS, n_values: int = N_OTHERS, n_examples: int = 2
) -> ClassDescriptions:
    """Describe each class, or cluster, by what tells its rows from the others.

    Words and categories are ranked by class tf-idf, as BERTopic does, numbers by the difference of the means. Words
    that a class may have by chance are left out.

    Parameters
    ----------
    model : FSSMSC, AnchorViewClassifier, or a pipeline of TableViews and one of these
        After a fit.
    X : Views, or for a pipeline a raw table, list of dicts or path
        The rows of the fit, or others, which are then predicted.
    n_words : int
        Words of a class.
    n_values : int
        Categories of a class, and numbers.
    n_examples : int
        Typical rows of a class; of photos at least four are shown in a notebook.

    Returns
    -------
    ClassDescriptions
        One :class:`ClassDescription` a class, in the order of ``model.classes_``: ``name``, ``n_rows``, ``words``,
        ``values``, ``numbers``, ``rows`` (numbers of typical rows) and ``examples``.

    Examples
    --------
    >>> import pandas as pd
    >>> from sklearn.pipeline import make_pipeline
    >>> from anchorview import FSSMSC, TableViews, describe_classes
    >>> texts = ["the engine and the wheel", "a wheel of the engine", "violin and flute", "a flute, not the violin"] * 8
    >>> table = pd.DataFrame({"text": texts})
    >>> labels = ["car", None, "music", None] + [None] * 28
    >>> model = make_pipeline(TableViews(text_encoder=None, kinds={"text": "text"}), FSSMSC(random_state=0))
    >>> print(describe_classes(model.fit(table, labels), table, n_examples=1))
    car (16 rows): engine, wheel, of
        a wheel of the engine
    music (16 rows): flute, violin, not
        violin and flute
    """
    steps = getattr(model, "steps", None)
    estimator = model if steps is None else steps[-1][1]
    check_is_fitted(estimator)
    raw, folder, views = None, None, X
    if steps is not None:
        raw, folder = read_raw(X)
        views = raw
        for _, step in steps[:-1]:
            views = step.encode(views).views if isinstance(step, TableViews) else step.transform(views)
    views = views if isinstance(views, Views) else Views(views, views=estimator.views)
    is_fitted_to = hasattr(estimator, "labels_") and len(estimator.labels_) == len(views)
    labels = estimator.labels_ if is_fitted_to else estimator.predict(views)
    places = estimator.embedding_ if is_fitted_to else estimator.transform(views)
    classes = estimator.classes_
    place_of = {label: number for number, label in enumerate(classes.tolist())}
    class_ids = np.array([place_of.get(label, -1) for label in np.asarray(labels).tolist()], dtype=np.intp)
    features = class_features(views, class_ids, len(classes), n_words, n_values)
    typical = typical_rows(places, class_ids, len(classes), max(n_examples, N_PHOTOS))
    table = steps[0][1] if steps is not None and isinstance(steps[0][1], TableViews) else None
    texts, photos = _readable(table, raw, folder)
    descriptions = [
        ClassDescription(
            name,
            int((class_ids == number).sum()),
            features[number],
            tuple(typical[number][:n_examples]),
            tuple(_cut(texts[row]) for row in typical[number][:n_examples] if texts[row]) if texts else (),
        )
        for number, name in enumerate(classes.tolist())
    ]
    shown = [load_photos([photos[row] for row in typical[number]]) for number in range(len(classes))] if photos else []
    return ClassDescriptions(descriptions, shown)


def _readable(
    table: TableViews | None, raw: Any, folder: Path | None
) -> tuple[list[str | None] | None, list[Path | None] | None]:
    """Return what rows say, texts or paths of photos, and the files of photos; None for what there is not."""
    if table is None or raw is None:
        return None, None
    kinds = {name: found.kind for name, found in table.columns_.items()}
    wanted = [name for kind in ("text", "image") for name, own in kinds.items() if own == kind]
    if not wanted:
        return None, None
    cells = {column.name: column.texts() for column in table_columns(raw, set(wanted))}
    first = next((cells[name] for name in wanted if name in cells), None)
    image = next((cells[name] for name in wanted if kinds[name] == "image" and name in cells), None)
    start = Path(table.image_folder or folder or ".")
    return first, None if image is None else [None if path is None else start / path for path in image]


def _cut(text: str | None) -> str:
    text = " ".join((text or "").split())
    return text if len(text) <= _LONGEST else f"{text[: _LONGEST - 1]}…"
