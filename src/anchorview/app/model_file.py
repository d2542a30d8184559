"""Model files: a fitted model in one zip of a manifest and arrays. Loading one runs no code from it."""

from __future__ import annotations

import json
import os
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import BadZipFile, ZipFile

from sklearn.utils.validation import check_is_fitted

from ..core.checks import check_number, shorten
from ..core.files import check_output, replacing
from ..cost.estimate import available_memory
from .model_arrays import describe_array, new_member, write_array
from .model_checks import check_model
from .model_classes import LAST_STEPS, RENAMED, TABLE, storable_name
from .model_reading import MANIFEST, ModelFileError, array_name, open_model, read_arrays, read_manifest
from .model_tree import TreeReader, TreeWriter

__all__ = ["ModelFileError", "load", "save"]

FORMAT = "anchorview model"
VERSION = 3

# From a manifest of this version to one of the next, for files of older releases. When what is stored changes, VERSION
# grows by one, the change gets its entry here, and a file of the old version is kept in tests/app/data.
MIGRATIONS: dict[int, Callable[[dict[str, Any]], dict[str, Any]]] = {
    1: lambda manifest: manifest,  # what version 2 adds, symmetric matrices and `Directions`, version 1 has in full
    2: lambda manifest: {**manifest, "classes": None},  # no versions of classes yet: read by `former_models`
}


def save(
    model: Any,
    path: str | os.PathLike[str],
    *,
    rows: bool = False,
    updates: bool = False,
    overwrite: bool = False,
) -> None:
    """Write a fitted model to a file.

    The file holds numbers and names, no code. What `predict`, `predict_proba` and `transform` give after loading is the
    same to the last bit (on the same machine; another one may round otherwise). The same model gives the same bytes.

    Parameters
    ----------
    model : FSSMSC, AnchorViewClassifier or sklearn.pipeline.Pipeline
        A fitted model, or a fitted pipeline that ends with one; docs/models.md lists the steps that may come before.
    path : path-like
        The file, "model.anchorview", say.
    rows : bool, default=False
        Keep what the model knows of the single rows of its fit too: `labels_`, `confidence_`, `embedding_`, `codes_`,
        what `suggest_labels` needs, and what `warm_start` goes on from. Without it, the file of a model of a million
        rows is a few MB.
    updates : bool, default=False
        Keep what `update` needs too, and the rows with it: their codes and products with the landmarks, some 2 kB a row
        with 500 landmarks. The features are not kept. Of an AnchorViewClassifier what is kept is the plain model that
        answers its updates, which is fitted if there was none.
    overwrite : bool, default=False
        Whether a file that exists may be replaced. It is replaced in one step, when the new one is whole.

    Raises
    ------
    FileExistsError
        If the file exists, unless `overwrite`.
    TypeError
        If the model holds something that a model file cannot: a function, say. The error names where it is.

    Examples
    --------
    >>> import tempfile
    >>> import anchorview
    >>> from anchorview import FSSMSC, datasets
    >>> made = datasets.make_multiview_subspaces(60, 2, (6, 4), random_state=0)
    >>> model = FSSMSC(n_landmarks=10, random_state=0).fit(made.views, made.target)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     anchorview.save(model, f"{folder}/model.anchorview")
    ...     again = anchorview.load(f"{folder}/model.anchorview")
    >>> bool((again.predict_proba(made.views) == model.predict_proba(made.views)).all())
    True
    """
    path, rows = _as_path(path), rows or updates
    _check_savable(model, rows)
    if path.is_dir():
        raise IsADirectoryError(f"{path} is a folder; name a file in it, such as {path / 'model.anchorview'}.")
    check_output(path, overwrite=overwrite)
    last = _last_step(model)
    if rows:  # what is computed when it is first asked for belongs to the rows too
        last._places_of_rows()
        last._unlikeness_of_rows()
    if updates:
        last._keep_rows()
    writer = TreeWriter(rows)
    try:
        tree = writer.write(model, type(model).__name__)
    finally:
        last._drop_kept_rows()  # memory that only the file needs
    check_model(model, rows=False)  # what a cluster holds of the rows cannot be looked at
    members = {array_name(number): array for number, array in enumerate(writer.arrays)}
    manifest = {
        "format": FORMAT,
        "version": VERSION,
        "written_with": _versions(),
        "class": type(model).__name__,
        "rows": bool(rows),
        "classes": dict(sorted(writer.classes.items())),
        "model": tree,
        "members": {name: describe_array(array) for name, array in members.items()},
    }
    text = json.dumps(manifest, indent=1, allow_nan=False)
    with replacing(path, overwrite=overwrite) as stream, ZipFile(stream, "w") as archive:
        archive.writestr(new_member(MANIFEST), text)
        for name, array in members.items():
            write_array(archive, name, array)


