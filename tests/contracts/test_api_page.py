"""The API page lists every public name, and every public name and method has an example."""

from __future__ import annotations

import importlib
import inspect
import re
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

import anchorview

PAGE = (Path(__file__).parents[2] / "docs" / "api.md").read_text()
OF_SKLEARN = re.compile(r"set_\w+|get_params|get_metadata_routing")

TEMPLATE = Path(__file__).parents[2] / "docs" / "_templates" / "autosummary" / "class.rst"
LEFT_OUT = (
    TEMPLATE.read_text().partition(":exclude-members:")[2].replace(",", " ").split()
)  # called by the package, not by users


def public() -> dict[str, Any]:
    """Return every public name, with its module in front where it has one of its own."""
    found = {}
    for name in anchorview.__all__:
        thing = getattr(anchorview, name)
        if isinstance(thing, ModuleType):
            module = importlib.import_module(f"anchorview.{name}")
            found |= {f"{name}.{part}": getattr(module, part) for part in module.__all__}
        elif name != "__version__":
            found[name] = thing
    return found


def listed() -> set[str]:
    """Return the names in the lists of the page, in the same form."""
    names, module = set(), ""
    for line in PAGE.splitlines():
        if found := re.match(r"\.\. currentmodule:: anchorview\.?(\w*)", line):
            module = found.group(1)
        elif found := re.match(r"   (\w+)$", line):
            names.add(f"{module}.{found.group(1)}".lstrip("."))
    return names


def methods() -> dict[str, Any]:
    """Return the public methods and properties of the public classes, but for what they have from scikit-learn."""
    classes = {name: thing for name, thing in public().items() if inspect.isclass(thing) and "." not in name}
    return {
        f"{name}.{part}": method
        for name, thing in classes.items()
        for part, method in all_members(thing)
        if not part.startswith("_") and not OF_SKLEARN.fullmatch(part) and part not in LEFT_OUT and is_ours(method)
    }


def all_members(kind: type) -> list[tuple[str, Any]]:
    """Return methods, and the functions behind properties."""
    found = inspect.getmembers_static(kind, lambda one: inspect.isroutine(one) or isinstance(one, property))
    return [(name, one.fget if isinstance(one, property) else getattr(kind, name)) for name, one in found]


def is_ours(method: Any) -> bool:
    return (getattr(method, "__module__", None) or "").startswith("anchorview")


def test_the_page_lists_every_public_name() -> None:
    assert listed() == set(public())


# labelled_scorer is an object, which has no docstring of its own: its example is on docs/own_search.md.
@pytest.mark.parametrize("name", sorted(name for name in public() if name != "metrics.labelled_scorer"))
def test_every_public_name_has_an_example(name: str) -> None:
    assert ">>> " in (inspect.getdoc(public()[name]) or "")


@pytest.mark.parametrize("name", sorted(methods()))
def test_every_method_has_an_example(name: str) -> None:
    assert ">>> " in (inspect.getdoc(methods()[name]) or "")


@pytest.mark.parametrize("name", sorted([*public(), *methods()]))
def test_docstrings_use_the_words_of_the_field(name: str) -> None:
    words = r"made rows|in sight|readings?|settle[sd]?|beliefs?|obey\w*|heeds?|hears?|told|lacks?|speaks? for"
    documented = (public() | methods())[name]
    assert re.findall(rf"\b(?:{words})\b", inspect.getdoc(documented) or "", flags=re.IGNORECASE) == []
