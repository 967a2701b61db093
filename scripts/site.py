"""Build the documentation as a site: ``make site``.

    source     the pages of the repository at their own paths, so that their links work, a page for
               each public module, and the pages whose code is run as notebooks
    run        the tutorial and the gallery are executed; their output replaces the output blocks
               of the page, and the reports that they write become part of the site
    html       Sphinx, with warnings as errors; the pages load nothing from other sites

``--without wide`` omits the page "wide", which takes minutes.  All files are written to build/site.
"""

import argparse
import json
import re
import shutil
import sys
from importlib import import_module
from inspect import isclass, isfunction
from pathlib import Path
from typing import Any

import nbformat
from nbclient import NotebookClient
from sphinx.cmd.build import build_main

ROOT = Path(__file__).parents[1]
SITE = ROOT / "build" / "site"
SOURCE, RUN, HTML = SITE / "source", SITE / "run", SITE / "html"

GALLERY = ("sachs", "diabetes", "wine", "alarm", "quarters", "wide")
EXECUTED = ["docs/tutorial.md", *(f"docs/gallery/{name}.md" for name in GALLERY)]
MODULES = (
    "sges", "sges.score", "sges.search", "sges.properties", "sges.knowledge", "sges.tools.penalty",
    "sges.uncertainty", "sges.tools.effects", "sges.result", "sges.tools.report",
    "sges.tools.plot", "sges.tools.export", "sges.tools.metrics", "sges.data", "sges.graph",
    "sges.operators", "sges.network", "sges.tools.baselines",
    "sges.examples", "sges.certificate", "sges.selective", "sges.nodeset", "sges.errors",
)  # fmt: skip
HOMES = {
    "PDAG": "sges.graph", "BayesianNetwork": "sges.network", "Confidence": "sges.uncertainty",
    "Dataset": "sges.data", "EdgeConfidence": "sges.uncertainty", "Knowledge": "sges.knowledge",
    "Result": "sges.result", "Strategy": "sges.search", "compare": "sges.tools.metrics",
    "confidence": "sges.uncertainty", "read_graph": "sges.tools.export",
    "read_result": "sges.tools.report",
    **dict.fromkeys(
        ("MaxClique", "MaxParents", "MaxTreewidth", "MaxVStructures", "MaxVWidth"),
        "sges.properties",
    ),
}  # fmt: skip
"""The modules that document names of ``sges`` which are defined elsewhere."""
BLOCK = re.compile(r"^```(python|output)\n(.*?)^```$\n?", re.DOTALL | re.MULTILINE)
REPORT = re.compile(r"\.report\(\"([\w-]+\.html)\"")
LINK = re.compile(r"\]\(([^)#\s:]+)(?:#[^)\s]*)?\)")

SECTIONS = {
    "Start": ("docs/tutorial", "docs/conclusions", "docs/glossary", "docs/migration"),
    "How to": tuple(
        f"docs/how-to/{name}"
        for name in (
            "data", "choose-a-bound", "penalty", "knowledge", "results", "confidence",
            "from-cpdag-to-effects", "large-data", "clusters", "own-score", "own-property",
        )
    ),
    "Reference": ("api/index", "docs/cli", "docs/references", "CHANGELOG"),
    "Understand": (
        "docs/explanation/strategies", "docs/explanation/order-search", "docs/theory",
        "docs/errata", "docs/paper-map", "docs/architecture", "studies/README", "CONTRIBUTING",
    ),
}  # fmt: skip


def main() -> int:
    """Build the site and return the status of Sphinx."""
    options = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    options.add_argument("--without", nargs="*", default=[], choices=GALLERY, metavar="CASE")
    left_out = {f"docs/gallery/{name}.md" for name in options.parse_args().without}
    shutil.rmtree(SITE, ignore_errors=True)
    for folder in (SOURCE / "_static", SOURCE / "_templates", SOURCE / "_extra", RUN):
        folder.mkdir(parents=True)
    copy_pages()
    write_reference()
    for page in EXECUTED:
        if page not in left_out:
            print("running", page, flush=True)
            execute(page)
    write_frame()
    link_notebooks()
    return build_main(["-b", "html", "-W", "--keep-going", "-q", str(SOURCE), str(HTML)])


