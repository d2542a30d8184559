"""`TableViews`: a raw table (text, numbers, categories, dates, lists) turned into views, as a step of a pipeline."""

from __future__ import annotations

import os
import warnings
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any, NamedTuple, Self

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted, validate_data

from ..core.checks import check_choice, is_missing
from ..core.progress import Ticker
from .column_encoders import CategoryEncoder, ColumnEncoder, ListEncoder, Part, Report, TextEncoder
from .column_kinds import USED, ColumnKind, declared_kind, recognise
from .columns import Column, table_columns
from .image_column import GivenEncoder, ImageColumn
from .image_views import UNREADABLE
from .leaks import leaking_columns
from .number_encoder import NumberEncoder
from .quantities import Quantities
from .records import RecordTable, read_raw
from .rows import read_ids
from .tables import as_column, column_labels, index_of, is_table
from .tag_encoder import TagEncoder
from .tag_words import TAG_READERS
from .text_models import load_text_model
from .text_vectors import TextVectors
from .views import Views

_NAMED = 5  # columns that warnings name
AnyEncoder = ColumnEncoder | ImageColumn | TextVectors


class EncodedTable(NamedTuple):
    """The views of a table, and what was ignored in it: new words, new categories, cells that could not be read.

    `missing` are columns of the fit that the table lacks, which count as empty; `unknown` are columns that the fit did
    not have, which are ignored.
    """

    views: Views
    unseen: Report
    missing: list[str]
    unknown: list[str]


