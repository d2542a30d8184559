"""The paper's data sets by their names and sizes."""

from __future__ import annotations

from anchorview.bench.registry import REGISTRY, differences, find_entry, match


def test_registry_has_the_papers_sizes() -> None:
    sizes = {entry.name: (entry.n_rows, entry.n_features) for entry in REGISTRY}
    assert sizes["Caltech101"] == (9144, 3766)
    assert sizes["NUS"] == (30000, 639)
    assert sizes["Youtube"] == (101499, 2125)
    assert sizes["HW"] == (2000, 649)
    assert sizes["Caltech7"] == (1474, 3766)
    assert len(REGISTRY) == 7
    for entry in REGISTRY:
        assert differences(entry, entry.n_rows, entry.view_sizes[::-1], entry.n_classes) == []
        assert all(find_entry(file) is entry for file in entry.files)


def test_registry_says_what_differs() -> None:
    nus = find_entry("nuswideobj")
    assert nus is not None
    assert differences(nus, 30000, (64, 225, 144, 73, 128), 31) == []  # the other published copy
    found = differences(nus, 26315, (64, 225, 144, 73, 129), 30)
    assert found == [
        "26,315 rows instead of 30,000",
        "view sizes 64, 225, 144, 73, 129 instead of 65, 226, 145, 74, 129",
        "30 classes instead of 31",
    ]
    assert match("whatever", 2000, (6, 47, 64, 76, 216, 240), 10)[0] is find_entry("hw")
    assert match("hw", 2000, (6, 47, 64, 76, 216, 240), 9) == (None, False)
