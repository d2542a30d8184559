"""`ImageViews`: paths of photos turned into views, as a step of a pipeline."""

from __future__ import annotations

import os
import warnings
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any, NamedTuple, Self, TypeVar

import numpy as np
import numpy.typing as npt
from sklearn.base import BaseEstimator, TransformerMixin
from sklearn.utils.validation import check_is_fitted

from ..core.arrays import Mask
from ..core.progress import Ticker
from ..engine.blocks import count_threads, iter_blocks
from .image_descriptors import DESCRIPTOR_SIZES, SIZE, Descriptors, describe_image
from .image_files import Pixels, UnreadableImage, read_image, require_images
from .image_network import ImageEncoder, load_network
from .views import Views

_BATCH = 64  # photos that are read together
UNREADABLE = "photos that cannot be read"
_NAMED = 3  # unreadable ones that errors name
NETWORK = "network"  # the view that an encoder gives
T = TypeVar("T")


class EncodedImages(NamedTuple):
    """Views of photos, which rows have them, and why the others have none."""

    arrays: dict[str, npt.NDArray[np.float32]]
    present: Mask
    unreadable: dict[str, str]


class ImageViews(TransformerMixin, BaseEstimator):
    """Turn paths of photos into views.

    Without an encoder: edges (HOG), texture (LBP), layout (a small gist) and colour, four views of 1,388 features in
    all, of the photo at 64 × 64 pixels. With an encoder, what it gives leads ("network"): the four are there as well,
    but an estimator that chooses weights (``view_weights="auto"``) lets them count only if they help on the labels. A
    photo that cannot be read is a row without these views.

    Parameters
    ----------
    encoder : callable or path of an .onnx file, optional
        A callable gets a list of RGB arrays of shape (size, size, 3), and returns an array with a row for each. A
        network gets them with ImageNet's mean and spread, at the size that it asks for.
    folder : path, optional
        Where relative paths start; by default the current folder.
    size : int
        Pixels of the photos that a callable gets.
    n_jobs : int, optional
        Threads; by default one for each core.

    Attributes
    ----------
    unreadable_ : dict of str to str
        Paths that could not be read at the fit, and why.

    Examples
    --------
    >>> import tempfile
    >>> from pathlib import Path
    >>> from PIL import Image
    >>> from anchorview import ImageViews
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     for name in ("red", "blue"):
    ...         Image.new("RGB", (90, 60), name).save(Path(folder) / f"{name}.png")
    ...     ImageViews(folder=folder).fit_transform(["red.png", "blue.png"])
    Views(2 rows; hog: 576, lbp: 236, gist: 320, colour: 256)
    """

    def __init__(
        self,
        *,
        encoder: ImageEncoder | str | os.PathLike[str] | None = None,
        folder: str | os.PathLike[str] | None = None,
        size: int = 224,
        n_jobs: int | None = None,
    ) -> None:
        self.encoder = encoder
        self.folder = folder
        self.size = size
        self.n_jobs = n_jobs

    def fit(self, X: Any, y: Any = None) -> Self:
        """Read the photos once, to check that they are readable.

        Parameters
        ----------
        X : sequence of paths
            The photos.
        y : ignored
            Here for scikit-learn.

        Returns
        -------
        self

        Examples
        --------
        >>> import tempfile
        >>> from PIL import Image
        >>> from anchorview import ImageViews
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Image.new("RGB", (90, 60), "red").save(f"{folder}/red.png")
        ...     views = ImageViews(folder=folder).fit(["red.png"])
        """
        self.fit_transform(X)
        return self

    def fit_transform(self, X: Any, y: Any = None, **fit_params: Any) -> Views:
        """Fit, and return the views of the same photos.

        Parameters
        ----------
        X : sequence of paths
            The photos.
        y : ignored
            Here for scikit-learn.
        **fit_params : dict
            None are known.

        Returns
        -------
        Views

        Examples
        --------
        >>> import tempfile
        >>> from PIL import Image
        >>> from anchorview import ImageViews
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Image.new("RGB", (64, 64), "red").save(f"{folder}/red.png")
        ...     views = ImageViews().fit_transform([f"{folder}/red.png"])
        >>> len(views)
        1
        """
        if fit_params:
            raise TypeError(f"ImageViews takes no fit parameters; got {sorted(fit_params)}.")
        paths = _paths(X)
        encoded = encode_images(paths, self.folder, self.encoder, self.size, self.n_jobs)
        refuse_all_unreadable(encoded, len(paths), "X")
        warn_of_unreadable(encoded, "X")
        self.unreadable_ = encoded.unreadable
        self._sizes = {name: array.shape[1] for name, array in encoded.arrays.items()}
        return _views(encoded)

    def transform(self, X: Any) -> Views:
        """Return the views of photos.

        Parameters
        ----------
        X : sequence of paths
            The photos.

        Returns
        -------
        Views

        Examples
        --------
        >>> import tempfile
        >>> from PIL import Image
        >>> from anchorview import ImageViews
        >>> with tempfile.TemporaryDirectory() as folder:
        ...     Image.new("RGB", (90, 60), "red").save(f"{folder}/red.png")
        ...     len(ImageViews(folder=folder).fit(["red.png"]).transform(["red.png"]))
        1
        """
        check_is_fitted(self)
        encoded = encode_images(_paths(X), self.folder, self.encoder, self.size, self.n_jobs, self._sizes)
        warn_of_unreadable(encoded, "X")
        return _views(encoded)


