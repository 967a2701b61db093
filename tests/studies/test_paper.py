"""The claims of each experiment, tested on its quick version."""

from functools import cache
from math import comb
from pathlib import Path

import numpy as np
import pytest

from sges.graph import PDAG
from sges.operators import deletes
from sges.penalty import rule_of_thumb
from sges.properties import MaxParents, MaxVWidth
from sges.score import GaussianOracle, OracleMDL
from sges.search import bes, fes, sbes
from studies.frame import RESULTS, Options, Report, Row, run
from studies.paper.defaults import SETTINGS, Results
from studies.paper.figure_8 import families, selected
from studies.paper.low_order import structure
from studies.paper.models import paper_model, relabeled, sum_star, undirected_clique, xor_star
from studies.paper.penalty import CHOICES, PENALTIES, QUICK, sample
from studies.paper.properties import tailed_clique
from studies.registry import STUDIES
from studies.summary import pick, values

EXPERIMENTS = [name for name, study in STUDIES.items() if "trial" in study.keys]


@pytest.fixture(scope="module")
def out(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Return the folder for the quick runs of this module."""
    return tmp_path_factory.mktemp("experiments")


@cache
def rows_of(name: str, out: Path) -> list[Row]:
    run(STUDIES[name], out=out, options=Options(quick=True))
    return STUDIES[name].table(out).rows()


def paired(rows: list[Row], column: str, *methods: str, by: tuple[str, ...]) -> list[list[float]]:
    """Return the evaluations of each method on the same models; ``column`` names the method."""
    tables: list[dict[tuple[object, ...], float]] = [
        {tuple(r[k] for k in by): float(r["evaluations"]) for r in pick(rows, **{column: m})}
        for m in methods
    ]
    return [[table[key] for table in tables] for key in tables[0] if key in tables[-1]]


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


def test_figure_8_sbes_needs_fewer_evaluations_on_every_trial_at_n_8(out: Path) -> None:
    rows = pick(rows_of("figure-8", out), order=0, n=8)
    pairs = paired(rows, "method", "bes", "sbes", by=("trial",))
    assert len(pairs) == 3
    assert all(sbes < 0.75 * bes for bes, sbes in pairs)


def test_figure_8_sbes_needs_at_least_its_first_round(out: Path) -> None:
    """With s = 1, the first round evaluates all families without at most s + 1 nodes."""
    for row in pick(rows_of("figure-8", out), order=0, method="sbes"):
        n = int(row["n"])
        assert int(row["evaluations"]) >= n * sum(comb(n - 1, j) for j in range(3))


def test_figure_8_recovers_the_true_class_or_says_why_not(out: Path) -> None:
    rows = rows_of("figure-8", out)
    assert sum(values(rows, "recovered")) >= 0.9 * len(rows)
    assert all(row["gain"] != 0 for row in pick(rows, recovered=0))


def test_figure_8_tie_orders_change_the_count_of_sbes_and_not_the_class(out: Path) -> None:
    rows = pick(rows_of("figure-8", out), method="sbes")
    models = [pick(rows, n=n, trial=t) for n in range(3, 7) for t in range(3)]
    assert all(len(model) == 4 for model in models)
    assert all(len(set(values(model, "recovered"))) == 1 for model in models)
    shipped = pick(STUDIES["figure-8"].table(RESULTS).rows(), method="sbes", n=9)
    counts = [values(pick(shipped, trial=t), "evaluations") for t in range(10)]
    assert all(len(each) == 21 and min(each) < max(each) for each in counts)


def test_renumbering_the_variables_twice_is_renumbering_once(seed: int) -> None:
    network, place, back = paper_model(6, seed, 0), [2, 0, 5, 1, 4, 3], [1, 3, 0, 5, 4, 2]
    again = relabeled(relabeled(network, place), back)
    assert again.dag == network.dag
    assert all((a == b).all() for a, b in zip(network.cpts, again.cpts, strict=True))


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


def test_fes_start_the_savings_are_small(out: Path) -> None:
    rows = rows_of("fes-start", out)
    assert all(0.9 * float(r["ges"]) <= float(r["sges"]) <= float(r["ges"]) for r in rows)


def test_fes_start_sges_finds_what_ges_finds(out: Path) -> None:
    rows = rows_of("fes-start", out)
    assert sum(values(rows, "same")) >= 0.9 * len(rows)


def test_dense_states_all_children_are_one_clique_and_bes_takes_it_all(out: Path) -> None:
    rows = rows_of("dense-states", out)
    for row in rows:
        k, c = int(row["children"]), {"xor-star": 2, "sum-star": 4}[str(row["family"])]
        assert row["clique"] == k
        assert row["bes"] == (c + 1) * k * 2 ** (k - 1)
        assert int(row["sbes_vw"]) <= int(row["sbes_ps"]) <= int(row["bes"])
    assert all(int(r["sbes_vw"]) < 0.75 * int(r["bes"]) for r in pick(rows, children=6))


def test_dense_states_all_searches_find_the_truth(out: Path) -> None:
    rows = rows_of("dense-states", out)
    assert sum(values(rows, "all_recovered")) >= 0.9 * len(rows)


def test_dense_states_bes_grows_exponentially_and_v_width_polynomially(seed: int) -> None:
    """From 6 to 9 children, BES grows by 12 = 9/6 · 2³, SBES with v-width 1 by at most (9/6)⁴."""
    counts = []
    for k in (6, 9):
        score = GaussianOracle(sum_star(4, k, seed))
        state = fes(score).cpdag
        assert undirected_clique(state) == k
        found = bes(score, state), sbes(score, state, MaxVWidth(1))
        counts.append([r.score_evaluations or 0 for r in found])
    assert counts[1][0] == 12 * counts[0][0]
    assert counts[1][1] < 5.1 * counts[0][1]


def test_an_xor_star_leads_fes_to_every_edge_but_the_one_between_the_coins(seed: int) -> None:
    state = fes(OracleMDL(xor_star(2, 5, seed))).cpdag
    assert state.edge_count() == comb(7, 2) - 1
    assert not state.adjacent(0) >> 1 & 1


def test_properties_every_assumption_needs_no_more_than_bes(out: Path) -> None:
    rows = rows_of("properties", out)
    for name in ("PS", "CL", "CL tight", "VW", "TW", "VS"):
        pairs = paired(rows, "assume", "none", name, by=("family", "n", "trial"))
        assert len(pairs) == 12
        assert all(selected <= full for full, selected in pairs)


def test_properties_v_width_beats_parents_and_cliques_on_cliques_with_a_tail(out: Path) -> None:
    rows = pick(rows_of("properties", out), family="tailed", n=7)
    every = paired(rows, "assume", "VW", "PS", "CL", "TW", "none", by=("trial",))
    assert all(2 * vw < min(others) for vw, *others in every)


@pytest.mark.parametrize("k", [2, 4, 9])
def test_a_clique_with_a_tail_has_v_width_zero_and_many_parents(k: int) -> None:
    assert MaxVWidth.measure(tailed_clique(k)) == 0
    assert MaxParents.measure(tailed_clique(k)) == max(k - 1, 1)


def test_polytrees_are_recovered_within_n_cubed_evaluations(out: Path) -> None:
    rows = pick(rows_of("polytrees", out), data="oracle")
    assert sum(values(rows, "recovered")) >= 0.9 * len(rows)
    for row in pick(rows, method="sges-poly"):
        assert int(row["evaluations"]) < int(row["n"]) ** 3


def test_scaling_evaluations_stay_below_the_bound(out: Path) -> None:
    rows = rows_of("scaling", out)
    for row in pick(rows, method="sges-poly"):
        assert int(row["evaluations"]) < int(row["bound"])
    assert all(row["bound"] is None for row in rows if row["method"] != "sges-poly")
    assert sum(values(rows, "recovered")) >= 0.9 * len(rows)


def test_finite_data_more_records_have_fewer_edges_wrong(out: Path) -> None:
    rows = pick(rows_of("finite-data", out), start="complete", assume="k=3")
    few, many = (sum(values(pick(rows, records=m), "shd")) for m in (100, 10_000))
    assert many < few


def test_finite_data_a_bound_that_is_too_small_costs_edges_from_the_complete_graph(
    out: Path,
) -> None:
    rows = pick(rows_of("finite-data", out), start="complete", records=10_000)
    small, right = (sum(values(pick(rows, assume=k), "shd")) for k in ("k=1", "k=3"))
    assert small > right


@pytest.mark.parametrize("edges", [15, 20, 25, 30])
def test_low_order_structures_have_the_edges_asked_for_and_at_most_three_parents(
    edges: int, seed: int
) -> None:
    dag = structure(12, edges, 3, seed)
    assert len(dag.directed_edges()) == edges
    assert max(dag.parents(v).bit_count() for v in range(12)) <= 3


def test_low_order_finds_every_truth_on_the_oracles_of_its_work(out: Path) -> None:
    rows = pick(rows_of("low-order", out), model="work")
    assert rows
    assert all(row["recovered"] for row in rows)


def test_low_order_work_stays_below_the_number_of_small_families(out: Path) -> None:
    """At level k, no family has more than k + 1 parents."""
    for row in pick(rows_of("low-order", out), model="work"):
        n, k = int(row["n"]), int(str(row["method"])[-1])
        assert row["evaluations"] <= n * sum(comb(n - 1, j) for j in range(k + 2))


def test_low_order_the_finish_never_lowers_the_score(out: Path) -> None:
    rows = rows_of("low-order", out)
    truths = {(r["model"], r["edges"], r["trial"]): r["gain"] for r in pick(rows, method="pure")}
    for row in pick(rows, method="low-order"):
        assert row["gain"] >= truths[row["model"], row["edges"], row["trial"]] - 1e-6


def test_exact_optimum_nothing_scores_higher(out: Path) -> None:
    for row in rows_of("exact-optimum", out):
        for name in ("ges", "sges", "sges_poly", "tree", "truth"):
            assert float(row[name]) >= -1e-6


def test_exact_optimum_ges_is_closer_than_the_best_forest(out: Path) -> None:
    rows = rows_of("exact-optimum", out)
    assert sum(values(rows, "ges")) < sum(values(rows, "tree"))


def test_penalty_every_sample_is_learned_with_every_penalty_and_every_choice(out: Path) -> None:
    rows = rows_of("penalty", out)
    samples = {(row["setting"], row["records"], row["trial"]) for row in rows}
    for setting, records, trial in samples:
        here = pick(rows, setting=setting, records=records, trial=trial)
        assert [row["choice"] for row in here] == [*map(str, PENALTIES), *CHOICES]


def test_penalty_a_larger_penalty_finds_fewer_edges(out: Path) -> None:
    rows = rows_of("penalty", out)
    small, large = (sum(values(pick(rows, choice=p), "edges")) for p in ("0.5", "6"))
    assert large < small


def test_penalty_both_is_the_larger_of_the_two_and_says_what_it_cost(out: Path) -> None:
    rows = rows_of("penalty", out)
    for both in pick(rows, choice="both"):
        same = {key: both[key] for key in ("setting", "records", "trial")}
        others = [pick(rows, choice=c, **same)[0] for c in ("held-out", "stability")]
        assert both["penalty"] == max(float(other["penalty"]) for other in others)
        fixed = pick(rows, choice=f"{both['penalty']:g}", **same)[0]
        assert (both["shd"], both["edges"]) == (fixed["shd"], fixed["edges"])
        assert float(both["searches"]) >= float(others[0]["searches"]) > 1


def test_penalty_the_rule_of_thumb_takes_one_search(out: Path) -> None:
    rows = rows_of("penalty", out)
    for row in pick(rows, choice="rule"):
        data = sample(QUICK[str(row["setting"])], int(row["records"]), seed=0)[1]
        assert row["searches"] == 1
        assert row["penalty"] == pytest.approx(rule_of_thumb(data))


def test_defaults_a_candidate_is_equal_to_the_best_unless_another_is_clearly_closer(
    seed: int,
) -> None:
    rng = np.random.default_rng(seed)
    best = rng.integers(10, 20, 40).astype(float)
    noisy = best + rng.permutation([1.0] * 21 + [-1.0] * 19)  # closer and farther about as often
    worse = best + 15
    results = Results(
        SETTINGS[0], {name: list(d) for name, d in zip("bnw", (best, noisy, worse), strict=True)}, 9
    )
    assert results.is_equal("b") or results.is_equal("n")
    assert results.is_unbeaten("b")
    assert results.is_unbeaten("n")
    assert not results.is_equal("w")
    assert not results.is_unbeaten("w")
    assert results.is_best(results.winner)
    assert results.half(0).tables == results.half(1).tables == 20
