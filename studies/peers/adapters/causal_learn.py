"""GES of causal-learn, a translation of Tetrad's early GES."""

from functools import partial
from typing import Any

from studies.peers.adapters.conventions import from_endpoints
from studies.peers.contract import Environment, Found, Go, Peer, Prepare, Table

_ENVIRONMENT = Environment("causal-learn", ("causal-learn",), "causal-learn")


def _load(**options: Any) -> Prepare:  # noqa: ANN401 (whatever ges takes)
    from causallearn.search.ScoreBased.GES import ges

    def prepare(table: Table) -> Go:
        def go() -> Found:
            return from_endpoints(ges(table.values, **options)["G"].graph)

        return go

    return prepare


PEERS = (
    Peer(
        name="causal-learn",
        environment=_ENVIRONMENT,
        method="GES",
        kinds=("gaussian",),
        penalty="`lambda_value=0.5`, which multiplies log m",
        load=partial(_load, score_func="local_score_BIC", parameters={"lambda_value": 0.5}),
    ),
    Peer(
        name="causal-learn-bdeu",
        environment=_ENVIRONMENT,
        method="GES with BDeu",
        kinds=("discrete",),
        penalty="none: it has no BIC for discrete data, so BDeu at its defaults",
        load=partial(_load, score_func="local_score_BDeu"),
    ),
)

# Its default score is for continuous columns; the documentation names BDeu for discrete ones.


def _documented() -> Prepare:
    continuous, discrete = _load(), _load(score_func="local_score_BDeu")
    return lambda table: (discrete if table.kind == "discrete" else continuous)(table)


DOCUMENTED = (
    Peer(
        name="causallearn.ges",
        environment=_ENVIRONMENT,
        method="GES",
        kinds=("gaussian", "discrete"),
        penalty='`ges(values)`; discrete: `ges(values, score_func="local_score_BDeu")`',
        load=_documented,
    ),
)
