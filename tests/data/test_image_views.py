"""Photos as views: every odd file that people have, and encoders."""

from __future__ import annotations

import struct
import zlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
import pytest

from anchorview import FSSMSC, ImageViews, TableViews
from anchorview.data.image_column import ImageColumn, image_fingerprint
from anchorview.data.image_files import UnreadableImage, read_image
from anchorview.files.sources import is_photo_folder

Image, features = pytest.importorskip("PIL.Image"), pytest.importorskip("PIL.features")
pytest.importorskip("skimage")


def picture() -> Any:
    """Return a picture whose left half is red and whose right half is blue."""
    pixels = np.zeros((40, 60, 3), np.uint8)
    pixels[:, :30, 0], pixels[:, 30:, 2] = 255, 255
    return Image.fromarray(pixels)


def colours(path: Path) -> tuple[list[int], list[int]]:
    """Return what is seen on the left and on the right."""
    read = read_image(path, 64)
    assert read.shape == (64, 64, 3) and read.dtype == np.uint8
    return read[32, 5].tolist(), read[32, 58].tolist()


@pytest.mark.parametrize("mode", ["RGB", "RGBA", "CMYK", "P", "L", "1", "LA", "I;16", "I", "F"])
def test_modes(tmp_path: Path, mode: str) -> None:
    if mode in ("I;16", "I", "F"):
        values = np.zeros((40, 60)) + 1000.0
        values[:, 30:] = 3000.0  # Pillow's convert would make both of them white
        kind = {"I;16": np.uint16, "I": np.int32, "F": np.float32}[mode]
        image = Image.fromarray(values.astype(kind))
        assert image.mode == mode
    else:
        image = picture().convert(mode)
    path = tmp_path / "p.tif"
    image.save(path)
    left, right = colours(path)
    if mode in ("I;16", "I", "F"):
        assert left == [0, 0, 0] and right == [255, 255, 255]
    elif mode not in ("L", "1", "LA"):
        assert left[0] > 200 > 60 > left[2] and right[2] > 200 > 60 > right[0]


@pytest.mark.parametrize("name", ["p.jfif", "p.webp", "p.avif", "p.bmp", "p.ppm"])
def test_kinds_of_files(tmp_path: Path, name: str) -> None:
    if name == "p.avif" and not features.check("avif"):
        pytest.skip("this Pillow does not read AVIF")
    picture().save(tmp_path / name)
    left, right = colours(tmp_path / name)
    assert left[0] > 200 > 60 > left[2] and right[2] > 200 > 60 > right[0]
    assert is_photo_folder(tmp_path)


def test_transparent_is_white(tmp_path: Path) -> None:
    Image.new("RGBA", (20, 20), (0, 0, 0, 0)).save(tmp_path / "p.png")
    assert colours(tmp_path / "p.png")[0] == [255, 255, 255]


def test_turned_as_the_camera_says(tmp_path: Path) -> None:
    exif = Image.Exif()
    exif[0x0112] = 3  # upside down
    picture().save(tmp_path / "p.jpg", exif=exif, quality=95)
    left, right = colours(tmp_path / "p.jpg")
    assert left[2] > 150 and right[0] > 150


def test_the_first_frame_of_an_animation(tmp_path: Path) -> None:
    frames = [Image.new("RGB", (20, 20), colour) for colour in ("red", "blue")]
    frames[0].save(tmp_path / "p.gif", save_all=True, append_images=frames[1:])
    assert colours(tmp_path / "p.gif")[0] == [255, 0, 0]


def test_one_pixel(tmp_path: Path) -> None:
    Image.new("RGB", (1, 1), "red").save(tmp_path / "p.png")
    assert colours(tmp_path / "p.png")[0] == [255, 0, 0]
    views = ImageViews().fit_transform([tmp_path / "p.png"])
    assert all(np.isfinite(array).all() for array in views.arrays)


def png_that_says(width: int, height: int) -> bytes:
    """Return a PNG with a size in its head, and next to nothing in it."""

    def chunk(name: bytes, data: bytes) -> bytes:
        return struct.pack(">I", len(data)) + name + data + struct.pack(">I", zlib.crc32(name + data))

    head = struct.pack(">IIBBBBB", width, height, 8, 2, 0, 0, 0)
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", head) + chunk(b"IDAT", zlib.compress(b"\0" * 99)) + chunk(b"IEND", b"")


@pytest.mark.parametrize(
    ("name", "data", "why"),
    [
        ("empty.jpg", b"", "the file is empty"),
        ("text.jpg", b"this is no photo at all", "not a picture of a supported kind"),
        ("d.svg", b'<?xml version="1.0"?><svg xmlns="http://www.w3.org/2000/svg"/>', "SVG"),
        ("p.heic", b"\0\0\0\x18ftypheic" + b"\0" * 40, "HEIC is not supported"),
        ("bomb.png", png_that_says(60_000, 60_000), "too large to decode"),
        ("large.png", png_that_says(10_000, 9_500), "95 megapixels, too large"),
        ("cut.png", png_that_says(300, 300)[:50], "."),
    ],
    ids=lambda value: value if isinstance(value, str) and "." in value else "",
)
def test_unreadable_ones_say_why(tmp_path: Path, name: str, data: bytes, why: str) -> None:
    (tmp_path / name).write_bytes(data)
    with pytest.raises(UnreadableImage, match=why):
        read_image(tmp_path / name, 64)


