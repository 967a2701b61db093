"""The claims of each experiment, tested on its quick version."""

from functools import cache
from math import comb
from pathlib import Path

import pytest

from sges.graph import PDAG
from sges.operators import deletes
from sges.properties import MaxParents
from sges.score import OracleMDL
from sges.search import bes, fes, sbes
from studies.frame import Options, Report, Row, run
from studies.paper.figure_8 import families, selected
from studies.paper.models import paper_model, xor_star
from studies.registry import STUDIES
from studies.summary import pick

EXPERIMENTS = [name for name, study in STUDIES.items() if "trial" in study.keys]


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder for the quick runs of this module."""
    return tmp_path_factory.mktemp("experiments")


@cache
def rows_of(name: str, out: Path) -> list[Row]:
    run(STUDIES[name], out=out, options=Options(quick=True))
    return STUDIES[name].table(out).rows()


@pytest.mark.parametrize("name", EXPERIMENTS)
def test_a_quick_run_writes_rows_a_figure_and_a_page(name: str, out: Path) -> None:
    report: Report = run(STUDIES[name], out=out, options=Options(quick=True))
    page = report.page.read_text(encoding="utf-8")
    assert page.startswith(f"# {STUDIES[name].title}\n")
    assert f"python -m studies {name} --quick" in page
    assert "nan" not in page
    (figure,) = report.figures
    assert "<svg" in figure.read_text(encoding="utf-8")
    assert f"({figure.name})" in page


def test_figure_8_bes_asks_for_every_family_there_is(out: Path) -> None:
    for row in pick(rows_of("figure-8", out), order=0, method="bes"):
        assert row["evaluations"] == int(row["n"]) * 2 ** (int(row["n"]) - 1)


def test_figure_8_sbes_needs_at_least_its_first_round(out: Path) -> None:
    """With s = 1, the first round evaluates all families without at most s + 1 nodes."""
    for row in pick(rows_of("figure-8", out), order=0, method="sbes"):
        n = int(row["n"])
        assert int(row["evaluations"]) >= n * sum(comb(n - 1, j) for j in range(3))


@pytest.mark.parametrize("n", [3, 5, 7])
def test_counting_by_visiting_the_states_again_is_the_searches_count(n: int, seed: int) -> None:
    score, start = OracleMDL(paper_model(n, seed, 0)), PDAG.complete(n)
    for found, generate in (
        (bes(score, start), deletes),
        (sbes(score, start, MaxParents(2)), selected),
    ):
        assert families(found, start, generate, both_orders=True) == found.score_evaluations
        one = families(found, start, generate, both_orders=False)
        assert (found.score_evaluations or 0) / 2 <= one <= (found.score_evaluations or 0)


def test_dense_states_all_children_are_one_clique_and_bes_takes_it_all(out: Path) -> None:
    rows = rows_of("dense-states", out)
    for row in rows:
        k, c = int(row["children"]), {"xor-star": 2, "sum-star": 4}[str(row["family"])]
        assert row["clique"] == k
        assert row["bes"] == (c + 1) * k * 2 ** (k - 1)
        assert int(row["sbes_vw"]) <= int(row["sbes_ps"]) <= int(row["bes"])
    assert all(int(r["sbes_vw"]) < 0.75 * int(r["bes"]) for r in pick(rows, children=6))


def test_an_xor_star_leads_fes_to_every_edge_but_the_one_between_the_coins(seed: int) -> None:
    state = fes(OracleMDL(xor_star(2, 5, seed))).cpdag
    assert state.edge_count() == comb(7, 2) - 1
    assert not state.adjacent(0) >> 1 & 1


def test_exact_optimum_nothing_scores_higher(out: Path) -> None:
    for row in rows_of("exact-optimum", out):
        for name in ("ges", "sges", "sges_poly", "tree", "truth"):
            assert float(row[name]) >= -1e-6