def copy_pages() -> None:
    """Copy the pages, and all files that they link to, to the same paths below the source."""
    pages = [*ROOT.glob("*.md"), *(ROOT / "docs").rglob("*.md"), ROOT / "studies" / "README.md"]
    pages += [
        *(ROOT / "studies" / "results").glob("*.md"),
        ROOT / "studies" / "peers" / "README.md",
    ]
    for page in pages:
        text = page.read_text(encoding="utf-8")
        if page.is_relative_to(ROOT / "studies") and page.parent.name != "studies":
            text = f"---\norphan: true\n---\n\n{text}"
        target = SOURCE / page.relative_to(ROOT)
        target.parent.mkdir(parents=True, exist_ok=True)
        target.write_text(text, encoding="utf-8")
        for name in {*LINK.findall(text), *re.findall(r'<img src="([^"]+)"', text)}:
            linked = (page.parent / name).resolve()
            if linked.is_file() and linked.suffix != ".md" and linked.is_relative_to(ROOT):
                place = SOURCE / linked.relative_to(ROOT)
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copyfile(linked, place)


def write_reference() -> None:
    """Write a page for each public module, which lists its public names."""
    (SOURCE / "api").mkdir()
    index = ["# API reference", "", "Every public name, module by module.", "", "```{toctree}"]
    for module in MODULES:
        (SOURCE / "api" / f"{module}.rst").write_text(module_page(module), encoding="utf-8")
        index.append(module)
    (SOURCE / "api" / "index.md").write_text("\n".join([*index, "```", ""]), encoding="utf-8")


def module_page(name: str) -> str:
    """Return the page of a module: its docstring and tables of its names."""
    module = import_module(name)
    names = getattr(module, "__all__", None) or [
        each
        for each, value in vars(module).items()
        if isclass(value) and issubclass(value, Exception)
    ]
    public = [each for each in names if not each.startswith("_")]
    kinds: dict[str, list[str]] = {"Functions": [], "Classes": [], "Also here": []}
    for each in sorted(public, key=str.lower):
        value = getattr(module, each)
        home = HOMES.get(each, name) if name == "sges" else name
        if not (isclass(value) or isfunction(value)):
            continue
        if home in MODULES and home != name:
            kinds["Also here"].append(f"~{home.removeprefix('sges.')}.{each}")
        else:
            kinds["Classes" if isclass(value) else "Functions"].append(each)
    lines = [name, "=" * len(name), "", f".. automodule:: {name}", "   :no-members:", ""]
    for title, names in kinds.items():
        if names:
            lines += [title, "-" * len(title), "", f".. currentmodule:: {name}", ""]
            lines += [".. autosummary::", "   :nosignatures:"]
            lines += [""] if title == "Also here" else ["   :toctree: generated", ""]
            lines += [*(f"   {each}" for each in names), ""]
    return "\n".join(lines)


def execute(page: str) -> None:
    """Replace a page by an executed notebook, which can also be downloaded."""
    path = SOURCE / page
    notebook = notebook_of(path.read_text(encoding="utf-8"))
    folder = RUN / path.stem
    folder.mkdir()
    NotebookClient(
        notebook,
        timeout=900,
        kernel_name="python3",
        resources={"metadata": {"path": str(folder)}},
        extra_arguments=["--IPKernelApp.log_level=ERROR"],
    ).execute()
    extra = SOURCE / "_extra" / path.parent.relative_to(SOURCE)
    (extra / "reports").mkdir(parents=True, exist_ok=True)
    for report in folder.glob("*.html"):  # in a separate folder: a page may have the same name
        shutil.copyfile(report, extra / "reports" / report.name)
    text = json.dumps(notebook)
    (extra / f"{path.stem}.ipynb").write_text(text, encoding="utf-8")
    note = f'This page as a notebook: <a href="{path.stem}.ipynb" download>{path.stem}.ipynb</a>'
    notebook.cells.append(nbformat.v4.new_markdown_cell(f"---\n\n{note}"))
    path.unlink()
    path.with_suffix(".ipynb").write_text(json.dumps(notebook), encoding="utf-8")


