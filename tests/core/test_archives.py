"""What a zip file says of itself, read before anything is expanded."""

from __future__ import annotations

import io
import struct
from zipfile import ZipFile

import pytest

from anchorview.core.archives import directory_size, is_bomb, packed_size, unpacked_size


def archive(comment: bytes = b"") -> bytes:
    stream = io.BytesIO()
    with ZipFile(stream, "w") as zipped:
        zipped.writestr("a", b"hello")
        zipped.writestr("bb", b"")
        zipped.comment = comment
    return stream.getvalue()


def size_of(data: bytes) -> int:
    return directory_size(io.BytesIO(data), len(data))


def test_the_size_of_the_table_of_contents() -> None:
    data = archive()
    assert size_of(data) == 2 * 46 + len("a") + len("bb")
    with ZipFile(io.BytesIO(data)) as zipped:
        assert zipped.start_dir + size_of(data) + 22 == len(data)


def test_the_size_in_a_file_beyond_four_gigabytes() -> None:
    """There the record that counts comes before the usual one, whose fields cannot hold the numbers."""
    data = archive()
    wide = struct.pack("<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, 2, 2, 10**12, 0)
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, len(data) - 22, 1)
    assert size_of(data[:-22] + wide + locator + data[-22:]) == 10**12
    with pytest.raises(ValueError, match="the end of the file is missing or changed"):
        size_of(data[:-22] + locator + data[-22:])


@pytest.mark.parametrize(
    "data", [b"", b"PK\5\6", archive()[:-1], archive() + b"\0", archive(b"a comment")], ids=range(5)
)
def test_ends_that_are_not_ours(data: bytes) -> None:
    with pytest.raises(ValueError, match="the end of the file is missing or changed"):
        size_of(data)


def test_sizes_of_entries() -> None:
    with ZipFile(io.BytesIO(archive())) as zipped:
        entries = zipped.infolist()
    assert unpacked_size(entries) == 5
    assert packed_size(entries, 1000) == 5
    assert packed_size(entries, 3) == 3  # entries cannot take more than there is, unless they overlap


@pytest.mark.parametrize(("unpacked", "packed", "expected"), [(2000, 1, True), (2000, 10, False), (999, 1, False)])
def test_bombs(unpacked: int, packed: int, expected: bool) -> None:
    assert is_bomb(unpacked, packed, large=1000) is expected
