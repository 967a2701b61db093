"""All studies by name: the experiments of the paper, then the comparisons with peers."""

from sges.errors import not_one_of
from studies.frame import Study
from studies.paper import (
    cluster,
    complexity,
    confidence,
    curved,
    defaults,
    dense_states,
    exact_optimum,
    fes_start,
    figure_8,
    finite_data,
    low_order,
    measures,
    missing,
    penalty,
    polytrees,
    properties,
    scaling,
)
from studies.peers import engine, quality, standard, why

STUDIES: dict[str, Study] = {
    study.name: study
    for study in (
        figure_8.STUDY,
        complexity.STUDY,
        fes_start.STUDY,
        dense_states.STUDY,
        properties.STUDY,
        measures.STUDY,
        polytrees.STUDY,
        scaling.STUDY,
        finite_data.STUDY,
        low_order.STUDY,
        exact_optimum.STUDY,
        penalty.STUDY,
        defaults.STUDY,
        missing.STUDY,
        curved.STUDY,
        confidence.STUDY,
        cluster.STUDY,
        standard.STUDY,
        quality.STUDY,
        engine.STUDY,
        why.STUDY,
    )
}


def study_named(name: str) -> Study:
    """Return the study of this name."""
    if name not in STUDIES:
        raise not_one_of("study", name, STUDIES)
    return STUDIES[name]
