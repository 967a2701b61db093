"""The quality of the graphs: every strategy of ours and the peers, as a page, a table and figures.

    python -m studies.peers run --preset quality    # the rows
    python -m studies.peers.quality                 # studies/results/quality.* from the rows

Nothing is measured here and nothing on the page is written by hand: the same rows give the same
page.  The line of the experiment in the index is written anew too.
"""

import argparse
import csv
import io
from collections.abc import Sequence
from pathlib import Path

from studies.peers import quality_page, quality_plot
from studies.peers.quality_facts import Line, Results, Spread
from studies.peers.rows import RESULTS, read_rows

ROWS = RESULTS / "quality.jsonl"
PAGES = Path(__file__).parents[1] / "results"
INDEX = "index.md"
LINK = "| [quality](quality.md) |"

SPREADS = ("shd", "skeleton_f1", "arrow_f1", "bic_minus_true", "cpu_seconds")
COLUMNS = (
    *("setting", "kind", "variables", "rows", "program", "version", "runs", "finished"),
    *(f"{name}_{which}" for name in SPREADS for which in ("q1", "median", "q3")),
    *("below_true", "no_dag", "reason"),
)
"""Of the table: ``below_true`` counts graphs that score below the true one, ``no_dag`` those that
no DAG extends, which have no score."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Write the page, its table, its figures and its line in the index."""
    parser = argparse.ArgumentParser(prog="python -m studies.peers.quality", description=__doc__)
    parser.add_argument("--results", type=Path, default=ROWS, help="a file of JSON lines")
    parser.add_argument("--out", type=Path, default=PAGES, help="the folder of the page")
    asked = parser.parse_args(arguments)
    rows = read_rows(asked.results)
    if not rows:
        print(f"there are no rows in {asked.results}; python -m studies.peers run --preset quality")
        return 2
    print(f"the page is {write(Results(rows), asked.out)}")
    return 0


def write(results: Results, folder: Path) -> Path:
    """Write everything into a folder, and return where the page is."""
    page = folder / "quality.md"
    page.write_text(quality_page.page(results), encoding="utf-8")
    (folder / "quality.csv").write_text(as_csv(results), encoding="utf-8")
    quality_plot.distance(results, folder / "quality.svg")
    quality_plot.score(results, folder / "quality-bic.svg")
    index = folder / INDEX
    if index.is_file():
        index.write_text(with_line(index.read_text(encoding="utf-8"), results), encoding="utf-8")
    return page


def as_csv(results: Results) -> str:
    """Return a line per setting and program, settings as in the preset, ours first."""
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(COLUMNS)
    for spec in results.settings:
        for program in results.programs:
            line = results.lines.get((spec.name, program))
            if line is not None:
                head = (spec.name, spec.kind, spec.d, spec.rows, program)
                writer.writerow([*head, *_measured(line)])
    return text.getvalue()


def _measured(line: Line) -> list[str]:
    spreads = {
        name: line.bic if name == "bic_minus_true" else line.spread(name) for name in SPREADS
    }
    return [
        "; ".join(sorted({row["version"] for row in line.rows})),
        str(len(line.rows)),
        str(len(line.done)),
        *(part for name in SPREADS for part in _parts(spreads[name])),
        str(line.below_truth) if line.scored else "",
        str(len(line.done) - len(line.scored)),
        "; ".join(f"{reason} ({count})" for reason, count in line.reasons),
    ]


def _parts(spread: Spread | None) -> list[str]:
    if spread is None:
        return [""] * 3
    return [plain(value) for value in (spread.low, spread.mid, spread.high)]


def plain(value: float) -> str:
    """Return a number with up to six decimals and nothing superfluous.

    >>> [plain(value) for value in (12.0, -0.25, 1 / 3, -1e-9)]
    ['12', '-0.25', '0.333333', '0']
    """
    text = f"{value:.6f}".rstrip("0").rstrip(".")
    return "0" if text == "-0" else text


def with_line(index: str, results: Results) -> str:
    """Return the index with the experiment's line written anew, at the end of its table if new."""
    line = f"{LINK} {quality_page.question(results)} | {quality_page.outcome(results)} |"
    lines = index.splitlines()
    places = [place for place, text in enumerate(lines) if text.startswith(LINK)]
    if places:
        lines[places[0]] = line
    else:
        listed = [place for place, text in enumerate(lines) if text.startswith("| [")]
        lines.insert(listed[-1] + 1 if listed else len(lines), line)
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    raise SystemExit(main())