class TableViews(TransformerMixin, BaseEstimator):
    """Turn a raw table into views; the type of each column is detected and can be overridden.

    A text column becomes two sparse views: counts of words and of character n-grams. A column of number lists
    (embeddings) becomes one dense view. All numbers and dates form one dense view ("numbers", each scaled to 0 … 1,
    with its complement), all categories one sparse view ("categories"). Ids, constant and empty columns are ignored.
    A row without text or without a list is missing that view; so is a row whose numbers are all empty. Other empty
    numbers are filled with the median, with an indicator column if there are many. An empty category is its own
    category.

    Parameters
    ----------
    kinds : mapping of str to str, optional
        Types of columns, by column name, where detection is not what you want: "text", "number", "category",
        "boolean", "date", "list" (of numbers), "tags" (lists of words), "email", "url", "image" (paths of photos) or
        "ignore".
    text_encoder : "auto", None, "wordllama", path, callable, or object with .encode or .embed, default="auto"
        Encoder that turns each text into a vector, as a further view of each text column. "auto" is wordllama if it is
        installed (``pip install 'anchorview[text]'``; works offline), else none. A path is a folder of
        sentence-transformers or model2vec. Model files store the name and fingerprint of an encoder, not its weights.
    text_cache : path, "auto" or None, default="auto"
        Folder that caches vectors by text and encoder. "auto" is ``~/.cache/anchorview`` (or the folder in the
        environment variable ANCHORVIEW_CACHE), for encoders that take more than a millisecond per text. None turns the
        cache off.
    image_encoder : callable or path of an .onnx file, optional
        Encoder of photos, whose view leads; by default four image descriptors (see `ImageViews`).
    image_folder : path, optional
        Base folder of relative photo paths; by default the current folder. Model files store neither.

    Attributes
    ----------
    columns_ : dict of str to ColumnKind
        The detected type of each column (``kind``), and the reason (``why``).
    unreadable_ : dict of str to str
        Photos of the fit that could not be read, and why; model files do not keep it.
    n_features_in_ : int
        Number of columns.
    feature_names_in_ : ndarray of str
        Their names, if the table has such.

    Examples
    --------
    >>> import pandas as pd
    >>> from anchorview import TableViews
    >>> table = pd.DataFrame({
    ...     "id": range(4),
    ...     "review": ["good and cheap", "cheap but slow", "slow and dear", "good, not cheap"],
    ...     "stars": [5, 3, 1, 4],
    ...     "shop": ["north", "south", "south", "north"],
    ... })
    >>> transformer = TableViews(text_encoder=None).fit(table)
    >>> transformer.transform(table)
    Views(4 rows; review:words: 7 sparse, review:characters: 81 sparse, numbers: 2, categories: 2 sparse)
    >>> print(transformer.describe())
    id: left out, an id, such as '0' (it counts the rows)
    review: text, such as 'good and cheap' (3.0 words a cell, 100% of the cells different)
    stars: number, such as '5' (numbers)
    shop: category, such as 'north' (2 different values in 4 cells)

    In front of an estimator it takes raw tables, today's and tomorrow's:

    >>> from sklearn.pipeline import make_pipeline
    >>> from anchorview import FSSMSC
    >>> model = make_pipeline(TableViews(), FSSMSC(n_landmarks=4, random_state=0))
    >>> model.fit(table, ["good", None, "bad", None]).predict(table[["shop", "stars", "review"]]).shape
    (4,)
    """

    _encoders: list[AnyEncoder]
    _id_column: str | None = None  # by which the command named the rows of the fit

    def __init__(
        self,
        *,
        kinds: Mapping[str, str] | None = None,
        text_encoder: Any = "auto",
        text_cache: str | os.PathLike[str] | None = "auto",
        image_encoder: GivenEncoder = None,
        image_folder: str | os.PathLike[str] | None = None,
    ) -> None:
        self.kinds = kinds
        self.text_encoder = text_encoder
        self.text_cache = text_cache
        self.image_encoder = image_encoder
        self.image_folder = image_folder

    def __sklearn_tags__(self) -> Any:
        """Tell scikit-learn that text and empty cells are fine."""
        tags = super().__sklearn_tags__()
        tags.input_tags.string = tags.input_tags.categorical = tags.input_tags.allow_nan = True
        tags.transformer_tags.preserves_dtype = []
        return tags

    def fit(self, X: Any, y: Any = None) -> Self:
        """Detect column types, and learn words, categories and medians.

        Parameters
        ----------
        X : table of pandas, polars or pyarrow, list of dicts, path, or array of shape (n_rows, n_columns)
            The raw table, without the column of labels.
        y : array-like of shape (n_rows,), optional
            Labels. They change nothing; a warning names columns that give them away.

        Returns
        -------
        self

        Examples
        --------
        >>> import pandas as pd
        >>> from anchorview import TableViews
        >>> table = pd.DataFrame({"review": ["good and cheap", "cheap but slow", "slow and dear"], "stars": [5, 3, 1]})
        >>> {name: column.kind for name, column in TableViews().fit(table).columns_.items()}
        {'review': 'text', 'stars': 'number'}
        """
        self._fit(X, y)
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Views:
        """Fit, and return the views of the same table.

        Parameters
        ----------
        X : table of pandas, polars or pyarrow, list of dicts, path, or array of shape (n_rows, n_columns)
            The raw table, without the column of labels.
        y : array-like of shape (n_rows,), optional
            Labels. They change nothing; a warning names columns that give them away.
        **fit_params : dict
            None are known.

        Returns
        -------
        Views

        Examples
        --------
        >>> import pandas as pd
        >>> from anchorview import TableViews
        >>> table = pd.DataFrame({"size": ["S", "M", "S", "M"], "price": [3.0, 5.5, 2.5, 6.0]})
        >>> TableViews().fit_transform(table)
        Views(4 rows; numbers: 2, categories: 2 sparse)
        """
        if fit_params:
            raise TypeError(f"TableViews takes no fit parameters; got {sorted(fit_params)}.")
        return self._fit(X, y)

    def _fit(self, X: Any, y: Any) -> Views:
        X, folder = read_raw(X)
        X = self._read(X, reset=True)
        columns = {column.name: column for column in table_columns(X)}
        self.columns_ = self._recognise(columns)
        self._warn_of_leaks(columns, y)
        self._encoders, parts = _fit_encoders(columns, self.columns_)
        model = load_text_model(self.text_encoder)
        for name, found in self.columns_.items():
            if found.kind == "text" and model is not None:
                vectors, of_text = TextVectors.fit(columns[name], model, self.text_cache)
                self._encoders.append(vectors)
                parts += of_text
        self.unreadable_: dict[str, str] = {}
        for name, found in self.columns_.items():
            if found.kind == "image":
                start = folder if self.image_folder is None else self.image_folder
                encoder, made, failed = ImageColumn.fit(columns[name], start, self.image_encoder)
                self.unreadable_ |= failed
                self._encoders.append(encoder)
                parts += made
        if not parts:
            raise ValueError(f"No column of the table can be used. {self.describe()}")
        views = _join(parts, X)
        self._features = dict(zip(views.names, views.features, strict=True))
        return views

    def transform(self, X: Any) -> Views:
        """Return the views of a table.

        Parameters
        ----------
        X : table of pandas, polars or pyarrow, dict, list of dicts, path, or array of shape (n_rows, n_columns)
            Rows with the columns of the fit, in any order: a table, one record, several, or the path of a file.
            Columns that are missing count as empty, and unknown ones are ignored; a warning names both.

        Returns
        -------
        Views

        Examples
        --------
        >>> import pandas as pd
        >>> from anchorview import TableViews
        >>> table = pd.DataFrame({"review": ["good and cheap", "cheap but slow", "slow and dear"], "stars": [5, 3, 1]})
        >>> len(TableViews().fit(table).transform(table[:2]))
        2
        """
        encoded = self.encode(X)
        if encoded.missing or encoded.unknown:
            warnings.warn(describe_columns(encoded.missing, encoded.unknown), UserWarning, stacklevel=2)
        for name, one in encoded.unseen.items():
            if one.what == UNREADABLE and one.count:
                what = f"Column {name!r}: {one.count:,} of {one.total:,} {UNREADABLE}; these rows lack its views."
                warnings.warn(what, UserWarning, stacklevel=2)
        return encoded.views

    def encode(self, X: Any) -> EncodedTable:
        """Return the views of a table, as `transform` does, and count what was ignored.

        Parameters
        ----------
        X : table of pandas, polars or pyarrow, dict, list of dicts, path, or array of shape (n_rows, n_columns)
            Rows with the columns of the fit, as for `transform`.

        Returns
        -------
        EncodedTable
            ``views``, and ``unseen``: by the name of a column, how many (``count``) of its words, categories or cells
            (``what``) out of how many (``total``) are not known from the fit; ``missing`` and ``unknown`` columns.

        Examples
        --------
        >>> import pandas as pd
        >>> from anchorview import TableViews
        >>> transformer = TableViews().fit(pd.DataFrame({"size": ["S", "M", "S", "M"]}))
        >>> transformer.encode(pd.DataFrame({"size": ["S", "XXL"]})).unseen
        {'size': Unseen(what='categories', count=1, total=2)}
        """
        check_is_fitted(self)
        X, folder = read_raw(X)
        X = self._read(X, reset=False)
        used = [name for name, found in self.columns_.items() if found.used]
        columns = {column.name: column for column in table_columns(X, set(used))}
        missing = [name for name in used if name not in columns]
        if len(missing) == len(used):
            raise ValueError(f"The table has no column of the fit: {missing[:5]}; it has {_names_of(X)[:20]}.")
        columns |= {name: Column(name, np.full(len(X), None, dtype=object)) for name in missing}
        unseen: Report = {}
        parts = [part for one in self._encoders for part in self._bound(one, folder).encode(columns, unseen)]
        unknown = [name for name in _names_of(X) if name not in self.columns_]
        return EncodedTable(_join(parts, X), unseen, missing, unknown)

    def _bound(self, encoder: AnyEncoder, folder: Path | None) -> ColumnEncoder:
        """Return an encoder with what a model file does not keep."""
        if isinstance(encoder, ImageColumn):
            return encoder.bound(folder if self.image_folder is None else self.image_folder, self.image_encoder)
        return encoder.bound(self.text_encoder, self.text_cache) if isinstance(encoder, TextVectors) else encoder

    def describe(self) -> str:
        """Return one line per column: its type, an example and the reason.

        Examples
        --------
        >>> import pandas as pd
        >>> from anchorview import TableViews
        >>> table = pd.DataFrame({"review": ["good and cheap", "cheap but slow", "slow and dear"], "stars": [5, 3, 1]})
        >>> print(TableViews().fit(table).describe())
        review: text, such as 'good and cheap' (3.0 words a cell, 100% of the cells different)
        stars: number, such as '5' (numbers)
        """
        return "\n".join(f"{name}: {found.describe()}" for name, found in self.columns_.items())

    def get_feature_names_out(self, input_features: Any = None) -> npt.NDArray[Any]:
        """Return the names of all features, view by view: ``view__feature``.

        Parameters
        ----------
        input_features : ignored
            Here for scikit-learn.

        Returns
        -------
        ndarray of str

        Examples
        --------
        >>> import pandas as pd
        >>> from anchorview import TableViews
        >>> table = pd.DataFrame({"size": ["S", "M", "S", "M"], "price": [3.0, 5.5, 2.5, 6.0]})
        >>> TableViews().fit(table).get_feature_names_out().tolist()
        ['numbers__price', 'numbers__1-price', 'categories__size=M', 'categories__size=S']
        """
        check_is_fitted(self)
        names = [f"{view}__{feature}" for view, features in self._features.items() for feature in features or ()]
        return np.array(names, dtype=object)

    def _read(self, X: Any, *, reset: bool) -> Any:
        least = 2 if reset else 1  # of one row every column is constant
        if not is_table(X) and not isinstance(X, RecordTable):
            return validate_data(self, X, reset=reset, dtype=None, ensure_all_finite=False, ensure_min_samples=least)
        names = _names_of(X)
        repeated = sorted({name for name in names if names.count(name) > 1}) if len(set(names)) < len(names) else []
        if repeated:
            raise ValueError(f"Names of columns repeat: {repeated[:5]}; rename them.")
        if reset and isinstance(X, RecordTable):
            self.n_features_in_, self.feature_names_in_ = len(names), np.array(names, dtype=object)
        elif reset:
            validate_data(self, X, reset=True, skip_check_array=True)
        if len(X) < least:
            raise ValueError(f"The table has {len(X)} row(s) (n_samples = {len(X)}); a minimum of {least} is required.")
        return X

    def _warn_of_leaks(self, columns: Mapping[str, Column], y: Any) -> None:
        if y is None:
            return
        values = np.asarray(as_column(y), dtype=object)
        if values.ndim != 1 or len(values) != len(next(iter(columns.values()))):
            return
        labels = [None if is_missing(one) or one in (-1, "") else one for one in values]
        named = self.kinds or {}
        used = {name: columns[name] for name, one in self.columns_.items() if one.used and name not in named}
        for name, how in leaking_columns(used, self.columns_, labels).items():
            warnings.warn(
                f"Column {name!r} gives the label away: {how}. Unless it is known for new rows too, leave it out: "
                f"TableViews(kinds={{{name!r}: 'ignore'}}).",
                UserWarning,
                stacklevel=4,
            )

    def _recognise(self, columns: Mapping[str, Column]) -> dict[str, ColumnKind]:
        kinds = dict(self.kinds or {})
        unknown = [name for name in kinds if name not in columns]
        if unknown:
            raise ValueError(f"kinds names columns that are not in the table: {unknown}. It has {list(columns)[:20]}.")
        for name, kind in kinds.items():
            check_choice(f"kinds[{name!r}]", kind, (*USED, "ignore"))
        found = {
            name: declared_kind(column, kinds[name]) if name in kinds else recognise(column)
            for name, column in columns.items()
        }
        return {name: replace(one, storage=columns[name].storage) for name, one in found.items()}


