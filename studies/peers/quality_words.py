"""Numbers and verdicts of the quality experiment in words; none claims more than its value."""

from collections.abc import Callable, Sequence
from statistics import median

from studies.peers.medians import BIC_TOLERANCE
from studies.peers.quality_facts import (
    DEFAULT,
    RIVAL,
    Duel,
    Line,
    Mark,
    Results,
    Spread,
    Verdict,
    all_scored,
    bic_duel,
    bic_median,
    described,
    shd_duel,
    shd_median,
    time_ratio,
)
from studies.peers.suite import Spec
from studies.peers.tables import MISSING, times


def title(spec: Spec) -> str:
    """Return a setting in a few words."""
    return ", ".join(described(spec))


def short(value: float) -> str:
    """Return a count, or the middle of two."""
    return f"{value:.2f}".rstrip("0").rstrip(".")


def share(value: float) -> str:
    """Return a number between 0 and 1."""
    return f"{value:.3f}"


def signed(value: float) -> str:
    """Return a difference of scores with its sign; what rounding may have made is 0.

    >>> [signed(value) for value in (1234.56, -0.02, 0.0004)]
    ['+1,234.6', '−0.02', '0']
    """
    if abs(value) <= BIC_TOLERANCE:
        return "0"
    text = f"{value:+,.1f}" if abs(value) >= 0.1 else f"{value:+.2g}"
    return text.replace("-", "−")


def spread(found: Spread | None, show: Callable[[float], str]) -> str:
    """Return a median and, in brackets, the quartiles."""
    if found is None:
        return MISSING
    return f"{show(found.mid)} [{show(found.low)}, {show(found.high)}]"


def listed(names: Sequence[str]) -> str:
    """Return names as in a sentence.

    >>> listed(["a", "b", "c"])
    '`a`, `b` and `c`'
    """
    quoted = [f"`{name}`" for name in names]
    return " and ".join([", ".join(quoted[:-1]), quoted[-1]] if len(quoted) > 1 else quoted)


def shd_of(line: Line | None) -> str:
    """Return the median SHD of a program that finished all seeds, or why there is none."""
    found = None if line is None else shd_median(line)
    return why_not(line) if found is None else short(found)


def bic_of(line: Line | None) -> str:
    """Return the median BIC beyond the truth of a program that has all, or why there is none."""
    found = None if line is None else bic_median(line)
    return why_not(line) if found is None else signed(found)


def why_not(line: Line | None) -> str:
    """Say shortly why a program has no figure."""
    if line is None:
        return "not measured"
    if line.reasons:
        reasons = [f"{reason.partition(':')[0]} {count}" for reason, count in line.reasons]
        return f"{len(line.done)} of {line.seeds} seeds ({', '.join(reasons)})"
    return f"{len(line.scored)} of {line.seeds} seeds"


def best(lines: Sequence[Line], show: Callable[[Line], str]) -> str:
    """Return the figure of the best peers, and who they are: two by name and the rest by number."""
    if not lines:
        return "none finished"
    names = [f"`{line.program}`" for line in lines]
    who = ", ".join(names) if len(names) < 3 else f"{names[0]} and {len(names) - 1} others"
    return f"{show(lines[0])} ({who})"


def marked(mark: Mark, duel: Duel | None) -> str:
    """Return a verdict, in bold if we lose, with the seeds behind it."""
    text = f"**{mark}**" if mark == "worse" else mark
    return text if duel is None else f"{text} ({duel.better}, {duel.equal}, {duel.worse})"


def counts(marks: Sequence[Mark]) -> str:
    """Return how often we are better, equal and worse."""
    judged = [mark for mark in marks if mark != "not judged"]
    if not judged:
        return MISSING
    parts = (judged.count(mark) for mark in ("better", "equal", "worse"))
    return " / ".join(map(str, parts))


def multiple(ratio: float) -> str:
    """Return a ratio as people say it; a small one keeps two digits.

    >>> [multiple(value) for value in (0.00456, 0.5, 3.14)]
    ['0.0046×', '0.5×', '3.1×']
    """
    return f"{ratio:.2g}×" if ratio < 1 else times(ratio)


def span(ratios: Sequence[float]) -> str:
    """Return the median of some ratios and their range."""
    if not ratios:
        return MISSING
    return f"{multiple(median(ratios))} ({multiple(min(ratios))} to {multiple(max(ratios))})"


