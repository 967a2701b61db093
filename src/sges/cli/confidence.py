"""``sges confidence``: how sure each edge is that a table supports."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

from sges.cli.learn import (
    CheckpointFile,
    KnowledgeFile,
    MaxIndegree,
    Penalty,
    Score,
    StrategyWord,
    number_or_word,
)
from sges.cli.reading import Table, with_reading_options
from sges.cli.terminal import (
    AsJson,
    at_terminal,
    check_place,
    option,
    print_json,
    print_page,
    remark,
    warnings_as_remarks,
    watching,
    write_undisturbed,
)
from sges.errors import in_shell

if TYPE_CHECKING:
    from sges.resampling import ReplicateProgress

Replicates = Annotated[int, option("N", "How many replicates of the table to search.")]
DrawWord = Annotated[
    str,
    option(
        "HOW",
        "How a replicate is drawn: auto, half (of the records), bootstrap, bayesian (random "
        "weights) or wishart (random covariances).",
    ),
]
Jobs = Annotated[
    int | None,
    option("N", "Search N replicates at once; -1 is one for each core.", "--n-jobs", "--jobs"),
]
Seed = Annotated[int, option("N", "The same seed gives the same replicates.")]
TimeLimit = Annotated[
    float | None, option("SECONDS", "Stop after SECONDS and count the replicates done so far.")
]
Out = Annotated[
    Path | None,
    option(
        "DIR",
        "Write confidence.json, strengths.csv, strengths.svg and summary.txt there: all or none.",
    ),
]


@with_reading_options
def confidence(
    *,
    table: Table,
    replicates: Replicates = 200,
    draw: DrawWord = "auto",
    n_jobs: Jobs = None,
    seed: Seed = 0,
    score: Score = "auto",
    knowledge: KnowledgeFile = None,
    strategy: StrategyWord = "auto",
    penalty: Penalty = "auto",
    max_indegree: MaxIndegree = None,
    time_limit: TimeLimit = None,
    checkpoint: CheckpointFile = None,
    reading: dict[str, Any],
    out: Out = None,
    as_json: AsJson = False,
) -> None:
    """Find how sure each edge is, by searching many replicates of a table.

    Prints the share of replicates in which two variables are adjacent, and in which the edge
    points either way or is undirected. Ctrl-C stops and counts the replicates done so far.
    """
    if out is not None:
        check_place(out)
    with warnings_as_remarks(), watching(f"reading {table}") as watcher:
        from sges.resampling import confidence as confidence_in

        found = confidence_in(
            table,
            replicates,
            draw=draw,
            n_jobs=n_jobs,
            seed=seed,
            score=score,
            knowledge=knowledge,
            strategy=strategy,
            penalty=number_or_word(penalty),
            max_indegree=max_indegree,
            time_limit=time_limit,
            checkpoint=checkpoint,
            progress=lambda progress: watcher.tell(in_words(progress)),
            **reading,
        )
        found = replace(found, notes=tuple(in_shell(note) for note in found.notes))
        if out is not None:
            watcher.tell(f"drawing and writing {out}")
            write_undisturbed(out, found.files())
    if as_json:
        print_json(found.to_dict())
    else:
        print_page(found.summary())
    if not found.complete:
        remark(f"{found.stopped}: {found.done} of {found.replicates} replicates were counted")
    if out is not None and at_terminal():
        remark(f"wrote confidence.json, strengths.csv, strengths.svg and summary.txt to {out}")


def in_words(progress: "ReplicateProgress") -> str:
    """Return how far a run is, on one line."""
    return (
        f"{progress.done} of {progress.total} replicates  {progress.edges:.1f} edges on average  "
        f"about {progress.remaining:.0f} s left"
    )