def _fit_encoders(
    columns: Mapping[str, Column], found: Mapping[str, ColumnKind]
) -> tuple[list[AnyEncoder], list[Part]]:
    """Return the encoders, and the views they make of the same columns."""

    def of_kind(*kinds: str) -> list[Column]:
        return [columns[name] for name, one in found.items() if one.kind in kinds]

    date_formats = {name: one.date_format for name, one in found.items() if one.kind == "date"}
    forms = {name: Quantities(one.unit, one.decimal) for name, one in found.items() if one.kind == "number"}
    tag_kinds = {name: one.kind for name, one in found.items() if one.kind in TAG_READERS}
    ticker = Ticker("reading text", len(of_kind("text")), "columns")
    texts = []
    for column in of_kind("text"):
        texts.append(TextEncoder.fit(column))
        ticker.done()
    others: list[ColumnEncoder] = [
        *(ListEncoder.fit(column) for column in of_kind("list")),
        NumberEncoder.fit(of_kind("number", "date"), date_formats, forms),
        CategoryEncoder.fit(of_kind("category", "boolean")),
        TagEncoder.fit(of_kind(*TAG_READERS), tag_kinds),
    ]
    parts = [part for _, made in texts for part in made]
    parts += [part for encoder in others for part in encoder.encode(columns, {})]
    return [*(encoder for encoder, _ in texts), *others], parts


