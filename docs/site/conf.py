"""Settings of Sphinx for the site that ``scripts/site.py`` builds."""

import sges

project = "sges"
author = copyright = "The sges developers"
version = release = sges.__version__

extensions = [
    "myst_nb",
    "numpydoc",
    "sphinx.ext.autodoc",
    "sphinx.ext.autosummary",
    "sphinx_copybutton",
]
templates_path = ["_templates"]

html_theme = "pydata_sphinx_theme"
html_title = "sges"
html_context = {"default_mode": "auto"}
html_static_path = ["_static"]
html_css_files = ["site.css"]
html_extra_path = ["_extra"]
html_show_sourcelink = False
html_theme_options = {
    "footer_end": [],
    "footer_start": ["copyright"],
    "header_links_before_dropdown": 6,
    "navigation_with_keys": False,
    "secondary_sidebar_items": ["page-toc"],
    "show_toc_level": 2,
}

myst_enable_extensions = ["html_image"]
myst_heading_anchors = 4
nb_execution_mode = "off"  # the notebooks have been run

autodoc_member_order = "bysource"
autodoc_typehints = "none"  # the docstrings name the types
autosummary_generate = True
numpydoc_class_members_toctree = False
numpydoc_show_class_members = False


def keep_columns(
    app: object,  # noqa: ARG001
    what: str,  # noqa: ARG001
    name: str,  # noqa: ARG001
    thing: object,  # noqa: ARG001
    options: object,  # noqa: ARG001
    lines: list[str],
) -> None:
    """Make indented text before the sections a literal block: it is laid out in columns."""
    end = next((k for k, line in enumerate(lines[1:]) if line and set(line) == {"-"}), len(lines))
    for k in range(end - 1, 1, -1):
        before = next((line for line in reversed(lines[:k]) if line), "")
        is_text = not before.startswith((" ", "*", "-", ".. ", ">>>")) and before[-2:] != "::"
        if lines[k].startswith("    ") and not lines[k - 1] and is_text:
            lines[k:k] = ["::", ""]


def setup(app) -> None:  # noqa: ANN001 (Sphinx)
    """Let docstrings be changed before numpydoc reads them."""
    app.connect("autodoc-process-docstring", keep_columns, priority=400)
