"""The penalty: edges wrong against the multiplier of the BIC, and what choosing it from data does.

Four kinds of models, three sizes of samples, eight penalties; and beside them the penalty that
``sges.penalty`` chooses: by held-out likelihood, by stability, by both, or by the rule of thumb.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from time import process_time

from sges.data import Dataset
from sges.graph.equivalence import dag_to_cpdag
from sges.graph.pdag import PDAG
from sges.metrics import agreement, shd, skeleton
from sges.network import BayesianNetwork, LinearGaussian, random_dag
from sges.penalty import choose_penalty, rule_of_thumb
from sges.score import DiscreteBIC, GaussianBIC
from sges.search import ges
from studies.frame import Experiment, Row, Task, Value, seed_of
from studies.paper.penalty_page import CHOICES, draw, summary

PENALTIES = (0.5, 0.75, 1, 1.5, 2, 3, 4, 6)
"""Whole ones are integers, so that they read the same from the table."""


@dataclass(frozen=True, slots=True)
class Setting:
    """One kind of model: its size, and the size of its weights; None for binary networks."""

    variables: int
    edges: int
    weights: tuple[float, float] | None


SETTINGS = {
    "strong": Setting(30, 60, (0.5, 2.0)),
    "weak": Setting(30, 60, (0.1, 0.6)),
    "sparse": Setting(60, 60, (0.5, 2.0)),
    "binary": Setting(20, 30, None),
}
QUICK = {"weak": Setting(6, 8, (0.1, 0.6)), "binary": Setting(5, 5, None)}


def tasks(quick: bool) -> Iterator[Task]:
    """Yield the trials."""
    settings, sizes, trials = (
        (QUICK, (100, 1000), 2) if quick else (SETTINGS, (200, 1000, 10_000), 10)
    )
    for trial in range(trials):
        for setting, kind in settings.items():
            for records in sizes:
                choices: tuple[Value, ...] = (*PENALTIES, *CHOICES)
                for choice in choices:
                    yield {
                        "setting": setting,
                        "variables": kind.variables,
                        "records": records,
                        "choice": choice,
                        "trial": trial,
                    }


def measure(task: Task, seed: int) -> Row:
    """Choose a penalty, if it is not given, and learn with it."""
    setting, variables = str(task["setting"]), int(task["variables"])
    kind = next(k for s in (SETTINGS, QUICK) if (k := s.get(setting)) and k.variables == variables)
    dag, data = sample(kind, int(task["records"]), seed_of(seed, variables, int(task["trial"])))
    begun = process_time()
    penalty, searches = chosen(task["choice"], data)
    score = (DiscreteBIC if kind.weights is None else GaussianBIC)(data, penalty)
    found, truth = ges(score).cpdag, dag_to_cpdag(dag)
    return {
        "penalty": penalty,
        "shd": shd(truth, found),
        "f1": agreement(skeleton(truth), skeleton(found)).f1,
        "edges": found.edge_count(),
        "true_edges": truth.edge_count(),
        "searches": searches + 1,
        "seconds": process_time() - begun,
    }


def sample(kind: Setting, records: int, seed: int) -> tuple[PDAG, Dataset]:
    """Return the structure and the records of one trial."""
    dag = random_dag(kind.variables, kind.edges, seed=seed)
    if kind.weights is None:
        return dag, BayesianNetwork.random(dag, seed=seed).sample(records, seed=seed + 1)
    model = LinearGaussian.random(dag, kind.weights, variances=(1.0, 1.0), seed=seed)
    return dag, model.sample(records, seed=seed + 1)


def chosen(choice: Value, data: Dataset) -> tuple[float, int]:
    """Return the penalty of a choice, and how many searches it took to find it."""
    if choice == "rule":
        return rule_of_thumb(data), 0
    if not isinstance(choice, str):
        return float(choice), 0
    found = choose_penalty(data, method=choice, candidates=PENALTIES, search=ges)
    return found.penalty, found.searches


EXPERIMENT = Experiment(
    name="penalty",
    title="The penalty: curves, and choosing it from data",
    keys=("setting", "variables", "records", "choice", "trial"),
    columns=("penalty", "shd", "f1", "edges", "true_edges", "searches", "seconds"),
    tasks=tasks,
    measure=measure,
    draw=draw,
    summary=summary,
)