def _names_of(table: Any) -> list[str]:
    """Return the names of the columns; those of an array are x0, x1 and so on."""
    if isinstance(table, RecordTable):
        return list(table.columns)
    return [str(name) for name in column_labels(table)] if is_table(table) else [f"x{n}" for n in range(table.shape[1])]


def describe_columns(missing: Sequence[str], unknown: Sequence[str]) -> str:
    """Name the columns of the fit that a table lacks, and those that the fit did not have.

    Examples
    --------
    >>> describe_columns(["price"], [])
    "Columns that are missing, and count as empty: 'price'."
    """
    said = [(missing, "are missing, and count as empty"), (unknown, "the fit did not have, and are ignored")]
    return " ".join(
        f"Columns that {what}: {', '.join(map(repr, names[:_NAMED]))}{', …' if len(names) > _NAMED else ''}."
        for names, what in said
        if names
    )


def _join(parts: list[Part], table: Any) -> Views:
    """Return the views of a table, with the ids that its index gives."""
    names, ids = [part.name for part in parts], index_of(table) if is_table(table) else None
    for place, name in enumerate(names):
        if name in names[place + 1 :]:  # a column of lists named "numbers"
            names[place] = f"{name}:list"
    arrays, features = [part.array for part in parts], [part.features for part in parts]
    present = np.column_stack([part.present for part in parts])
    ids = None if ids is None else read_ids(ids, len(present), "X")
    views = Views.of_sound_arrays(arrays, names, features, present, ids)
    views.supporting = frozenset(name for name, part in zip(names, parts, strict=True) if part.supporting)
    return views
