"""`Views`: several feature sets for the same rows, as one row-sliceable object."""

from __future__ import annotations

import warnings
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np
import numpy.typing as npt
from scipy import sparse

from ..core.arrays import Presence, Rows, is_sparse
from ..engine.sources.base import StoredRows
from ..engine.sources.dask_rows import DaskRows, blank_rows, send_rows
from ..engine.sources.derived import select_columns
from .annotated import read_annotated
from .mapping import map_views, one_for_each
from .reading import ColumnGroups, is_annotated, read_raw_views
from .rows import align_rows, ids_by_view, is_per_view, join_columns, join_ids, read_ids, read_mask

__all__ = ["ColumnGroups", "Views"]


class Views:
    """Several feature sets ("views") of the same rows.

    Rows can be selected as from an array, so the object goes through ``train_test_split``, ``cross_val_score``,
    ``GridSearchCV`` and ``Pipeline``. The arrays are kept as they are given: nothing of them is changed, and nothing
    copied, except to convert a sparse matrix to CSR form and to align views by ids.

    Parameters
    ----------
    data : sequence or mapping of array-like, Views, a 2-D array-like with ``views``, AnnData or MuData
        One 2-D array per view, each with one row per sample: arrays, read-only memory maps, SciPy's sparse matrices,
        tables of pandas, polars or pyarrow, also side by side; what is null in a table is NaN. A DataFrame whose
        columns have two levels is split by the first. Or rows stored elsewhere: what :func:`open_rows` opens,
        paths that it can open, h5py datasets and zarr arrays; these are never read as a whole.
    views : sequence or mapping, optional
        How to split one 2-D array, sparse matrix or table into views: sizes (``[76, 216]``), slices, lists of
        columns (numbers or names), or a mapping from a view's name to one of the last two. Of an AnnData object, what
        to read: ``["X", "layer:counts", "obsm:X_pca"]``; of a MuData object the modality comes first,
        ``["rna", "rna:layer:counts", "protein:obsm:X_pca"]``. By default ``X``, of every modality; the ids are the
        ``obs_names``.
    names : sequence of str, optional
        Names of the views; by default the mapping's keys, or ``view0``, ``view1``, …
    mask : array-like of bool of shape (n_rows, n_views), or mapping of str to array-like of bool, optional
        True where the row has the view. Other values in the arrays are ignored. A mapping (or DataFrame) gives one
        column for each view with missing rows.
    ids : sequence, list of sequences or mapping of str to sequence, optional
        One id for each row. Or the ids of each view's own rows, for views that do not have the same rows: the rows
        are then all ids in order of first appearance, and a view is missing in the rows that it has no id for. This
        copies the views whose rows have to be moved, and fills missing rows with 0.

    Attributes
    ----------
    arrays : list of ndarray, csr_array or StoredRows
        The views.
    names : list of str
        Their names.
    shape : tuple of int
        Number of rows, number of features of all views together.
    present : ndarray of bool of shape (n_rows, n_views), or None
        Which rows have which view; None if all rows have all of them, as far as `mask` and `ids` say.
    features : list of list or None
        Names of each view's columns, where they came from a table or from the variables of an AnnData object.
    named : bool
        Whether the names were given; if not, views are identified by position.
    ids : ndarray of shape (n_rows,), or None
        Ids of the rows: those given, or the index of DataFrames that do not just count their rows.
    supporting : frozenset of str
        Views that count only if labels show that they help, where an estimator chooses weights
        (``view_weights="auto"``): descriptions of photos beside what a network makes of them.
    known_ids : ndarray or None
        Ids of the views that these rows were selected from, to distinguish an id left out from a wrong one.

    Examples
    --------
    >>> import numpy as np
    >>> from anchorview import Views
    >>> X = Views({"image": np.ones((4, 3)), "text": np.zeros((4, 2))})
    >>> X
    Views(4 rows; image: 3, text: 2)
    >>> X[1:3].shape
    (2, 5)
    >>> Views(np.ones((4, 5)), views=[3, 2]).names
    ['view0', 'view1']
    >>> Y = Views([np.ones((2, 3)), np.ones((2, 4))], ids=[["ann", "bob"], ["bob", "cid"]])
    >>> Y
    Views(3 rows; view0: 3 (missing in 1), view1: 4 (missing in 1))
    >>> Y.ids[~Y.present.all(axis=1)].tolist()
    ['ann', 'cid']
    """

    def __init__(
        self,
        data: Any,
        views: ColumnGroups | None = None,
        names: Sequence[str] | None = None,
        *,
        mask: Any = None,
        ids: Any = None,
    ) -> None:
        present: Presence = None
        self.ids: npt.NDArray[Any] | None = None
        self.known_ids: npt.NDArray[Any] | None = None
        self.named: bool
        self.supporting: frozenset[str] = frozenset()
        if isinstance(data, Views):
            if views is not None:
                raise ValueError("views= cuts one 2-D array; the data given is cut into views already.")
            arrays, given, features, self.named = data.arrays, data.names, data.features, data.named
            present, self.ids, self.known_ids = data.present, data.ids, data.known_ids
            self.supporting = data.supporting
        else:
            raw = (
                read_annotated(data, views) if is_annotated(data) else read_raw_views(data, views, by_index=ids is None)
            )
            arrays, given, features, self.named = raw.arrays, raw.names, raw.features, raw.named
            self.ids = self.known_ids = raw.ids
            present = join_columns(raw.has_view, arrays, given)
        self.named = self.named or names is not None
        self.names: list[str] = list(given) if names is None else [str(name) for name in names]
        if len(self.names) != len(arrays):
            raise ValueError(f"{len(self.names)} names were given for {len(arrays)} views.")
        if len(set(self.names)) != len(self.names):
            raise ValueError(f"View names must differ; got {self.names}.")
        by_view = ids is not None and is_per_view(ids)
        if by_view:
            if mask is not None or present is not None:
                raise ValueError(
                    "ids of each view say which rows have it, so a mask cannot be given beside them; "
                    "apply it to the aligned views: Views(Views(data, ids=ids), mask=mask)."
                )
            parts = ids_by_view(ids, arrays, self.names)
            self.ids = self.known_ids = join_ids(parts)
            arrays, present = align_rows(arrays, parts, self.ids)
        self.arrays: list[Any] = list(arrays)
        self.features: list[list[Any] | None] = list(features)
        self._check_rows()
        on_cluster = [array for array in self.arrays if isinstance(array, DaskRows)]
        if on_cluster:
            self.arrays = [send_rows(array, name, on_cluster[0]) for name, array in self.items()]
        if ids is not None and not by_view:
            self.ids = self.known_ids = read_ids(ids, len(self), "X")
        if mask is not None:
            masked = read_mask(mask, len(self), self.names)
            present = masked if present is None else present & masked
        self.present: Presence = _unless_complete(present)

    @classmethod
    def from_mudata(cls, mdata: Any, *, modalities: Sequence[str] | None = None, layer: str | None = None) -> Views:
        """Read the modalities of a MuData object as views.

        The rows are ``mdata.obs_names``, in that order, and are the ids of the result; a modality is missing in the
        cells that it does not have. ``Views(mdata, views=...)`` reads layers and embeddings by name.

        Parameters
        ----------
        mdata : mudata.MuData
            The data; modalities may be dense or sparse. Nothing of it is changed.
        modalities : sequence of str, optional
            Modalities to use, in this order; by default all.
        layer : str, optional
            Layer to read in each modality, in place of ``X``.

        Returns
        -------
        Views
            With `ids`, and `present` where a modality is missing in some cells.

        Examples
        --------
        >>> from types import SimpleNamespace
        >>> import numpy as np
        >>> from anchorview import Views
        >>> rna = SimpleNamespace(X=np.ones((2, 5)), obs_names=["cell1", "cell2"])
        >>> protein = SimpleNamespace(X=np.ones((2, 3)), obs_names=["cell2", "cell3"])
        >>> mdata = SimpleNamespace(mod={"rna": rna, "protein": protein}, obs_names=["cell1", "cell2", "cell3"])
        >>> Views.from_mudata(mdata)  # what is read of a MuData object
        Views(3 rows; rna: 5 (missing in 1), protein: 3 (missing in 1))
        """
        raw = read_annotated(mdata, modalities, layer)
        result = cls(raw.arrays, names=raw.names, ids=raw.ids, mask=join_columns(raw.has_view, raw.arrays, raw.names))
        result.features = raw.features
        return result

    def _check_rows(self) -> None:
        for number, (name, array) in enumerate(self.items()):
            if array.shape[0] != len(self):
                raise ValueError(
                    f"View {name!r}{self.place(number)} has {array.shape[0]} rows but view {self.names[0]!r}"
                    f"{self.place(0)} has {len(self)}; every view needs one row per sample (ids= aligns views "
                    "that do not have the same rows)."
                )

    @property
    def shape(self) -> tuple[int, int]:
        """Number of rows and total number of features.

        Examples
        --------
        >>> from anchorview import datasets
        >>> datasets.load_handwritten().views.shape
        (2000, 649)
        """
        return len(self), sum(self.sizes)

    @property
    def sizes(self) -> list[int]:
        """Number of features of each view.

        Examples
        --------
        >>> from anchorview import datasets
        >>> datasets.load_handwritten().views.sizes
        [76, 216, 64, 240, 47, 6]
        """
        return [array.shape[1] for array in self.arrays]

    @property
    def ndim(self) -> int:
        """Two, as for the concatenated features.

        Examples
        --------
        >>> from anchorview import datasets
        >>> datasets.load_handwritten().views.ndim
        2
        """
        return 2

    def __len__(self) -> int:
        return int(self.arrays[0].shape[0])  # SciPy's sparse arrays have no len

    def __getitem__(self, key: Any) -> Views:
        """Select rows; an integer gives one row, still as Views."""
        if isinstance(key, tuple):
            if any(part is not Ellipsis and not _is_everything(part) for part in key[1:]):
                raise IndexError("Views selects rows only; use .arrays or .names to reach a view.")
            key = key[0]
        if isinstance(key, int | np.integer):
            position = int(key)
            if not -len(self) <= position < len(self):
                raise IndexError(f"Row {position} is out of range for {len(self)} rows.")
            key = slice(position, position + 1 or None)
        elif not isinstance(key, slice):
            key = np.asarray(key)
            if key.size == 0:
                key = key.astype(np.intp)
            if key.ndim != 1 or key.dtype.kind not in "iub":
                raise IndexError("Rows are selected by a number, a slice, a list of numbers, or one of True and False.")
        arrays = [array[key] for array in self.arrays]
        present = None if self.present is None else self.present[key]
        return self._derive(arrays, self.names, present, None if self.ids is None else self.ids[key])

    def select(self, names: Sequence[str]) -> Views:
        """Return some of the views, in the order of `names`.

        Parameters
        ----------
        names : sequence of str
            Names of the views to keep.

        Returns
        -------
        Views
            The same rows; the arrays are shared.

        Examples
        --------
        >>> import numpy as np
        >>> from anchorview import Views
        >>> Views({"image": np.ones((4, 3)), "text": np.zeros((4, 2))}).select(["text"])
        Views(4 rows; text: 2)
        """
        unknown = [name for name in names if name not in self.names]
        if unknown or len(names) == 0:
            raise ValueError(f"There are no views {unknown}; the views are {self.names}.")
        numbers = [self.names.index(name) for name in names]
        present = None if self.present is None else self.present[:, numbers]
        result = self._derive([self.arrays[number] for number in numbers], names, present, self.ids)
        result.features, result.named = [self.features[number] for number in numbers], True
        return result

    def complete(self, names: Sequence[str], sizes: Sequence[int], is_text: Sequence[bool]) -> Views:
        """Return views of these names, sizes and kinds (sparse or not): those that are not here are in no row."""
        shape = (len(self), len(names))
        present, arrays, features = np.zeros(shape, dtype=bool), [], []
        for number, (name, size, text) in enumerate(zip(names, sizes, is_text, strict=True)):
            if name in self.names:
                place = self.names.index(name)
                arrays.append(self.arrays[place])
                features.append(self.features[place])
                present[:, number] = True if self.present is None else self.present[:, place]
                continue
            features.append(None)
            if isinstance(self.arrays[0], DaskRows):
                arrays.append(blank_rows(self.arrays[0], size, text))
            else:
                blank = np.broadcast_to(np.zeros(1, dtype=np.float32), (len(self), size))  # takes no memory
                arrays.append(sparse.csr_array(blank.shape, dtype=np.float32) if text else blank)
        result = self._derive(arrays, names, present, self.ids)
        result.features = features
        return result

    def map(self, transformer: Any) -> Views:
        """Apply a transformer to each view on its own, as scalers and PCA are meant to be.

        To transform new rows as well, put `PerView` in a pipeline.

        Parameters
        ----------
        transformer : transformer, function, or mapping of str to one of them
            Cloned and fitted on the rows that have the view, view by view; a function is given the array of these
            rows. A mapping names the views to change, the others stay as they are.

        Returns
        -------
        Views
            The same names, rows, ids and missing views.

        Examples
        --------
        >>> import numpy as np
        >>> from sklearn.preprocessing import StandardScaler
        >>> from anchorview import Views
        >>> X = Views({"image": [[1.0, 2.0], [3.0, 6.0]], "text": [[0.0], [9.0]]})
        >>> X.map(StandardScaler()).arrays[0]
        array([[-1., -1.],
               [ 1.,  1.]])
        >>> X.map({"text": np.sqrt}).arrays
        [array([[1., 2.],
               [3., 6.]]), array([[0.],
               [3.]])]
        """
        present = np.ones((len(self), len(self.names)), dtype=bool) if self.present is None else self.present.copy()
        mapped = map_views(self, list(one_for_each(transformer, self.names).values()), present)
        return self.with_arrays(mapped.arrays, mapped.features, present)

    def in_memory(self) -> Views:
        """Return the views with stored rows read into memory; the same object if all are in memory.

        Examples
        --------
        >>> from anchorview import Views
        >>> Views([[[1.0], [2.0]]]).in_memory()
        Views(2 rows; view0: 1)
        """
        if not self.is_stored:
            return self
        arrays = [array[:] if isinstance(array, StoredRows) else array for array in self.arrays]
        return self.with_arrays(arrays, self.features, self.present)

    @property
    def is_stored(self) -> bool:
        """Whether rows of some view are kept elsewhere than in memory."""
        return any(isinstance(array, StoredRows) for array in self.arrays)

    @property
    def is_sparse_view(self) -> list[bool]:
        """Whether the rows of each view are sparse, in memory or in a store.

        Examples
        --------
        >>> from scipy import sparse
        >>> from anchorview import Views
        >>> Views([[[1.0], [2.0]], sparse.eye_array(2)]).is_sparse_view
        [False, True]
        """
        return [is_sparse(array) or (isinstance(array, StoredRows) and array.is_sparse) for array in self.arrays]

    def place(self, number: int) -> str:
        """Return where the rows of a view are stored, for errors; nothing if they are in memory."""
        array = self.arrays[number]
        return f" ({array.name})" if isinstance(array, StoredRows) else ""

    @property
    def is_on_cluster(self) -> bool:
        """Whether rows are in blocks on Dask, to be worked on there."""
        return isinstance(self.arrays[0], DaskRows)

    def check_unchanged(self) -> None:
        """Raise an error if a store has changed since it was opened."""
        for array in self.arrays:
            if isinstance(array, StoredRows):
                array.check_unchanged()

    def with_arrays(self, arrays: list[Any], features: Sequence[list[Any] | None], present: Presence) -> Views:
        """Return Views of the same names and rows with other arrays."""
        result = self._derive(arrays, self.names, present, self.ids)
        result.features = list(features)
        return result

    def reorder_columns(self, orders: Sequence[Rows | None]) -> Views:
        """Return the views with the columns of some of them in another order; None leaves a view as it is."""
        pairs = list(zip(self.arrays, orders, strict=True))
        arrays = [array if order is None else _in_order(array, order) for array, order in pairs]
        return self._derive(arrays, self.names, self.present, self.ids)

    def _derive(
        self, arrays: list[Any], names: Sequence[str], present: Presence, ids: npt.NDArray[Any] | None
    ) -> Views:
        """Return Views made of parts of this one, which need no check."""
        result = Views.of_sound_arrays(arrays, names, self.features, present, ids)
        result.known_ids, result.named, result.supporting = self.known_ids, self.named, self.supporting & set(names)
        return result

    @classmethod
    def of_sound_arrays(
        cls,
        arrays: Sequence[Any],
        names: Sequence[str],
        features: Sequence[list[Any] | None],
        present: Presence,
        ids: npt.NDArray[Any] | None = None,
    ) -> Views:
        """Return Views of arrays that need no check, since the caller has made them: a check takes as long as a row.

        Parameters
        ----------
        arrays : sequence of ndarray or csr_array
            The views, each with one row for each sample, sparse ones in canonical format.
        names : sequence of str
            Their names.
        features : sequence of list or None
            The names of their columns, where these have names.
        present : ndarray of bool of shape (n_rows, n_views) or None
            Which rows have which view; None if all have all.
        ids : ndarray, optional
            Of the rows.

        Returns
        -------
        Views

        Examples
        --------
        >>> import numpy as np
        >>> from anchorview import Views
        >>> Views.of_sound_arrays([np.ones((2, 3))], ["image"], [None], None)
        Views(2 rows; image: 3)
        """
        result = object.__new__(cls)
        result.arrays, result.names, result.features = list(arrays), list(names), list(features)
        result.present, result.ids, result.known_ids = _unless_complete(present), ids, ids
        result.named, result.supporting = True, frozenset()
        return result

    def to_array(self, dtype: npt.DTypeLike | None = None) -> npt.NDArray[Any]:
        """Return all views side by side as one array; sparse views become dense, and missing views NaN.

        Parameters
        ----------
        dtype : dtype, optional
            By default the common type of the views.

        Returns
        -------
        ndarray of shape (n_rows, n_features)

        Examples
        --------
        >>> from anchorview import Views
        >>> Views({"text": [[1.0, 2.0]], "image": [[3.0]]}).to_array()
        array([[1., 2., 3.]])
        """
        arrays = self.in_memory().arrays
        dense = [array.toarray() if is_sparse(array) else array for array in arrays]
        result = np.concatenate(dense, axis=1, dtype=dtype)
        if self.present is not None:
            result = result if result.dtype.kind == "f" else result.astype(np.float64)
            result[np.repeat(~self.present, self.sizes, axis=1)] = np.nan
        return result

    def __array__(self, dtype: npt.DTypeLike | None = None, copy: bool | None = None) -> npt.NDArray[Any]:
        """Return what `to_array` does, for tools that know one feature set only, with a warning if views are lost."""
        if len(self.arrays) > 1:
            warnings.warn(
                f"{self!r} was turned into one array, as tools that do not know views do (a scaler in a Pipeline, "
                "say): what follows sees one view. To transform each view on its own use Views.map(transformer), or "
                "PerView(transformer) in a Pipeline; or cut the array again with the parameter "
                f"views={self.sizes} of the estimator that follows. Views.to_array() does this without a warning.",
                UserWarning,
                stacklevel=2,
            )
        return self.to_array(dtype)

    def items(self) -> Iterator[tuple[str, Any]]:
        """Iterate over names and arrays.

        Examples
        --------
        >>> from anchorview import Views
        >>> [(name, array.shape) for name, array in Views({"text": [[1.0, 2.0]], "image": [[3.0]]}).items()]
        [('text', (1, 2)), ('image', (1, 1))]
        """
        return zip(self.names, self.arrays, strict=True)

    def __repr__(self) -> str:
        parts = []
        for number, (name, array, is_text) in enumerate(zip(self.names, self.arrays, self.is_sparse_view, strict=True)):
            lacking = 0 if self.present is None else int((~self.present[:, number]).sum())
            parts.append(
                f"{name}: {array.shape[1]}{' sparse' if is_text else ''}{f' (missing in {lacking})' if lacking else ''}"
            )
        return f"Views({len(self)} rows; {', '.join(parts)})"


def _is_everything(part: Any) -> bool:
    return isinstance(part, slice) and part == slice(None)


def _in_order(array: Any, order: Rows) -> Any:
    return select_columns(array, order) if isinstance(array, StoredRows) else array[:, order]


def _unless_complete(present: Presence) -> Presence:
    return None if present is None or present.all() else present
