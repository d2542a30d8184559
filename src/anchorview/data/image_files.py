"""Photos of every kind read as small RGB pictures; what cannot be read says why."""

from __future__ import annotations

import importlib
import os
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import numpy.typing as npt

MOST_PIXELS = 89_478_485  # from which Pillow warns of a bomb: 268 MB once decoded
# Pillow's other readers are left out: that of EPS starts another program.
_FORMATS = ("JPEG", "PNG", "GIF", "BMP", "TIFF", "WEBP", "PPM", "AVIF")  # the last since Pillow 11.3
_DEEP = ("I", "F", "I;16", "I;16B", "I;16L", "I;16N")  # modes that Pillow's convert would cut off at 255
Pixels = npt.NDArray[np.uint8]


class UnreadableImage(ValueError):
    """A file that is no picture that can be read; its message says why."""


def require_images(package: str, extra: str = "images") -> Any:
    """Import a package that photos need; an error names the extra."""
    try:
        return importlib.import_module(package)
    except ImportError:
        raise ImportError(f"Photos need {package.partition('.')[0]}: pip install 'anchorview[{extra}]'") from None


def read_image(path: str | os.PathLike[str], size: int) -> Pixels:
    """Return a photo as an array of shape (size, size, 3); its size is looked at before it is decoded."""
    return np.asarray(_read(Path(path), size, (size, size)))


def read_thumbnail(path: str | os.PathLike[str], size: int) -> Pixels:
    """Return a photo as a small array of its own shape, `size` pixels on the longer side."""
    return np.asarray(_read(Path(path), size, None))


def _read(file: Path, size: int, shape: tuple[int, int] | None) -> Any:
    image_module = require_images("PIL.Image")
    image_module.init()  # all readers: the first call of `open` knows the common ones only
    try:
        _refuse_others(file)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")  # metadata that are odd; the size is checked here
            image = image_module.open(file, formats=[one for one in _FORMATS if one in image_module.OPEN])
        with image:
            if image.width * image.height > MOST_PIXELS:
                raise UnreadableImage(f"{image.width * image.height / 1e6:,.0f} megapixels, too large to decode")
            image.draft("RGB" if image.mode in ("RGB", "YCbCr") else image.mode, (2 * size, 2 * size))
            image.seek(0)
            upright = _upright_rgb(image)
            if shape is None:
                scale = size / max(upright.size)
                shape = (max(1, round(scale * upright.width)), max(1, round(scale * upright.height)))
            return upright.resize(shape, image_module.Resampling.BILINEAR, reducing_gap=3.0)
    except UnreadableImage:
        raise
    except image_module.UnidentifiedImageError:
        raise UnreadableImage("it is not a picture of a supported kind") from None
    except image_module.DecompressionBombError:
        raise UnreadableImage("too large to decode") from None
    except FileNotFoundError:
        raise UnreadableImage("there is no such file") from None
    except Exception as error:  # decoders raise all kinds of errors on damaged files
        raise UnreadableImage(" ".join(str(error).split())[:120].replace(str(file), "it") or repr(error)) from None


def _refuse_others(file: Path) -> None:
    with file.open("rb") as stream:
        start = stream.read(512)
    if not start:
        raise UnreadableImage("the file is empty")
    if start[4:8] == b"ftyp" and start[8:12] in (b"heic", b"heix", b"mif1", b"msf1", b"hevc"):
        raise UnreadableImage("HEIC is not supported; save it as JPEG")
    if b"<svg" in start.lower():
        raise UnreadableImage("SVG is a drawing, which is not supported; save it as PNG")


def _upright_rgb(image: Any) -> Any:
    """Return a decoded picture, turned as its camera says, in RGB, on white where it is transparent."""
    image_module, operations = require_images("PIL.Image"), require_images("PIL.ImageOps")
    if image.mode in _DEEP:
        values = np.asarray(image).astype(np.float64)
        finite = np.where(np.isfinite(values), values, np.nan)
        low, high = np.nanmin(finite), np.nanmax(finite)
        scaled = np.zeros_like(values) if low == high else (np.nan_to_num(finite, nan=low) - low) / (high - low)
        image = image_module.fromarray((255 * scaled).astype(np.uint8))
    else:
        image = operations.exif_transpose(image)
    if image.mode in ("RGBA", "LA", "PA") or (image.mode == "P" and "transparency" in image.info):
        image = image.convert("RGBA")
        white = image_module.new("RGBA", image.size, (255, 255, 255, 255))
        image = image_module.alpha_composite(white, image)
    return image.convert("RGB")
