"""Tables show medians and comparisons seed by seed, and our losses as clearly as wins."""

from pathlib import Path
from typing import Any

from studies.frame import Options, write
from studies.peers import standard
from studies.peers.adapters import all_peers
from studies.peers.problems import PRESETS
from studies.peers.standard import (
    STUDY,
    by_dataset,
    cells_of,
    families_of,
    show_quality,
    show_seconds,
)

README = Path(__file__).parents[2] / "studies" / "peers" / "README.md"
DATASET = "gaussian-er2-d25-m500"


def row(peer: str, seed: int = 0, **given: Any) -> Any:  # noqa: ANN401 (a row, whatever is in it)
    dataset = given.get("dataset", DATASET)
    d = int(dataset.split("-d")[1].split("-", maxsplit=1)[0]) if "-d" in dataset else 8
    found = {
        "peer": peer,
        "version": "1.0",
        "dataset": dataset,
        "kind": "gaussian",
        "d": d,
        "rows": 500,
        "seed": seed,
        "seconds": 1.0,
        "import_seconds": 0.1,
        "warmup_seconds": 0.4,
        "prepare_seconds": 0.0,
        "cpu_seconds": 1.0,
        "repeats": 1,
        "edges": 5,
        "edges_true": 5,
        "megabytes": 100.0,
        "megabytes_before": 90.0,
        "bic_true": -50.0,
        "bic": -50.0,
        "shd": 3,
        "skeleton_f1": 0.9,
        "arrow_f1": 0.8,
        "failed": None,
        "limit": 10.0,
        "machine": "a processor",
        "date": "2026-01-01",
        "python": "3.11",
        "numpy": "2.0",
    }
    return found | given


ROWS = [
    *(row("sges-ges", s, seconds=t) for s, t in enumerate((1.0, 2.0, 4.0))),
    *(row("quick", s, seconds=t, bic=-60.0) for s, t in enumerate((0.5, 0.5, 0.5))),
    *(row("good", s, seconds=t, bic=-40.0) for s, t in enumerate((10.0, 30.0, 20.0))),
    row("stuck", failed="timeout: more than 10 s in run", seconds=None, bic=None),
]


def test_ratios_are_taken_seed_by_seed_before_the_median() -> None:
    """0.5/1, 0.5/2, 0.5/4 have the median ¼; 10/1, 30/2, 20/4 have the median 10."""
    cells = cells_of(ROWS)
    assert cells["quick", DATASET].ratio == 0.25
    assert cells["good", DATASET].ratio == 10.0
    assert cells["sges-ges", DATASET].ratio == 1.0
    assert cells["quick", DATASET].bic_gain == -10.0
    assert cells["good", DATASET].bic_gain == 10.0


def test_losses_of_ours_are_bold_and_listed_and_wins_are_not() -> None:
    cells, (family,) = cells_of(ROWS), families_of(ROWS)
    peers = ["sges-ges", "quick", "good", "stuck"]
    speed = by_dataset(family, peers, cells, show_seconds)
    assert "| quick | **0.500 (0.25×)** |" in speed
    assert "| good | 20.0 (10×) |" in speed
    assert "| stuck | timeout |" in speed
    quality = by_dataset(family, peers, cells, show_quality)
    assert "| good | **+10.0** / 3 |" in quality
    assert "| quick | -10.0 / 3 |" in quality
    listed = standard.losses(cells)
    assert f"| {DATASET} | quick | 0.500 | 0.25× | -10.0 |" in listed
    assert f"| {DATASET} | good | 20.0 | slower, 10× | +10.0 |" in listed


def test_the_scoreboard_counts_both_ways() -> None:
    board = standard.scoreboard(["sges-ges", "quick", "good", "stuck"], cells_of(ROWS))
    assert "| quick | 1 of 1 | 1 | 0 | 0.25× | 0 | 0 | 1 |" in board
    assert "| good | 1 of 1 | 0 | 1 | 10× | 1 | 0 | 0 |" in board
    assert "| stuck | 0 of 1 | 0 | 0 | – | 0 | 0 | 0 |" in board


def test_the_page_is_written_from_rows_alone(tmp_path: Path) -> None:
    table = STUDY.table(tmp_path)
    given = {"dataset": "gaussian-er2-d25-m10000", "rows": 10_000}
    larger = {"dataset": "gaussian-er2-d50-m10000", "d": 50, "rows": 10_000}
    names = {"quick": "ges", "good": "xges", "stuck": "gcastle", "sges-ges": "sges-ges"}
    for each in ROWS:
        table.append(each | given | {"peer": names[each["peer"]]})
        table.append(each | larger | {"peer": names[each["peer"]]})
    for name in ("sges-ges", "pgmpy-hc"):
        table.append(row(name, dataset="asia-m5000", kind="discrete"))
    report = write(STUDY, tmp_path, Options())
    text = report.page.read_text(encoding="utf-8")
    assert "Measured 2026-01-01 on a processor; at most 10 s per run." in text
    for figure in report.figures:
        assert f"({figure.name})" in text
        assert figure.read_text(encoding="utf-8").startswith("<?xml")
    assert "| sges-ges | 1.0 | 3.11 | 2.0 |" in text
    assert "| gcastle | timeout | timeout |" in text


def test_the_readme_lists_every_peer_and_its_penalty_setting() -> None:
    text = README.read_text(encoding="utf-8")
    for peer in all_peers():
        assert f"| `{peer.name}` |" in text, peer.name
        assert peer.penalty in text, peer.penalty


def test_the_readme_lists_every_preset() -> None:
    text = README.read_text(encoding="utf-8")
    for preset in PRESETS.values():
        assert f"`{preset.name}`" in text
