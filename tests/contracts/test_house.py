"""What the package promises as a whole: its names, how light it is, and how it is laid out."""

from __future__ import annotations

import importlib
import re
import sys
from pathlib import Path

import pytest

import anchorview
import house
from support.processes import run

ROOT = Path(__file__).parents[2]
PACKAGE = ROOT / "src" / "anchorview"
MODULES = sorted(PACKAGE.rglob("*.py"))
PUBLIC = {
    "FSSMSC",
    "ADMM",
    "ActiveSet",
    "AnchorViewClassifier",
    "Constraints",
    "ImageViews",
    "LabelHidingKFold",
    "PerView",
    "TableViews",
    "Views",
    "__version__",
}
PUBLIC |= {"ModelFileError", "describe_classes", "load", "open_rows", "save"}
PUBLIC_MODULES = {"baselines", "datasets", "export", "metrics", "plotting", "report", "view_importance"}


def loaded_by(statement: str, *modules: str) -> list[str]:
    """Return those of the modules that a fresh interpreter has loaded after a statement."""
    code = f"import sys\n{statement}\nprint(*[name for name in {modules!r} if name in sys.modules])"
    return run([sys.executable, "-c", code]).stdout.split()


def test_public_names() -> None:
    assert set(anchorview.__all__) == set(dir(anchorview)) == PUBLIC | PUBLIC_MODULES
    for name in PUBLIC:
        assert getattr(anchorview, name) is not None
    for name in PUBLIC_MODULES:
        assert getattr(anchorview, name) is importlib.import_module(f"anchorview.{name}")
    with pytest.raises(AttributeError, match="has no attribute 'nonsense'"):
        _ = anchorview.nonsense


@pytest.mark.parametrize("module", sorted(PUBLIC_MODULES))
def test_public_modules_have_what_they_name(module: str) -> None:
    found = importlib.import_module(f"anchorview.{module}")
    assert found.__all__
    assert all(getattr(found, name) is not None for name in found.__all__)


def test_import_is_light() -> None:
    """What takes long to load is loaded when it is needed."""
    assert loaded_by("import anchorview", "numpy", "scipy", "sklearn", "numba", "matplotlib") == []
    assert loaded_by("import anchorview; anchorview.FSSMSC", "numba", "matplotlib") == []
    stores = ("h5py", "zarr", "pyarrow", "anndata")
    of_others = loaded_by("import sklearn.base", *stores)  # scikit-learn loads pandas where it is there, pandas pyarrow
    assert loaded_by("from anchorview import Views, open_rows, FSSMSC", *stores) == of_others


def test_help_is_light() -> None:
    """`anchorview --help` is to take less than 0.3 s (benchmarks/reading.py)."""
    slow = "numpy", "scipy", "sklearn", "numba", "matplotlib", "pyarrow", "bokeh", "pandas"
    assert loaded_by("import anchorview.app.cli", *slow) == []


def test_few_modules_at_the_root() -> None:
    assert len(list(PACKAGE.glob("*.py"))) <= 12


@pytest.mark.parametrize("path", MODULES, ids=[str(path.relative_to(PACKAGE)) for path in MODULES])
def test_documents_that_are_named_are_there(path: Path) -> None:
    text = path.read_text()
    assert not re.search(r"\bdesign[ ,]+(\d|document)", text, flags=re.IGNORECASE)
    named = re.findall(r"\b(?:benchmarks|docs|scripts|tests)/[\w/.-]*\.(?:py|md|json|toml)\b", text)
    assert [name for name in named if not (ROOT / name).exists()] == []


def test_files_are_no_worse_than_recorded() -> None:
    """If this is worse for a good reason: python scripts/house.py --write, and give the reason in the commit."""
    assert house.recorded().keys() == house.GOALS.keys()
    assert house.worse(house.measure_text(house.PACKAGE)) == []


@pytest.mark.thorough  # fits both estimators twice, the second time under a profiler
def test_calls_are_no_worse_than_recorded() -> None:
    """If this is worse for a good reason: python scripts/house.py --write, and give the reason in the commit."""
    assert house.worse(house.measure_calls(Path(anchorview.__file__).parent)) == []


def test_page_has_the_recorded_budgets_and_the_layers_of_the_contract() -> None:
    """After a change of either: python scripts/house.py --write."""
    assert house.PAGE.read_text() == house.page_text(house.recorded())


def test_page_shows_the_tree() -> None:
    """Every room and root module has a line in docs/architecture.md, and no line names a file that is gone."""
    tree = house.PAGE.read_text().partition("```\nanchorview/")[2].partition("```")[0]
    rooms = {f"{path.parent.name}/" for path in PACKAGE.glob("*/__init__.py")}
    roots = {path.name for path in PACKAGE.glob("*.py")}
    assert sorted(name for name in rooms | roots if name not in tree.replace("/", "/ ").split()) == []
    files = {path.name for path in MODULES}
    assert sorted(set(re.findall(r"[\w]+\.py\b", tree)) - files) == []
