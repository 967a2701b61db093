"""The rules by which the pages compare programs; ``test_frame`` compares the pages themselves."""

from pathlib import Path
from typing import Any

import pytest

from studies.peers import quality
from studies.peers.adapters import all_peers
from studies.peers.problems import PRESETS, Spec
from studies.peers.quality import DEFAULT, marks, settings_of
from studies.peers.standard import cells_of

README = Path(__file__).parents[2] / "studies" / "peers" / "README.md"
DATASET = "gaussian-er2-d25-m500"
WON, TIED = Spec("er", 50, 1_000, 2), Spec("er", 50, 10_000, 1)
LOST, HARD = Spec("sf", 50, 10_000, 2), Spec("er", 30, 10_000, 4)
COUNTED = Spec("cpt", 20, 1_000)
SPECS = {spec.name: spec for spec in (WON, TIED, LOST, HARD, COUNTED)}


def row(peer: str, dataset: str, seed: int, **given: Any) -> Any:  # noqa: ANN401 (a row)
    found = {"d": 25, "rows": 500, "seconds": 1.0, "megabytes": 100.0, "bic": -50.0, "shd": 3}
    who = {"peer": peer, "dataset": dataset, "seed": seed, "failed": None, "bic_true": -50.0}
    return who | found | given


def failure(peer: str, spec: Spec, seed: int, reason: str) -> Any:  # noqa: ANN401 (a row)
    return row(peer, spec.name, seed, failed=reason, bic=None, bic_true=None, shd=None)


def runs(peer: str, spec: Spec, shds: tuple[int, ...], gaps: tuple[float, ...]) -> list[Any]:
    return [
        row(peer, spec.name, seed, shd=shd, bic=-50.0 + gap)
        for seed, (shd, gap) in enumerate(zip(shds, gaps, strict=True))
    ]


def test_ratios_are_taken_seed_by_seed_before_the_median() -> None:
    """0.5/1, 0.5/2, 0.5/4 have the median ¼; 10/1, 30/2, 20/4 have the median 10."""
    times = {"sges-ges": (1.0, 2.0, 4.0), "quick": (0.5, 0.5, 0.5), "good": (10.0, 30.0, 20.0)}
    bics = {"sges-ges": -50.0, "quick": -60.0, "good": -40.0}
    cells = cells_of(
        row(peer, DATASET, seed, seconds=seconds, bic=bics[peer])
        for peer, each in times.items()
        for seed, seconds in enumerate(each)
    )
    found = {peer: (cells[peer, DATASET].ratio, cells[peer, DATASET].bic_gain) for peer in times}
    assert found == {"sges-ges": (1.0, 0.0), "quick": (0.25, -10.0), "good": (10.0, 10.0)}


def test_each_setting_is_judged_by_the_rules(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(quality, "SPECS", SPECS)
    rows = [
        *runs(DEFAULT, WON, (1, 2, 3, 4), (5.0, 5.0, 5.0, 5.0)),  # 2.5 by median
        *runs("good", WON, (3, 3, 3, 3), (4.0, 4.0, 6.0, 4.0)),
        *runs(DEFAULT, TIED, (2, 2, 2, 2), (1.0, 1.0, 1.0, 1.0)),
        *runs("good", TIED, (2, 2, 2, 2), (1.0, 1.0, 1.0, 1.0 + 1e-6)),
        *runs(DEFAULT, LOST, (8, 8, 8, 0), (-3.0, -3.0, 7.0, 7.0)),
        *runs("good", LOST, (6, 6, 6, 6), (9.0, 9.0, 9.0, 6.0)),
        *runs(DEFAULT, HARD, (8, 8, 8, 8), (1.0, 1.0, 1.0, 1.0)),
        *runs("good", HARD, (9, 9, 9, 9), (0.0, 0.0, 0.0, 0.0)),
        row("xges", HARD.name, 0, shd=0, bic=0.0),
        *(failure("xges", HARD, seed, "timeout: more than 30 s in run") for seed in (1, 2, 3)),
        *runs(DEFAULT, COUNTED, (1, 1, 1, 1), (2.0, 2.0, 2.0, 2.0)),
        *(failure("xges", COUNTED, s, "wrong kind: takes gaussian data only") for s in range(4)),
        *(failure("good", COUNTED, s, "crash in run: /home/x/y.py | died") for s in range(4)),
    ]
    assert {s.spec.name: marks(s.of(DEFAULT), s.peers) for s in settings_of(rows)} == {
        WON.name: ("better", "better"),  # lower for one seed of four, but not in the median
        TIED.name: ("equal", "equal"),  # a difference of 1e-6 is rounding
        LOST.name: ("worse", "worse"),
        HARD.name: ("better", "better"),  # the peer that is ahead did not finish
        COUNTED.name: ("not judged", "not judged"),  # no peer finished
    }


def test_the_readme_lists_every_preset_and_every_peer_with_its_penalty() -> None:
    text = README.read_text(encoding="utf-8")
    assert all(f"`{preset.name}`" in text for preset in PRESETS.values())
    for peer in all_peers():
        assert f"| `{peer.name}` |" in text, peer.name
        assert peer.penalty in text, peer.penalty