def notebook_of(text: str) -> Any:  # noqa: ANN401 (a notebook of nbformat)
    """Return a page as a notebook: its Python blocks as cells, without the output blocks."""
    cells = []
    for k, part in enumerate(BLOCK.split(text)):
        language = BLOCK.split(text)[k - 1] if k % 3 == 2 else "markdown"
        if k % 3 == 0 and part.strip():
            cells.append(nbformat.v4.new_markdown_cell(part.strip()))
        elif k % 3 == 2 and language == "python":
            cells.append(nbformat.v4.new_code_cell(part.rstrip()))
            for name in REPORT.findall(part):
                address = f"reports/{name}"
                frame = (
                    f'<iframe class="report-frame" src="{address}" loading="lazy" title="Report">'
                    f'</iframe>\n\n<a href="{address}">Open the report on a page of its own</a>'
                )
                cells.append(nbformat.v4.new_markdown_cell(frame))
    kernel = {"name": "python3", "display_name": "Python 3", "language": "python"}
    return nbformat.v4.new_notebook(cells=cells, metadata={"kernelspec": kernel})


def write_frame() -> None:
    """Write the index pages of the site and its sections, and copy the configuration."""
    readme = (SOURCE / "README.md").read_text(encoding="utf-8")
    (SOURCE / "README.md").unlink()
    welcome = readme.split("## Documentation")[0].replace(' align="right"', ' class="align-right"')
    entries = []
    for title, pages in SECTIONS.items():
        name = title.lower().replace(" ", "-")
        tree = [
            f"# {title}",
            "",
            "```{toctree}",
            ":maxdepth: 1",
            "",
            *(f"/{page}" for page in pages),
        ]
        (SOURCE / f"{name}.md").write_text("\n".join([*tree, "```", ""]), encoding="utf-8")
        entries.append(name)
    entries[1:1] = ["docs/gallery/README"]
    tree = ["```{toctree}", ":hidden:", "", *entries, "```", ""]
    (SOURCE / "index.md").write_text("\n".join([welcome, *tree]), encoding="utf-8")
    gallery = SOURCE / "docs" / "gallery" / "README.md"
    listed = "\n".join(["", "```{toctree}", ":hidden:", "", *GALLERY, "```", ""])
    gallery.write_text(gallery.read_text(encoding="utf-8") + listed, encoding="utf-8")
    settings = ROOT / "docs" / "site"
    shutil.copyfile(settings / "conf.py", SOURCE / "conf.py")
    shutil.copyfile(settings / "site.css", SOURCE / "_static" / "site.css")
    shutil.copytree(settings / "autosummary", SOURCE / "_templates" / "autosummary")


def link_notebooks() -> None:
    """Change links to pages that became notebooks into links to the notebooks."""
    for path in [*SOURCE.rglob("*.md"), *SOURCE.rglob("*.ipynb")]:
        if "_extra" in path.parts:
            continue

        def renamed(found: re.Match[str], folder: Path = path.parent) -> str:
            is_notebook = (folder / found[1]).with_suffix(".ipynb").exists()
            return f"]({found[1]}.ipynb" if is_notebook else found[0]

        text = path.read_text(encoding="utf-8")
        path.write_text(re.sub(r"\]\(([\w./-]+)\.md(?=[)#])", renamed, text), encoding="utf-8")


if __name__ == "__main__":
    sys.exit(main())