def test_a_truncated_photo(tmp_path: Path) -> None:
    noise = Image.fromarray(np.random.RandomState(0).randint(0, 255, (200, 200, 3), dtype=np.uint8))
    noise.save(tmp_path / "whole.jpg")
    data = (tmp_path / "whole.jpg").read_bytes()
    (tmp_path / "half.jpg").write_bytes(data[: len(data) // 2])
    with pytest.raises(UnreadableImage, match="truncated"):
        read_image(tmp_path / "half.jpg", 64)


def test_80_megapixels_are_read(tmp_path: Path) -> None:
    Image.new("1", (10_000, 8_000)).save(tmp_path / "p.png")
    assert colours(tmp_path / "p.png")[0] == [0, 0, 0]


def test_unreadable_rows_lack_the_views(tmp_path: Path) -> None:
    picture().save(tmp_path / "a.png")
    (tmp_path / "b.png").write_bytes(b"")
    transformer = ImageViews(folder=tmp_path)
    with pytest.warns(UserWarning, match=r"X: 1 of 2 photos that cannot be read; .* \(b.png: the file is empty\)"):
        views = transformer.fit_transform(["a.png", "b.png", None])
    assert views.names == ["hog", "lbp", "gist", "colour"] and sum(views.sizes) == 1388
    assert views.present is not None and views.present.tolist() == [[True] * 4, [False] * 4, [False] * 4]
    assert transformer.unreadable_ == {"b.png": "the file is empty"}
    with pytest.warns(UserWarning, match="X: 1 of 1 photos that cannot be read"):
        assert transformer.transform(["b.png"]).present.tolist() == [[False] * 4]
    with pytest.raises(ValueError, match=r"None of the 1 photos of X can be read \(b.png: the file is empty\)"):
        ImageViews(folder=tmp_path).fit(["b.png"])


def test_a_callable_as_encoder(tmp_path: Path) -> None:
    picture().save(tmp_path / "a.png")

    def mean_colour(images: Any) -> Any:
        return [image.mean(axis=(0, 1)) for image in images]

    views = ImageViews(encoder=mean_colour, size=16).fit_transform([tmp_path / "a.png"] * 2)
    assert views.names[0] == "network" and views.arrays[0][0].round(-1).tolist() == [130.0, 0.0, 130.0]
    with pytest.raises(ValueError, match="a row of finite numbers for each photo"):
        ImageViews(encoder=lambda images: [[1.0]]).fit([tmp_path / "a.png"] * 2)


def test_a_network_as_encoder(tmp_path: Path) -> None:
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    make, number = onnx.helper, onnx.TensorProto.FLOAT
    node = make.make_node("GlobalAveragePool", ["x"], ["y"])
    given = make.make_tensor_value_info("x", number, ["n", 3, 32, 32])
    made = make.make_tensor_value_info("y", number, ["n", 3, 1, 1])
    model = make.make_model(
        make.make_graph([node], "g", [given], [made]), opset_imports=[make.make_opsetid("", 13)], ir_version=8
    )
    onnx.save(model, str(tmp_path / "mean.onnx"))
    Image.new("RGB", (50, 50), "black").save(tmp_path / "a.png")
    views = ImageViews(encoder=tmp_path / "mean.onnx").fit_transform([tmp_path / "a.png"])
    np.testing.assert_allclose(views.arrays[0][0], -np.array([0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225], rtol=1e-5)
    with pytest.raises(ValueError, match="There is no file"):
        ImageViews(encoder=tmp_path / "gone.onnx").fit([tmp_path / "a.png"])
    with pytest.raises(ValueError, match="a.png is not a network that onnxruntime can read"):
        ImageViews(encoder=tmp_path / "a.png").fit([tmp_path / "a.png"])


@pytest.mark.parametrize("kind", ["FLOAT16", "UINT8"])
def test_what_networks_take_and_give(tmp_path: Path, kind: str) -> None:
    """Halves and bytes go in; of a network that gives numbers for each place of the photo the mean is taken."""
    onnx = pytest.importorskip("onnx")
    pytest.importorskip("onnxruntime")
    make, number = onnx.helper, getattr(onnx.TensorProto, kind)
    node = make.make_node("Cast", ["x"], ["y"], to=onnx.TensorProto.FLOAT)
    given = make.make_tensor_value_info("x", number, [1, 3, 32, 32])  # one photo at a time
    made = make.make_tensor_value_info("y", onnx.TensorProto.FLOAT, [1, 3, 32, 32])
    graph = make.make_graph([node], "g", [given], [made])
    onnx.save(make.make_model(graph, opset_imports=[make.make_opsetid("", 13)], ir_version=8), str(tmp_path / "n.onnx"))
    Image.new("RGB", (50, 50), (255, 0, 0)).save(tmp_path / "a.png")
    views = ImageViews(encoder=tmp_path / "n.onnx").fit_transform([tmp_path / "a.png"] * 2)
    black = -np.array([0.485, 0.456, 0.406]) / [0.229, 0.224, 0.225]
    red = [255, 0, 0] if kind == "UINT8" else [(1 - 0.485) / 0.229, *black[1:]]
    np.testing.assert_allclose(views.arrays[0], [red, red], rtol=1e-2)
    given.type.tensor_type.shape.dim[0].dim_value = 8
    eight = make.make_graph([node], "g", [given], [make.make_tensor_value_info("y", onnx.TensorProto.FLOAT, None)])
    onnx.save(make.make_model(eight, opset_imports=[make.make_opsetid("", 13)], ir_version=8), str(tmp_path / "8.onnx"))
    with pytest.raises(ValueError, match="8.onnx takes 8 photos at a time; export it"):
        ImageViews(encoder=tmp_path / "8.onnx").fit([tmp_path / "a.png"])


def test_an_encoder_leads_and_descriptions_wait_for_the_labels(tmp_path: Path) -> None:
    """Where the encoder tells the classes apart it counts alone; where it is of no use the descriptions join."""
    rng, paths = np.random.RandomState(0), []
    for number in range(120):  # stripes across or down; colours tell nothing
        stripes = np.repeat(np.repeat(rng.randint(0, 255, (8, 1, 3)), 8, axis=0), 64, axis=1).astype(np.uint8)
        Image.fromarray(stripes if number % 2 else stripes.transpose(1, 0, 2)).save(tmp_path / f"{number:03d}.png")
        paths.append(tmp_path / f"{number:03d}.png")
    y = [number % 2 if number < 60 else -1 for number in range(120)]

    def runs_across(images: Any) -> Any:
        return [[np.ptp(np.asarray(image, float), axis=axis).mean() + 1 for axis in (0, 1)] for image in images]

    def noise(images: Any) -> Any:
        return [np.random.RandomState(int(image.sum()) % 2**31).rand(6) for image in images]

    weights, right = {}, {}
    for name, encoder in (("good", runs_across), ("useless", noise)):
        views = ImageViews(encoder=encoder, size=64).fit_transform(paths)
        assert views.names == ["network", "hog", "lbp", "gist", "colour"]
        assert views.supporting == {"hog", "lbp", "gist", "colour"} == views[:5].supporting
        assert views.select(["network", "hog"]).supporting == {"hog"}
        model = FSSMSC(n_landmarks=30, random_state=0).fit(views, y)
        weights[name] = dict(zip(views.names, model.chosen_["view_weights"], strict=True))
        right[name] = float(np.mean(model.labels_[60:] == np.arange(60, 120) % 2))
    assert weights["good"]["network"] > 100 * weights["good"]["hog"]
    assert weights["useless"]["hog"] > weights["useless"]["network"]
    assert min(right.values()) > 0.9, right
    alone = FSSMSC(2, n_landmarks=30, random_state=0).fit(views)  # no labels, so nothing joins
    assert alone.chosen_["view_weights"][0] > 100 * alone.chosen_["view_weights"][1]


def test_a_table_of_photos_with_an_encoder(tmp_path: Path) -> None:
    picture().save(tmp_path / "a.png")
    table = pd.DataFrame({"photo": [str(tmp_path / "a.png")] * 4, "stars": [1, 2, 3, 4]})

    def mean_colour(images: Any) -> Any:
        return [image.mean(axis=(0, 1)) for image in images]

    transformer = TableViews(kinds={"photo": "image"}, image_encoder=mean_colour)
    views = transformer.fit_transform(table)
    assert views.supporting == {"photo:hog", "photo:lbp", "photo:gist", "photo:colour"}
    column = next(one for one in transformer._encoders if isinstance(one, ImageColumn))
    with pytest.warns(UserWarning, match="Column 'photo': 1 of 1 photos that cannot be read; these rows lack"):
        transformer.transform({"photo": str(tmp_path / "gone.png"), "stars": 3})
    # A model of an older file knows the view of the encoder only.
    transformer._encoders[transformer._encoders.index(column)] = replace(column, sizes={"network": 3})
    assert [name for name in transformer.transform(table).names if ":" in name] == ["photo:network"]


def test_a_network_is_known_by_its_content(tmp_path: Path) -> None:
    for name, content in (("a.onnx", b"one"), ("b.onnx", b"one"), ("c.onnx", b"two")):
        (tmp_path / name).write_bytes(content)
    column = ImageColumn("photo", {"network": 3}, image_fingerprint(tmp_path / "a.onnx"))
    assert column.bound(None, tmp_path / "b.onnx").fitted is column  # the same under another name
    for given, named in ((tmp_path / "c.onnx", "now by c.onnx"), (None, "now by none")):
        with pytest.raises(ValueError, match=f"was encoded by a.onnx .* at the fit, and {named}"):
            column.bound(None, given)
    with pytest.raises(ValueError, match="There is no file .*gone.onnx; an image encoder is"):
        column.bound(None, tmp_path / "gone.onnx")
