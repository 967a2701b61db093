"""``sges confidence``: how sure each edge is that a table supports."""

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sges.cli.learn import number_or_word
from sges.cli.options import option, reading_arguments, takes
from sges.cli.terminal import (
    at_terminal,
    check_writable,
    print_json,
    print_page,
    remark,
    undisturbed,
    warnings_as_remarks,
    watching,
)
from sges.errors import in_shell
from sges.writing import write_directory

if TYPE_CHECKING:
    from sges.resampling import ReplicateProgress


@takes(
    replicates=option("N", "The number of replicates to search."),
    draw=option(
        "HOW",
        "How a replicate is drawn: auto, half (of the records), bootstrap, bayesian (random "
        "weights) or wishart (random covariances).",
    ),
    n_jobs=option(
        "N", "Search N replicates at once; -1 is one for each core.", "--n-jobs", "--jobs"
    ),
    seed=option("N", "The same seed gives the same replicates."),
    time_limit=option("SECONDS", "Stop after SECONDS and count the replicates done so far."),
    out=option(
        "DIR",
        "Write confidence.json, strengths.csv, strengths.svg and summary.txt to DIR: all of them "
        "or none.",
    ),
)
def confidence(
    *,
    table: str,
    replicates: int = 200,
    draw: str = "auto",
    n_jobs: int | None = None,
    seed: int = 0,
    score: str = "auto",
    knowledge: Path | None = None,
    strategy: str = "auto",
    penalty: str = "auto",
    max_indegree: int | None = None,
    time_limit: float | None = None,
    checkpoint: Path | None = None,
    out: Path | None = None,
    as_json: bool = False,
    **reading: Any,  # noqa: ANN401
) -> None:
    """Estimate the confidence in each edge, by searching many replicates of a table.

    Prints for each two variables the share of replicates in which they are adjacent, and the
    shares in which the edge points either way or is undirected. Ctrl-C stops the search and
    counts the replicates done so far.
    """
    if out is not None:
        check_writable(out, is_directory=True)
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
            **reading_arguments(**reading),
        )
        found = replace(found, notes=tuple(in_shell(note) for note in found.notes))
        if out is not None:
            watcher.tell(f"drawing and writing {out}")
            files = found.files()
            with undisturbed():
                write_directory(out, files)
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
