"""Write docs/paper-map.md from the ``Paper:`` lines of the code.

Run as ``make docs``; a test checks that the page is up to date.
"""

import re
from pathlib import Path

ROOT = Path(__file__).parents[1]
LINE = re.compile(r"^\s*Paper: (.+)\.$", re.MULTILINE)

HEAD = """# Paper map

This page shows which module implements each part of Chickering & Meek (2015), "Selective Greedy
Equivalence Search", and of its sequel, Chickering (2020), "Statistically Efficient Greedy
Equivalence Search". `make docs` generates it from the `Paper:` lines of the code, and a test checks
it. The errors that we found in the papers are in [errata](errata.md), the proofs in
[theory](theory.md).

| part of the paper | module |
| --- | --- |
"""

TAIL = """
## Where theorems and figures are proven or tested

| part of the paper | proven or tested in |
| --- | --- |
"""

SHOWN = {
    "Theorem 1, GES is correct": ["tests/search/test_guarantee.py"],
    "Theorem 2, a consistent delete exists": ["docs/theory.md", "tests/paper/test_theorem_2.py"],
    "Theorem 3, SGES is correct": ["docs/theory.md", "tests/search/test_guarantee.py"],
    "Proposition 1, generation is complete": ["tests/paper/test_proposition_1.py"],
    "Proposition 2, polynomial": ["tests/search/test_complexity.py"],
    "Fig. 5, the two DAGs": ["tests/paper/test_figure_5.py"],
    "Fig. 7, example of generation": ["tests/paper/test_figure_7.py"],
    "Chickering (2020), low-order search is correct": [
        "docs/theory.md",
        "tests/studies/test_low_order.py",
    ],
}


def rows() -> list[tuple[str, str]]:
    """Return the sorted pairs (part of the paper, module) that the ``Paper:`` lines define."""
    found = set()
    for path in [*(ROOT / "src").rglob("*.py"), *(ROOT / "studies").rglob("*.py")]:
        if ".envs" in path.parts:  # environments of other programs, made by studies
            continue
        home = ROOT / "src" if path.is_relative_to(ROOT / "src") else ROOT
        module = path.relative_to(home).with_suffix("").as_posix().replace("/", ".")
        for line in LINE.findall(path.read_text(encoding="utf-8")):
            found |= {(part.strip(), module.removesuffix(".__init__")) for part in line.split(";")}
    return sorted(found)


def page() -> str:
    """Return the text of docs/paper-map.md."""
    code = "".join(f"| {part} | `{module}` |\n" for part, module in rows())
    links = {part: ", ".join(f"[{f}](../{f})" for f in files) for part, files in SHOWN.items()}
    return HEAD + code + TAIL + "".join(f"| {part} | {files} |\n" for part, files in links.items())


if __name__ == "__main__":
    (ROOT / "docs" / "paper-map.md").write_text(page(), encoding="utf-8")
