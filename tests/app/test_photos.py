"""A folder of photos, and a column of them beside others, as a user gives them to the command."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

import anchorview
from support.command import invoke, quick, read_csv, refused, write_csv

Image = pytest.importorskip("PIL.Image")
pytest.importorskip("skimage")


@pytest.fixture(scope="module")
def photos(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return a folder of 40 photos, with stripes or with dots, two folders deep; one file is empty."""
    folder = tmp_path_factory.mktemp("data") / "photos"
    rng = np.random.RandomState(0)
    for number in range(40):
        kind = ("stripes", "dots")[number % 2]
        pixels = rng.randint(0, 60, (48, 64, 3), dtype=np.uint8)
        if kind == "stripes":
            pixels[::6] += 150
        else:
            pixels[::8, ::8] += 190
        (folder / "all" / kind).mkdir(parents=True, exist_ok=True)
        Image.fromarray(pixels).save(folder / "all" / kind / f"{number:02d}.png")
    (folder / "all" / "dots" / "broken.jpg").write_bytes(b"")
    (folder / "notes.txt").write_text("no photo")
    return folder


def kind_of(name: str) -> str:
    return name.split("/")[1]


def test_a_folder_and_a_file_of_labels(photos: Path, tmp_path: Path) -> None:
    some = [f"all/{('stripes', 'dots')[number % 2]}/{number:02d}.png" for number in range(10)]
    labels = write_csv(tmp_path / "labels.csv", {"file": some, "what": [kind_of(name) for name in some]})
    run = tmp_path / "run"
    done = invoke("fit", photos, "--labels", labels, "--config", quick(tmp_path), "-o", run)
    assert done.exit_code == 0, done.output
    assert "41 rows; 4 views" in done.output and "--column" not in done.output  # a folder has no columns
    assert "1 photo cannot be read and lacks these views (all/dots/broken.jpg: the file is empty)" in done.output
    rows = read_csv(run / "labels.csv")
    assert {row["id"] for row in rows} >= set(some)
    readable = [row for row in rows if "broken" not in row["id"]]
    assert np.mean([row["label"] == kind_of(row["id"]) for row in readable]) > 0.9
    done = invoke("predict", run, photos, "-o", tmp_path / "new.csv")
    assert done.exit_code == 0, done.output
    assert "1 of 41 photos that cannot be read" in done.output
    new = {row["id"]: row["label"] for row in read_csv(tmp_path / "new.csv")}
    assert np.mean([new[row["id"]] == row["label"] for row in readable]) > 0.9
    assert str(photos).encode() not in (run / "model.anchorview").read_bytes()


def test_folders_are_labels_only_on_demand(photos: Path, tmp_path: Path) -> None:
    options = ("--config", quick(tmp_path), "--check")
    assert "There are no labels" in refused("fit", photos, *options, code=3)
    done = invoke("fit", photos, "--labels-from-folders", *options)
    assert done.exit_code == 0 and "41 labels of 2 classes: dots 21, stripes 20" in done.output, done.output


def test_a_column_of_photos_beside_others(photos: Path, tmp_path: Path) -> None:
    names = sorted(file.relative_to(photos.parent).as_posix() for file in photos.rglob("*.png"))
    kinds = [name.split("/")[2] for name in names]
    table = write_csv(
        photos.parent / "table.csv",
        {
            "picture": names,
            "price": np.random.RandomState(0).rand(40).round(3),
            "what": [kind if row % 3 == 0 else None for row, kind in enumerate(kinds)],
        },
    )
    done = invoke("fit", table, "--label", "what", "--config", quick(tmp_path), "-o", tmp_path / "run")
    assert done.exit_code == 0, done.output
    assert "picture:hog: 576 features" in done.output and "picture: image, such as " in done.output
    done = invoke("predict", tmp_path / "run", table, "-o", tmp_path / "new.csv")
    assert done.exit_code == 0, done.output


def test_all_unreadable_is_an_error(tmp_path: Path) -> None:
    folder = tmp_path / "bad"
    folder.mkdir()
    for number in range(3):
        (folder / f"{number}.jpg").write_text("no photo")
    line = refused("fit", folder, "--labels-from-folders", "-o", tmp_path / "run", code=3)
    assert "None of the 3 photos of column 'photo' can be read (0.jpg: it is not a picture of a supported kind" in line
    (tmp_path / "empty").mkdir()
    assert "is a folder without photos" in refused("fit", tmp_path / "empty", "-o", tmp_path / "run", code=3)
    assert "gone cannot be read: No such file" in refused("fit", tmp_path / "gone", "-o", tmp_path / "run", code=3)


def test_one_photo_is_predicted(photos: Path, tmp_path: Path) -> None:
    run = tmp_path / "run"
    done = invoke("fit", photos, "--labels-from-folders", "--config", quick(tmp_path), "-o", run)
    assert done.exit_code == 0, done.output
    photo = next(photos.rglob("*.png"))
    done = invoke("predict", run, photo, "-o", tmp_path / "new.csv")
    assert done.exit_code == 0, done.output
    new = read_csv(tmp_path / "new.csv")
    assert [row["id"] for row in new] == [photo.name] and new[0]["label"] == photo.parent.name
    assert anchorview.load(run / "model.anchorview").predict(photo).tolist() == [photo.parent.name]