def encode_images(
    paths: Sequence[str | None],
    folder: str | os.PathLike[str] | None,
    encoder: ImageEncoder | str | os.PathLike[str] | None,
    size: int,
    n_jobs: int | None,
    sizes: dict[str, int] | None = None,
) -> EncodedImages:
    """Read photos, None for a row that has none, and describe or encode them."""
    root = Path() if folder is None else Path(folder)
    run: ImageEncoder | None = None
    if encoder is not None:
        size, run = (size, encoder) if callable(encoder) else load_network(encoder)
    described = [name for name in DESCRIPTOR_SIZES if sizes is None or name in sizes]  # none by models of older files
    require_images("PIL.Image")
    if described:
        require_images("skimage.feature")

    def of_batch(rows: range) -> tuple[list[int], list[Pixels], list[Descriptors], dict[str, str]]:
        read, pictures, descriptions, failed = [], list[Pixels](), list[Descriptors](), {}
        for row in rows:
            path = paths[row]
            if path is None:
                continue
            try:
                picture = None if run is None else read_image(root / path, size)
                described_as = describe_image(read_image(root / path, SIZE)) if described else {}
            except UnreadableImage as error:
                failed[str(path)] = str(error)
                continue
            read.append(row)
            descriptions.append(described_as)
            if picture is not None:
                pictures.append(picture)
        return read, pictures, descriptions, failed

    n_threads = count_threads(n_jobs)
    batches = [range(start, min(start + _BATCH, len(paths))) for start in range(0, len(paths), _BATCH)]
    present = np.zeros(len(paths), dtype=bool)
    unreadable: dict[str, str] = {}
    known = sizes if sizes is not None else {} if run is not None else DESCRIPTOR_SIZES
    arrays = {name: np.zeros((len(paths), n), np.float32) for name, n in known.items()}
    ticker = Ticker("reading", len(paths), "photos")
    for rows_read, (read, pictures, descriptions, failed) in _read_ahead(of_batch, batches, n_threads):
        ticker.done(len(rows_read))
        unreadable |= failed
        if not read:
            continue
        of_view: dict[str, Any] = {} if run is None else {NETWORK: _run(run, pictures)}
        of_view |= {name: [one[name] for one in descriptions] for name in described}
        for name, rows in of_view.items():
            if name not in arrays:
                arrays[name] = np.zeros((len(paths), len(rows[0])), np.float32)
            if len(rows[0]) != arrays[name].shape[1]:
                raise ValueError(f"The encoder gave {len(rows[0])} numbers a photo; it was {arrays[name].shape[1]}.")
            arrays[name][read] = rows
        present[read] = True
    return EncodedImages(arrays, present, unreadable)


def _read_ahead(of_batch: Callable[[range], T], batches: list[range], n_threads: int) -> Iterator[tuple[range, T]]:
    """Yield batches and what was read of them, a few ahead: pictures must not pile up before a slow network."""
    for start in range(0, len(batches), 2 * n_threads):
        some = batches[start : start + 2 * n_threads]
        yield from zip(some, iter_blocks(of_batch, some, n_threads), strict=True)


def refuse_all_unreadable(encoded: EncodedImages, n_rows: int, what: str) -> None:
    """Raise an error if no photo could be read."""
    if not encoded.present.any():
        shown = "; ".join(f"{path}: {why}" for path, why in list(encoded.unreadable.items())[:_NAMED])
        raise ValueError(f"None of the {n_rows} photos of {what} can be read ({shown or 'no path is given'}).")


def warn_of_unreadable(encoded: EncodedImages, what: str) -> None:
    """Count and name photos that cannot be read."""
    if not encoded.unreadable:
        return
    shown = "; ".join(f"{path}: {why}" for path, why in list(encoded.unreadable.items())[:_NAMED])
    more = "; …" if len(encoded.unreadable) > _NAMED else ""
    total = len(encoded.unreadable) + int(encoded.present.sum())
    warnings.warn(
        f"{what}: {len(encoded.unreadable):,} of {total:,} {UNREADABLE}; these rows lack its views ({shown}{more}).",
        UserWarning,
        stacklevel=4,
    )


def supporting_views(encoded: EncodedImages) -> frozenset[str]:
    """Return the descriptions, if there is a view of an encoder that leads."""
    return frozenset(DESCRIPTOR_SIZES if NETWORK in encoded.arrays else ()) & set(encoded.arrays)


def _run(run: ImageEncoder, images: list[Pixels]) -> npt.NDArray[np.float32]:
    made = np.asarray(run(images), dtype=np.float32)
    if made.ndim != 2 or len(made) != len(images) or not np.isfinite(made).all():
        raise ValueError(f"The image encoder must give a row of finite numbers for each photo; got {made.shape}.")
    return made


def _paths(X: Any) -> list[str | None]:
    values = np.asarray(X, dtype=object).ravel().tolist()
    return [None if path is None or path == "" or path != path else os.fspath(path) for path in values]


def _views(encoded: EncodedImages) -> Views:
    mask = np.repeat(encoded.present[:, None], len(encoded.arrays), axis=1)
    views = Views(list(encoded.arrays.values()), names=list(encoded.arrays), mask=mask)
    views.supporting = supporting_views(encoded)
    return views
