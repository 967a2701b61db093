"""The report: one Markdown page with tables and plots, made from the rows alone."""

from collections.abc import Sequence
from pathlib import Path

from studies.peers import plots, tables
from studies.peers.medians import REFERENCE, Cells, Family, cells_of, families_of
from studies.peers.rows import Row, latest, read_rows

HOW_TO_READ = """\
Medians over seeds. Every program runs in a process of its own, with one thread; "seconds" is the
search alone, from a table in memory to a graph: importing, compiling on first use and bringing the
table into the library's own type are measured apart. The BIC of every result is computed by one
scorer, from the raw table.

* Time: in brackets the ratio to `{reference}` on the same data; **bold is faster than ours**.
* Score and distance: the BIC beyond that of `{reference}` in nats (= is equal, **bold is better
  than ours**) / the structural Hamming distance to the true CPDAG.
"""


def write_report(results: Path, reference: str = REFERENCE) -> Path:
    """Write the page beside the rows, with its plots, and return where it is."""
    rows = latest(read_rows(results))
    ours = [name for name in _peers(rows) if name.startswith("sges")]
    families, cells = families_of(rows), cells_of(rows, reference)
    look = plots.Look(_peers(rows), ours)
    stem = results.with_suffix("")
    parts = [
        f"# Side by side: {results.stem}",
        HOW_TO_READ.format(reference=reference).rstrip(),
        _circumstances(rows),
        "## In short",
        tables.scoreboard(_peers(rows), ours, cells),
        *_tradeoff(families, cells, look, stem),
        "## Where a peer is faster than ours, or finds a better score",
        tables.losses(_peers(rows), ours, cells),
        *_growth(families, cells, look, stem),
        *(part for family in families for part in _family(family, rows, cells, look, stem)),
        "## What failed",
        tables.failures(cells),
        "## Versions",
        _versions(rows),
    ]
    page = results.with_suffix(".md")
    page.write_text("\n\n".join(parts) + "\n", encoding="utf-8")
    return page


def _family(
    family: Family, rows: Sequence[Row], cells: Cells, look: plots.Look, stem: Path
) -> list[str]:
    peers = _peers(rows)
    parts = [f"## {family.title}"]
    if family.name == "networks":
        plots.networks(family, cells, look, Path(f"{stem}-networks.svg"))
        parts.append(f"![Seconds on reference networks]({stem.name}-networks.svg)")
    return [
        *parts,
        "Seconds:",
        tables.speed(family, peers, cells),
        "BIC beyond ours / SHD:",
        tables.quality(family, peers, cells),
        "Peak memory, MB:",
        tables.memory(family, peers, cells),
    ]


def _growth(families: Sequence[Family], cells: Cells, look: plots.Look, stem: Path) -> list[str]:
    drawn = plots.growth(families, cells, look, Path(f"{stem}-growth.svg"))
    return [f"![Seconds against variables]({stem.name}-growth.svg)"] if drawn else []


def _tradeoff(families: Sequence[Family], cells: Cells, look: plots.Look, stem: Path) -> list[str]:
    drawn = plots.tradeoff(families, cells, look, Path(f"{stem}-tradeoff.svg"))
    return [f"![Time against score]({stem.name}-tradeoff.svg)"] if drawn else []


def _circumstances(rows: Sequence[Row]) -> str:
    """Say on what and when it was measured."""
    machines = sorted({row["machine"] for row in rows})
    dates = sorted({row["date"] for row in rows})
    limits = sorted({row["limit"] for row in rows})
    span = dates[0] if len(dates) == 1 else f"{dates[0]} to {dates[-1]}"
    limit = " or ".join(f"{limit:g}" for limit in limits)
    return f"Measured {span} on {'; '.join(machines)}; at most {limit} s per run."


def _versions(rows: Sequence[Row]) -> str:
    """Return which version of each program was measured, and on what it ran."""
    body = []
    for peer in _peers(rows):
        own = [row for row in rows if row["peer"] == peer]
        body.append([peer, *(_several(own, field) for field in ("version", "python", "numpy"))])
    return tables.markdown(["program", "version", "Python", "NumPy"], body, words=4)


def _several(rows: Sequence[Row], field: str) -> str:
    return ", ".join(sorted({row[field] for row in rows if row[field]})) or tables.MISSING


def _peers(rows: Sequence[Row]) -> list[str]:
    """Return the programs, ours first and in the order in which they come, others by name."""
    names = list(dict.fromkeys(row["peer"] for row in rows))
    ours = [name for name in names if name.startswith("sges")]
    return [*ours, *sorted(set(names) - set(ours))]