def tally(found: Sequence[Verdict]) -> str:
    """Count the settings on which our default is the best or equal, and those where it is not."""
    if not any(verdict.ours for verdict in found):
        return f"There are no rows of our default, `{DEFAULT}`, so nothing is judged."
    shd = _tally([verdict.shd for verdict in found])
    bic = _tally([verdict.bic for verdict in found])
    return (
        f"Against the best peer of each setting, our default is best or equal in SHD on **{shd}, "
        f"and in BIC on **{bic}. {_rivals(found)}"
    )


def _rivals(found: Sequence[Verdict]) -> str:
    """Say how many settings are judged against all peers, and how many against some."""
    whole = sum(bool(v.peers) and all(line.finished for line in v.peers) for v in found)
    if whole == len(found):
        return "Every peer that takes the data finished on every setting."
    return (
        f"Every peer that takes the data finished on {whole} of the {len(found)} settings; the "
        "others are judged against those peers only that did."
    )


def _tally(marks: Sequence[Mark]) -> str:
    better, equal, worse, unknown = (
        marks.count(mark) for mark in ("better", "equal", "worse", "not judged")
    )
    parts = [f"better on {better}", f"equal on {equal}", f"worse on {worse}"]
    parts += [f"not judged on {unknown}"] if unknown else []
    return f"{better + equal} of {len(marks)}** settings ({', '.join(parts)})"


def hurry(results: Results, found: Sequence[Verdict]) -> str:
    """Count the settings on which our default takes less time than its rival."""
    ratios = [
        ratio
        for verdict in found
        if (rival := results.lines.get((verdict.name, RIVAL))) is not None
        and verdict.ours is not None
        and verdict.ours.finished
        and rival.finished
        and (ratio := time_ratio(verdict.ours, rival)) is not None
    ]
    if not ratios:
        return f"There is no setting on which both our default and `{RIVAL}` finished all seeds."
    fewer = sum(ratio > 1 for ratio in ratios)
    return (
        f"Our default takes less processor time than XGES's extended search (`{RIVAL}`), seed by "
        f"seed and by median, on {fewer} of the {len(ratios)} settings that both finished; "
        f"`{RIVAL}` takes {multiple(min(ratios))} to {multiple(max(ratios))} our time."
    )


def no_rival(results: Results, found: Sequence[Verdict]) -> str:
    """Say on which settings there is no time to compare with, and why."""
    lines = [(v.spec, results.lines.get((v.name, RIVAL))) for v in found]
    untaken = sum(line is not None and not line.takes_the_data for _, line in lines)
    parts = (
        [f"`{RIVAL}` takes no discrete data ({untaken} of {len(found)} settings)."]
        if untaken
        else []
    )
    parts += [
        f"On {title(spec)} it did not finish: {why_not(line)}."
        for spec, line in lines
        if line is not None and line.takes_the_data and not line.finished
    ]
    return " ".join(parts)


def losses(found: Sequence[Verdict]) -> list[str]:
    """Return a paragraph for every setting on which a peer is ahead of our default."""
    parts = [f"**{title(v.spec)}.** {text}" for v in found if (text := " ".join(_losses(v)))]
    if parts:
        return parts
    if not any(verdict.ours for verdict in found):
        return ["Nothing can be said before our default has been run."]
    return ["On no setting that could be judged is a peer ahead of ours."]


def _losses(verdict: Verdict) -> list[str]:
    ours = verdict.ours
    if ours is None:
        return []
    if not ours.finished:
        return [f"Ours did not finish: {why_not(ours)}."]
    parts = [_farther(ours, verdict)] if verdict.shd == "worse" else []
    parts += [_lower(ours, verdict)] if verdict.bic == "worse" else []
    return [*parts, *_ahead_in_part(ours, verdict.peers)]


def _farther(ours: Line, verdict: Verdict) -> str:
    """Say who is closer to the truth, and whether that graph also scores better."""
    own = shd_median(ours)
    known = [(mid, line) for line in verdict.peers if (mid := shd_median(line)) is not None]
    closer = sorted(
        ((mid, line) for mid, line in known if own is not None and mid < own),
        key=lambda pair: (pair[0], pair[1].program),
    )
    medians = ", ".join(f"`{line.program}` {short(mid)}" for mid, line in closer)
    first = closer[0][1]
    duel = shd_duel(ours, first)
    assert duel is not None  # both finished all seeds
    return (
        f"SHD: ours has {shd_of(ours)} by median; {medians}. Beside `{first.program}`, ours is "
        f"closer to the truth on {duel.better} of {duel.seeds} seeds, as close on {duel.equal} and "
        f"farther on {duel.worse}. {_why(ours, first)}"
    )