def load(path: str | os.PathLike[str], *, rows: bool = False, max_bytes: int | None = None) -> Any:
    """Read a model from a file that `save` has written.

    Nothing in the file is executed: it is numbers and names, and the only classes made from it are those of anchorview
    and scikit-learn that docs/models.md lists. Checksums find files that were damaged on the way; they do not tell who
    wrote a file.

    Parameters
    ----------
    path : path-like
        The file.
    rows : bool, default=False
        Refuse files without what `update` needs: those that were not written with ``updates=True``, or by a run with
        ``--keep-rows``. Whatever a file holds is read either way.
    max_bytes : int, optional
        Refuse files that unpack to more; by default to more than the memory that is free.

    Returns
    -------
    FSSMSC, AnchorViewClassifier or sklearn.pipeline.Pipeline
        The model, as it was fitted.

    Raises
    ------
    ModelFileError
        If it is no model file, is damaged, was changed, is of a newer version, or is too large; a ValueError.

    Examples
    --------
    >>> import tempfile
    >>> import anchorview
    >>> from anchorview import FSSMSC, datasets
    >>> made = datasets.make_multiview_subspaces(60, 2, (6, 4), random_state=0)
    >>> model = FSSMSC(n_clusters=2, n_landmarks=10, random_state=0).fit(made.views)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     anchorview.save(model, f"{folder}/model.anchorview", rows=True)
    ...     again = anchorview.load(f"{folder}/model.anchorview")
    >>> bool((again.labels_ == model.labels_).all())
    True
    """
    path = _as_path(path)
    if max_bytes is not None:
        check_number("max_bytes", max_bytes, 1, integer=True)
    limit = available_memory() if max_bytes is None else int(max_bytes)
    with path.open("rb") as stream:
        try:
            archive = open_model(stream, limit)
            manifest = _upgrade(read_manifest(archive))
            arrays = read_arrays(archive, manifest)
            _check_versions(manifest["classes"])
            model = TreeReader(arrays, is_former=manifest["classes"] is None).read(manifest["model"])
            _check_loaded(model, manifest)
            if rows and not {"_kept", "_kept_plain"} & set(vars(_last_step(model))):
                raise ModelFileError(
                    "holds no rows for other labels; save the fitted model with updates=True, or make the run again "
                    "with --keep-rows."
                )
        except ModelFileError as error:
            raise ModelFileError(f"{path} {error}") from None
        except MemoryError:
            raise ModelFileError(f"{path} asks for more memory than there is, and was not read.") from None
        except (BadZipFile, zlib.error, EOFError, OSError) as error:
            raise ModelFileError(f"{path} is damaged: {error!s:.300}.") from error
        except Exception as error:  # whatever a file may hold that is not what `save` writes
            why = f"{type(error).__name__}: {error!s:.300}"
            raise ModelFileError(
                f"{path} is not a model that this release can read, or was changed ({why})."
            ) from error
    return model


def _as_path(path: Any) -> Path:
    if not isinstance(path, str | os.PathLike):
        raise TypeError(f"path must name a file, as text or Path; got {shorten(path)}.")
    return Path(path)


def _last_step(model: Any) -> Any:
    return model.steps[-1][1] if storable_name(type(model)) == "Pipeline" else model


def _check_savable(model: Any, rows: bool) -> None:
    """Raise an error unless this is a fitted model that a file can hold, with its rows if they are asked for."""
    last = _last_step(model)
    if storable_name(type(last)) not in LAST_STEPS:
        raise TypeError(
            "A model file holds a fitted FSSMSC or AnchorViewClassifier, or a Pipeline that ends with one; "
            f"got {shorten(model)}."
        )
    check_is_fitted(last)
    if rows and vars(last).get("_rows") is None:
        raise ValueError(
            "The model was itself loaded from a file without its rows, so rows=True cannot keep labels_, codes_ and "
            "the like; save it with rows=False, or fit it again."
        )


def _versions() -> dict[str, str]:
    import numpy
    import scipy
    import sklearn

    from .. import __version__

    named = {"numpy": numpy, "scipy": scipy, "scikit-learn": sklearn}
    return {"anchorview": __version__, **{name: module.__version__ for name, module in named.items()}}


def _upgrade(manifest: dict[str, Any]) -> dict[str, Any]:
    """Bring the manifest of an older release to what this one writes."""
    if manifest.get("format") != FORMAT:
        raise ModelFileError("is not a model file of anchorview: its manifest is of another format.")
    version, by = manifest.get("version"), manifest.get("written_with")
    if type(version) is not int or version < 1:
        raise ModelFileError(f"is of the unknown format version {version!r:.40}.")
    if version > VERSION:
        release = by.get("anchorview") if isinstance(by, dict) else None
        raise ModelFileError(
            f"was written by a newer release (anchorview {release!s:.40}, format version {version}; this release reads "
            f"up to {VERSION}). Upgrade: pip install --upgrade anchorview"
        )
    while version < VERSION:
        manifest = MIGRATIONS[version](manifest)
        version += 1
    return manifest


def _check_versions(classes: dict[str, int] | None) -> None:
    """Refuse what a newer release stores in another way than this one."""
    for name, version in (classes or {}).items():
        known = TABLE[name].version if name in TABLE else 0
        if type(version) is not int or version > known:
            raise ModelFileError(
                f"holds a {name!r:.80} of version {version!r:.20}; this release reads up to {known}. "
                "Upgrade: pip install --upgrade anchorview"
            )


def _check_loaded(model: Any, manifest: dict[str, Any]) -> None:
    if type(model).__name__ != RENAMED.get(manifest["class"], manifest["class"]):
        raise ValueError(f"the manifest names a {manifest['class']!r:.40}, the file holds a {type(model).__name__}")
    _check_savable(model, rows=False)
    check_model(model)
