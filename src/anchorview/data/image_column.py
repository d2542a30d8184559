"""A column of paths of photos turned into views."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from .column_encoders import Part, Report, Unseen, expect_storage
from .columns import Column
from .image_network import ImageEncoder, check_network_file
from .image_views import (
    UNREADABLE,
    EncodedImages,
    encode_images,
    refuse_all_unreadable,
    supporting_views,
    warn_of_unreadable,
)

GivenEncoder = ImageEncoder | str | os.PathLike[str] | None
_SIZE = 224  # pixels of the photos that a callable gets


@dataclass(frozen=True)
class ImageColumn:
    """What a fit made of a column of photos: the sizes of its views, and which encoder made them.

    The encoder itself and the folder of the photos are not part of a model: they are given again (`bound`).
    """

    column: str
    sizes: dict[str, int]
    encoder: str  # its fingerprint; empty without one

    @classmethod
    def fit(
        cls, column: Column, folder: str | os.PathLike[str] | None, given: GivenEncoder
    ) -> tuple[ImageColumn, list[Part], dict[str, str]]:
        """Read the photos; an error if none of them can be. Return the unreadable ones, too, and why."""
        encoded = encode_images(column.texts(), folder, given, _SIZE, None)
        refuse_all_unreadable(encoded, len(column), f"column {column.name!r}")
        warn_of_unreadable(encoded, f"Column {column.name!r}")
        sizes = {name: array.shape[1] for name, array in encoded.arrays.items()}
        encoder = cls(column.name, sizes, image_fingerprint(given))
        return encoder, encoder._parts(encoded), encoded.unreadable

    def bound(self, folder: str | os.PathLike[str] | None, given: GivenEncoder) -> BoundImageColumn:
        """Return what encodes photos of a folder; an error if the encoder is not the one of the fit."""
        now = image_fingerprint(given)
        if not _is_same(now, self.encoder):
            raise ValueError(
                f"Column {self.column!r} was encoded by {self.encoder or 'no encoder'} at the fit, and now by "
                f"{now or 'none'}; give the same: image_encoder=… (--image-encoder)."
            )
        return BoundImageColumn(self, folder, given)

    def _parts(self, encoded: EncodedImages) -> list[Part]:
        supporting, parts = supporting_views(encoded), []
        for name, array in encoded.arrays.items():
            features = [str(number) for number in range(array.shape[1])]
            parts.append(Part(f"{self.column}:{name}", array, encoded.present, features, name in supporting))
        return parts


@dataclass(frozen=True)
class BoundImageColumn:
    """Encodes the photos of a folder as at the fit."""

    fitted: ImageColumn
    folder: str | os.PathLike[str] | None
    given: GivenEncoder

    def encode(self, columns: Mapping[str, Column], unseen: Report) -> list[Part]:
        """Return the views; a photo that cannot be read is a row without them."""
        column = columns[self.fitted.column]
        expect_storage(column, ("text", "category"), "paths of photos")
        encoded = encode_images(column.texts(), self.folder, self.given, _SIZE, None, self.fitted.sizes)
        filled = int(column.has_cell().sum())
        unseen[column.name] = Unseen(UNREADABLE, len(encoded.unreadable), filled)
        return self.fitted._parts(encoded)


def _is_same(one: str, other: str) -> bool:
    """Tell whether two fingerprints are of one encoder, whatever its file is called now."""
    return one.rpartition(" ")[2] == other.rpartition(" ")[2]


def image_fingerprint(given: Any) -> str:
    """Return the name of an encoder, and of a file the digest of its content; "" for none."""
    if given is None:
        return ""
    if callable(given):
        return f"{getattr(given, '__module__', '')}.{getattr(given, '__qualname__', type(given).__qualname__)}"
    check_network_file(given)
    with Path(given).open("rb") as stream:
        return f"{Path(given).name} {hashlib.file_digest(stream, 'sha256').hexdigest()[:16]}"
