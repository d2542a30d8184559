"""Files that are no models, or no longer: each is refused in words, before memory is spent, and nothing is run."""

from __future__ import annotations

import hashlib
import io
import json
import pickle
import random
import struct
import tracemalloc
import warnings
from collections.abc import Callable
from pathlib import Path
from typing import Any
from zipfile import ZIP_BZIP2, ZIP_DEFLATED, ZipFile

import numpy as np
import pytest
import skops.io

from anchorview import ModelFileError, load, save
from support.models import fitted

Manifest = dict[str, Any]
Members = dict[str, bytes]


@pytest.fixture(scope="module")
def whole(tmp_path_factory: pytest.TempPathFactory) -> bytes:
    """A small model file."""
    path = tmp_path_factory.mktemp("model") / "model"
    save(fitted("plain")[0], path)
    return path.read_bytes()


@pytest.fixture
def path(tmp_path: Path) -> Path:
    return tmp_path / "model.anchorview"


def unpack(data: bytes) -> tuple[Manifest, Members]:
    with ZipFile(io.BytesIO(data)) as archive:
        members = {name: archive.read(name) for name in archive.namelist()}
    return json.loads(members.pop("manifest.json")), members


def pack(manifest: Manifest, members: Members, *, compress: int = ZIP_DEFLATED) -> bytes:
    stream = io.BytesIO()
    with ZipFile(stream, "w", compress) as archive:
        archive.writestr("manifest.json", json.dumps(manifest))
        for name, data in members.items():
            archive.writestr(name, data)
    return stream.getvalue()


def forge(data: bytes, change: Callable[[Manifest, Members], Any]) -> bytes:
    """Change a model on purpose, with checksums that are right."""
    manifest, members = unpack(data)
    change(manifest, members)
    manifest["members"] = {
        name: {"size": len(part), "sha256": hashlib.sha256(part).hexdigest()} for name, part in members.items()
    }
    return pack(manifest, members)


def npy(array: np.ndarray) -> bytes:
    stream = io.BytesIO()
    np.save(stream, array)
    return stream.getvalue()


def fields(manifest: Manifest) -> Manifest:
    return manifest["model"]["object"][1]["fitted"]


def refuse(path: Path, data: bytes, words: str) -> None:
    path.write_bytes(data)
    with pytest.raises(ModelFileError, match=rf"^.*{path.name}.*{words}"):
        load(path)


# Files of something else


class Evil:
    """Leaves a mark if it is ever unpickled."""

    def __reduce__(self) -> tuple[Any, ...]:
        return exec, ("raise SystemExit('it ran')",)


def npz() -> bytes:
    stream = io.BytesIO()
    np.savez(stream, v0=np.ones((3, 2)))
    return stream.getvalue()


def a_zip(**members: str) -> bytes:
    stream = io.BytesIO()
    with ZipFile(stream, "w") as archive:
        for name, text in members.items():
            archive.writestr(name.replace("_", "."), text)
    return stream.getvalue()


@pytest.mark.parametrize(
    ("data", "words"),
    [
        (b"", "is empty"),
        (b"id,label\n1,a\n", "is not a model file of anchorview"),
        (b"\x89HDF\r\n\x1a\n" + b"\0" * 100, "is not a model file of anchorview"),
        (pickle.dumps(Evil()), r"is a pickle.*can run any code"),
        (npz(), r"has no manifest\.json\. It looks like an npz"),
        (a_zip(a_txt="hello"), r"is a zip file, but not a model of anchorview"),
        (a_zip(manifest_json="[]"), "its manifest is of another format"),
        (a_zip(manifest_json='{"format": "chrome extension", "version": 3}'), "its manifest is of another format"),
        (a_zip(manifest_json="{"), "is not a model that this release can read"),
        (a_zip(manifest_json="[" * 100_000), "is not a model that this release can read"),
        (b"PK\3\4" + b"\0" * 50, "damaged or was cut short"),
        (b"PK\5\6" + b"\0" * 18, "is not a model file"),
    ],
)
def test_files_of_something_else(data: bytes, words: str, path: Path) -> None:
    refuse(path, data, words)


def test_a_file_of_skops(path: Path) -> None:
    refuse(path, skops.io.dumps(fitted("plain")[0]), r"looks like a file of skops: load it with skops\.io\.load")


# Damage


def test_a_model_file_error_is_a_value_error() -> None:
    assert issubclass(ModelFileError, ValueError)