def _why(ours: Line, closer: Line) -> str:
    """Tell a search that failed from a score that prefers another graph than the true one."""
    duel = bic_duel(ours, closer)
    if duel is None:
        return "Their scores cannot be compared."
    gap = signed(abs(duel.gain)).lstrip("+")
    if duel.gain > BIC_TOLERANCE:
        return (
            f"Ours scores higher than that peer, by {gap} nats in the median, and below the true "
            f"graph on {ours.below_truth} of {len(ours.scored)} seeds: "
            "the higher score was not the closer graph."
        )
    if duel.gain < -BIC_TOLERANCE:
        return (
            f"Ours scores lower, too, by {gap} nats in the median: "
            "the search stopped short of a better graph."
        )
    return "Both score the same in the median."


def _lower(ours: Line, verdict: Verdict) -> str:
    """Say who scores higher, and on how many seeds ours is below the truth."""
    duels = [(bic_duel(ours, line), line) for line in verdict.peers if all_scored(line)]
    higher = sorted(
        (duel.gain, line.program, duel.worse, duel.seeds)
        for duel, line in duels
        if duel is not None and duel.gain < -BIC_TOLERANCE
    )
    who = ", ".join(
        f"`{name}` by {signed(-gain).lstrip('+')} nats (ours is lower on {worse} of {seeds} seeds)"
        for gain, name, worse, seeds in higher
    )
    return (
        f"BIC: ahead of ours in the median are {who}. Ours is below the true graph "
        f"on {ours.below_truth} of {len(ours.scored)} seeds."
    )


def _ahead_in_part(ours: Line, peers: Sequence[Line]) -> list[str]:
    """Say which peers that did not finish are ahead of ours on the seeds that they did."""
    parts = []
    for line in peers:
        shd, bic = shd_duel(ours, line), bic_duel(ours, line)
        ahead = [] if line.finished or shd is None or shd.gain >= 0 else ["SHD"]
        behind = bic is not None and bic.gain < -BIC_TOLERANCE
        ahead += ["BIC"] if behind and not all_scored(line) else []
        if ahead:
            parts.append(
                f"Not counted, because it has no result for every seed: `{line.program}`, ahead in "
                f"{' and '.join(ahead)} on the {len(line.done)} of {line.seeds} that it finished."
            )
    return parts


def crowding(results: Results) -> str:
    """Say how much of the processor runs had where some ran out of time, which is by the clock."""
    parts = []
    for spec in results.settings:
        lines = results.of(spec.name)
        shares = [share for line in lines for share in line.shares]
        if shares and any(reason.startswith("timeout") for x in lines for reason, _ in x.reasons):
            ends = f"{min(shares):.0%} to {max(shares):.0%}"
            parts.append(f"{title(spec)}: {median(shares):.0%} ({ends})")
    if not parts:
        return ""
    return (
        "The limit is by the clock, and the machine was shared: a program that ran out of time had "
        "fewer seconds of the processor than the limit, and might have finished on a machine of "
        "its own. The share of the processor that finished runs had on these settings, median and "
        f"range: {'; '.join(parts)}."
    )


def unscored(results: Results) -> str:
    """Name the programs that returned graphs which no DAG extends."""
    found = [
        f"`{line.program}` on {line.setting} ({len(line.done) - len(line.scored)} of "
        f"{len(line.done)})"
        for (_, _), line in sorted(results.lines.items())
        if len(line.scored) < len(line.done)
    ]
    return f"Graphs that no DAG extends, and so without a BIC: {', '.join(found)}." if found else ""


def kinds(results: Results) -> str:
    """Name the programs that do not take one kind of data."""
    parts = []
    for kind in ("discrete", "gaussian"):
        names = {
            row["peer"]
            for row in results.rows
            if row["kind"] == kind and (row["failed"] or "").startswith("wrong kind")
        }
        parts += [f"No {kind} data are taken by {listed(sorted(names))}."] if names else []
    return " ".join(parts).replace("gaussian", "Gaussian")
