"""The page of "why" is written from its rows, and shows our losses first."""

from pathlib import Path

from studies.frame import Options, Row, write
from studies.peers.problems import COLD
from studies.peers.runner import MEASURED
from studies.peers.why import OURS, STUDY

MISSING = f"{COLD.name}-missing"


def row(peer: str, dataset: str, **given: object) -> Row:
    found = dict.fromkeys(MEASURED, 1) | {"seconds": 0.5, "python": "3", "numpy": "2"}
    return {
        **{"peer": peer, "dataset": dataset, "seed": 0, "version": "1", "kind": "gaussian"},
        **{"d": 10, "rows": 1_000, "failed": None, "limit": 5.0, "machine": "a processor"},
        **{"date": "2026-01-01", "cold_seconds": None, "installed_megabytes": None},
        **found,
        **given,
    }


def test_a_program_that_is_better_is_listed_and_a_graph_of_a_flawed_table_has_its_edges(
    tmp_path: Path,
) -> None:
    table, large = STUDY.table(tmp_path), "gaussian-er2-d12-m1000"
    failed = dict.fromkeys(MEASURED) | {"failed": "error in run: DataError: missing values"}
    for each in (
        row(OURS, large, d=12, shd=3),
        row("xges.XGES", large, d=12, shd=2, seconds=7.0),
        row(OURS, COLD.name, cold_seconds=1.0, installed_megabytes=600.0, edges=19),
        row("xges.XGES", COLD.name, cold_seconds=9.0, installed_megabytes=400.0, edges=20),
        row(OURS, MISSING, **failed),
        row("xges.XGES", MISSING, edges=0),
    ):
        table.append(each)
    text = write(STUDY, tmp_path, Options(quick=True)).page.read_text(encoding="utf-8")
    losses = text.partition("## Seconds")[0]
    assert f"| SHD | {large} | `xges.XGES` | 2 | 3 |" in losses
    assert "| megabytes installed | 10 columns | `xges.XGES` | 400 | 600 |" in losses
    assert "| seconds |" not in losses
    assert f"| {large} | **0.500** | 7.00 |" in text
    assert "| missing | error in run | 0 edges (20) |" in text
    assert f"| `{OURS}` | missing | error in run: DataError: missing values |" in text