def test_files_that_were_cut_short(whole: bytes, path: Path) -> None:
    for length in (1, 4, 30, len(whole) // 2, len(whole) - 22, len(whole) - 1):
        path.write_bytes(whole[:length])
        with pytest.raises(ModelFileError):
            load(path)
    refuse(path, whole[: len(whole) // 2], "damaged or was cut short")


def test_something_added_before_or_after(whole: bytes, path: Path) -> None:
    refuse(path, b"#!/bin/sh\n" + whole, "is not a model file of anchorview")
    refuse(path, whole + b"\0", "damaged or was cut short")
    refuse(path, whole + whole[-22:], "is damaged")


def test_any_byte_may_be_wrong(whole: bytes, path: Path) -> None:
    """Whatever happens to a byte, or to the end, the model is the same one or the file is refused."""
    rng = random.Random(0)
    end = len(whole) - 22
    places = [*range(0, 60), *range(end - 80, len(whole)), *(rng.randrange(len(whole)) for _ in range(300))]
    refused = 0
    again = path.with_name("again")
    for place in places:
        data = bytearray(whole)
        data[place] ^= 1 << rng.randrange(8) if rng.random() < 0.5 else rng.randrange(1, 256)
        path.write_bytes(data if rng.random() < 0.9 else data[: rng.randrange(len(data))])
        try:
            with warnings.catch_warnings():
                warnings.simplefilter("error")
                model = load(path)
        except ModelFileError:
            refused += 1
        else:
            save(model, again, overwrite=True)
            assert again.read_bytes() == whole, f"byte {place}"
    assert refused > 0.8 * len(places)  # the others are times and rights in headers, which do not matter


def test_an_array_that_was_changed(whole: bytes, path: Path) -> None:
    manifest, members = unpack(whole)
    name = next(iter(members))
    members[name] = members[name][:-1] + bytes([members[name][-1] ^ 1])
    refuse(path, pack(manifest, members), f"was changed or damaged: the checksum of '{name}'")
    members[name] += b"\0"
    refuse(path, pack(manifest, members), f"was changed: '{name}' has [0-9]+ bytes")


def test_members_that_are_missing_or_too_many(whole: bytes, path: Path) -> None:
    manifest, members = unpack(whole)
    refuse(
        path,
        pack(manifest, members | {"arrays/99.npy": b""}),
        "holds 'arrays/99.npy', which its manifest does not name",
    )
    for name in ("../evil.npy", "/etc/evil.npy"):
        refuse(path, pack(manifest, members | {name: b""}), r"evil\.npy' \(a path out of the file\), which is no part")
    for name in ("code.py", "arrays/0.npy.exe", "arrays\\0.npy", "Arrays/0.npy"):
        refuse(path, pack(manifest, members | {name: b""}), "which is no part of a model")
    del members["arrays/0.npy"]
    refuse(path, pack(manifest, members), "was changed: it has no 'arrays/0.npy'")


def test_a_member_that_is_there_twice(whole: bytes, path: Path) -> None:
    path.write_bytes(whole)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with ZipFile(path, "a") as archive:
            archive.writestr("arrays/0.npy", b"another")
    refuse(path, path.read_bytes(), "holds 'arrays/0.npy' twice")


def test_forms_of_compression_that_are_not_ours(whole: bytes, path: Path) -> None:
    refuse(path, pack(*unpack(whole), compress=ZIP_BZIP2), "in a form that anchorview.save does not write")


# Sizes


def peak_of(action: Callable[[], Any]) -> int:
    tracemalloc.start()
    try:
        action()
        return tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


def test_a_bomb_is_refused_before_it_is_unpacked(whole: bytes, path: Path) -> None:
    manifest, members = unpack(whole)
    bomb = pack(manifest, members | {"arrays/0.npy": bytes(2**26 + 2**20)})
    assert peak_of(lambda: refuse(path, bomb, r"unpacks from 0\.\d MB to 0\.1 GB, which looks like a zip bomb")) < 2**22


def test_a_bomb_of_members_that_overlap(whole: bytes, path: Path) -> None:
    """One packed member, named many times in the table of contents: each alone packs as data do."""
    data = np.random.default_rng(0).integers(0, 2, 2**20, dtype=np.uint8).tobytes()
    manifest, members = unpack(whole)
    one = bytearray(pack(manifest, members | {"arrays/0.npy": data}))
    end = struct.unpack("<4s4H2LH", one[-22:])
    directory = bytes(one[end[6] : -22])
    entries = directory.split(b"PK\1\2")[1:]
    large = max(entries, key=lambda entry: struct.unpack_from("<L", entry, 20)[0])
    many = [large.replace(b"arrays/0.npy", b"arrays/%d.npy" % n) for n in range(100, 999)]
    many = [entry[:24] + struct.pack("<H", len(b"arrays/999.npy")) + entry[26:] for entry in many]
    table = b"".join(b"PK\1\2" + entry for entry in entries + many)
    tail = struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, len(entries + many), len(entries + many), len(table), end[6], 0)
    refuse(path, bytes(one[: end[6]]) + table + tail, "looks like a zip bomb")


def test_a_limit_of_the_users(whole: bytes, path: Path) -> None:
    path.write_bytes(whole)
    with pytest.raises(ModelFileError, match=r"takes 0 MB of memory, more than the 0 MB that it may \(max_bytes"):
        load(path, max_bytes=10_000)
    assert load(path, max_bytes=10_000_000).n_features_in_ == 14
    with pytest.raises(ValueError, match="max_bytes must be"):
        load(path, max_bytes=0)


def test_a_table_of_contents_without_end(path: Path) -> None:
    size = 2**25
    data = b"PK\3\4" + bytes(size) + struct.pack("<4s4H2LH", b"PK\5\6", 0, 0, 9999, 9999, size, 4, 0)
    assert peak_of(lambda: refuse(path, data, "has more parts than any model")) < 2**20


def test_an_array_that_claims_more_than_it_has(whole: bytes, path: Path) -> None:
    def claim(manifest: Manifest, members: Members) -> None:
        header = b"{'descr': '<f8', 'fortran_order': False, 'shape': (1000000000000,), }"
        members["arrays/0.npy"] = b"\x93NUMPY\1\0" + struct.pack("<H", len(header)) + header + bytes(64)

    assert peak_of(lambda: refuse(path, forge(whole, claim), "'arrays/0.npy' cannot be read .*64 bytes")) < 2**22


def test_a_manifest_of_hundreds_of_megabytes(path: Path) -> None:
    refuse(path, a_zip(manifest_json=" " * 80_000_000), "has a manifest of 80 MB, larger than any model's")


# Forged on purpose, checksums and all


def test_forging_alone_changes_nothing(whole: bytes, path: Path) -> None:
    path.write_bytes(forge(whole, lambda manifest, members: None))
    model, X = fitted("plain")
    assert (load(path).predict_proba(X) == model.predict_proba(X)).all()


def test_pickles_inside_are_never_opened(whole: bytes, path: Path) -> None:
    def smuggle(manifest: Manifest, members: Members) -> None:
        stream = io.BytesIO()
        np.save(stream, np.array([Evil()], dtype=object), allow_pickle=True)
        members["arrays/0.npy"] = stream.getvalue()

    refuse(path, forge(whole, smuggle), r"'arrays/0\.npy' cannot be read .*cannot be in a model file")


@pytest.mark.parametrize(
    ("value", "words"),
    [
        ({"object": ["os.system", {"command": "true"}]}, "is not a class that a model file may hold"),
        ({"object": ["Popen", {"args": "true"}]}, "is not a class that a model file may hold"),
        ({"object": [["FSSMSC"], {}]}, "is not a class that a model file may hold"),
        ({"object": ["Setting", {"scaling": "l2", "nonsense": 1}]}, "Setting has no .'nonsense'"),
        ({"object": ["Contradiction", {}]}, "Contradiction is stored in another way"),
        ({"enum": ["Setting", "x"]}, "Setting is no enumeration"),
        ({"enum": ["Contradiction", "__class__"]}, "can read"),
        ({"eval": "1"}, "can read"),
        ({"array": 10**9}, "there is no part number"),
        ({"array": -1}, "there is no part number -1"),
        ({"again": 0.5}, "there is no part number"),
        ({"tuple": [], "list": []}, "can read"),
        ({"scalar": ["O", "00" * 8]}, "cannot be in a model file"),
        ({"scalar": ["<f8", "00"]}, "can read"),
        ({"dtype": "f4,f4"}, "cannot be in a model file"),
        ({"dtype": "x" * 1000}, "names no dtype"),
        ({"dict": [[[]], [1]]}, "can read"),
        ({"texts": [0, 0]}, "texts are not stored as bytes"),
        ({"sparse": ["csr_array", [3, 3], 0, 0, 0]}, "can read"),
        ({"random_state": {"tuple": ["MT19937", 1, 2, 3, 4]}}, "can read"),
    ],
    ids=str,
)
def test_values_that_save_never_writes(value: Any, words: str, whole: bytes, path: Path) -> None:
    refuse(path, forge(whole, lambda manifest, members: fields(manifest).update(status_=value)), words)


@pytest.mark.parametrize("name", ["__class__", "__dict__", "predict", "a b", "fit"])
def test_methods_are_not_replaced(name: str, whole: bytes, path: Path) -> None:
    refuse(path, forge(whole, lambda manifest, members: fields(manifest).update({name: 1})), "is no fitted attribute")


def test_parameters_and_classes_that_cannot_be(whole: bytes, path: Path) -> None:
    def change(**changes: Any) -> bytes:
        return forge(whole, lambda manifest, members: manifest["model"]["object"][1].update(changes))

    refuse(path, change(parameters={"nonsense": 1}), "nonsense")
    refuse(path, forge(whole, lambda manifest, members: manifest["classes"].update(Model=99)), "'Model' of version 99")
    refuse(path, forge(whole, lambda manifest, members: manifest["classes"].update(Other=1)), "'Other' of version 1")
    refuse(
        path,
        forge(whole, lambda manifest, members: manifest.update({"class": "AnchorViewClassifier"})),
        "names a 'AnchorViewClassifier'",
    )
    refuse(path, forge(whole, lambda manifest, members: manifest.update(model=5)), "can read")
    whole_setting = {"object": ["Setting", {"scaling": "l2", "n_landmarks": 5}]}
    both = {"model": whole_setting, "class": "Setting"}
    refuse(path, forge(whole, lambda manifest, members: manifest.update(both)), "holds a fitted FSSMSC")


def test_indices_outside_of_a_sparse_matrix(tmp_path: Path, path: Path) -> None:
    save(fitted("plain")[0], tmp_path / "rows", rows=True)

    def misdirect(manifest: Manifest, members: Members) -> None:
        indices = fields(manifest)["codes_"]["sparse"][3]
        array = np.load(io.BytesIO(members[f"arrays/{indices}.npy"]))
        array[3] = 10**6
        members[f"arrays/{indices}.npy"] = npy(array)

    refuse(path, forge((tmp_path / "rows").read_bytes(), misdirect), "indices|index")


@pytest.mark.parametrize("kind", ["plain", "text", "admm", "search"])
def test_arrays_of_other_sizes_are_refused(kind: str, tmp_path: Path, path: Path) -> None:
    """Arrays with a column less are refused, but for those that are records of the fit."""
    model = fitted(kind)[0]
    save(model, tmp_path / "whole")
    data = (tmp_path / "whole").read_bytes()
    refused = 0
    numbers = [n for n in range(len(unpack(data)[1])) if np.load(io.BytesIO(unpack(data)[1][f"arrays/{n}.npy"])).ndim]
    some = random.Random(0).sample(numbers, min(12, len(numbers)))
    for number in some:

        def shrink(manifest: Manifest, members: Members, name: str = f"arrays/{number}.npy") -> None:
            members[name] = npy(np.load(io.BytesIO(members[name]))[..., :-1])

        path.write_bytes(forge(data, shrink))
        try:
            load(path)
        except ModelFileError as error:
            refused += 1
            assert "does not fit the rest of the model" in str(error) or "can read" in str(error)
    assert refused >= len(some) // 2  # the others are records of the fit


def test_numbers_that_are_not_finite(whole: bytes, path: Path) -> None:
    def spoil(manifest: Manifest, members: Members) -> None:
        name = f"arrays/{fields(manifest)['landmarks_']['array']}.npy"
        members[name] = npy(np.full_like(np.load(io.BytesIO(members[name])), np.nan))

    refuse(path, forge(whole, spoil), "landmarks does not fit the rest of the model")


# Versions


def test_files_of_newer_releases(whole: bytes, path: Path) -> None:
    def renew(manifest: Manifest, members: Members) -> None:
        manifest["version"], manifest["written_with"]["anchorview"] = 99, "7.1.0"

    words = r"written by a newer release \(anchorview 7\.1\.0, format version 99.*pip install --upgrade anchorview"
    refuse(path, forge(whole, renew), words)
    for version in (0, -1, "1", None, 1.5, True):
        data = forge(whole, lambda manifest, members, version=version: manifest.update(version=version))
        refuse(path, data, "is of the unknown format version")
