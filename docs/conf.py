"""How Sphinx builds the site; run it by `python scripts/docs.py`."""

from __future__ import annotations

import re
import sys
import warnings
from pathlib import Path
from typing import Any

import anchorview

HERE = Path(__file__).parent
SOURCE = "https://github.com/anchorview/anchorview/blob/main"
sys.path.insert(0, str(HERE))  # for ordering of the gallery

project = "anchorview"
author = copyright = "The anchorview developers"
version = release = anchorview.__version__

extensions = [
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx.ext.mathjax",
    "sphinx-mathjax-offline",
    "numpydoc",
    "myst_parser",
    "sphinx_design",
    "sphinx_copybutton",
    "sphinx_gallery.gen_gallery",
]
exclude_patterns = ["_build", "examples/README.txt", "examples/*.py"]
source_suffix = {".md": "markdown", ".rst": "restructuredtext"}
templates_path = ["_templates"]

myst_enable_extensions = ["dollarmath", "colon_fence", "deflist"]
myst_heading_anchors = 4
copybutton_prompt_text = r">>> |\.\.\. |\$ "
copybutton_prompt_is_regexp = True

autosummary_generate = True
autodoc_typehints = "none"  # numpydoc's Parameters have the types in words
numpydoc_show_class_members = False
numpydoc_class_members_toctree = False

EXAMPLES = (
    "plot_first_labels.py",
    "plot_two_embeddings.py",
    "plot_text_table.py",
    "plot_photos.py",
    "plot_missing_views.py",
    "plot_mudata.py",
    "plot_pairs.py",
    "plot_unknown_classes.py",
    "plot_labelling_loop.py",
    "plot_calibration.py",
    "plot_wrong_labels.py",
    "plot_pipeline.py",
    "million_rows.py",
)
sphinx_gallery_conf = {
    "examples_dirs": "examples",
    "gallery_dirs": "auto_examples",
    "filename_pattern": r"/plot_",
    "within_subsection_order": "ExampleTitleSortKey",
    "download_all_examples": False,
    "remove_config_comments": True,
    "show_signature": False,
    "show_memory": False,
    "write_computation_times": False,  # that page loads scripts from other servers
    "min_reported_time": 1,
    "abort_on_example_error": True,
    "image_scrapers": ("matplotlib",),
    "matplotlib_animations": False,
    "reference_url": {"anchorview": None},
    "backreferences_dir": None,
    "capture_repr": ("_repr_html_",),  # what examples print, and no names of objects
}


def file_order(name: str) -> int:
    """Return where an example stands in the gallery: as listed above."""
    return EXAMPLES.index(name)


sphinx_gallery_conf["within_subsection_order"] = "conf.file_order"

html_theme = "pydata_sphinx_theme"
html_title = "anchorview"
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_show_sourcelink = False
html_theme_options = {
    "logo": {"text": "anchorview"},
    "header_links_before_dropdown": 7,
    "navbar_align": "left",
    "navbar_end": ["theme-switcher"],
    "secondary_sidebar_items": ["page-toc"],
    "show_prev_next": True,
    "navigation_with_keys": False,
    "pygments_light_style": "a11y-high-contrast-light",
    "pygments_dark_style": "a11y-high-contrast-dark",
    "footer_start": ["copyright"],
    "footer_end": [],
    "show_toc_level": 2,
}
html_sidebars = {"index": [], "install": ["sidebar-nav-bs"], "changes": []}

warnings.filterwarnings("ignore", message="FigureCanvasAgg is non-interactive")


def point_to_the_repository(app: Any, name: str, content: list[str]) -> None:
    """Let links lead to the repository, or of examples to the gallery; mark examples with prompts as sessions."""
    if app.env.doc2path(name).suffix != ".md":
        return
    up = rf"(?:\.\./){{{name.count('/') + 1}}}"
    text = re.sub(rf"\]\({up}((?:benchmarks|src|tests|scripts)/[^)\s]*|README\.md)\)", rf"]({SOURCE}/\1)", content[0])
    text = re.sub(r"\]\(examples/(\w+)\.py\)", r"](auto_examples/\1.rst)", text)
    content[0] = re.sub(r"^```python\n(?=>>> )", "```pycon\n", text, flags=re.MULTILINE)


def setup(app: Any) -> None:
    """Connect the above."""
    app.connect("source-read", point_to_the_repository)
