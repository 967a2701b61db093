"""Markdown tables of the results; a loss of ours is as easy to see as a win."""

from collections.abc import Callable, Iterable, Sequence
from statistics import median

from studies.peers.medians import Cell, Cells, Family

MISSING = "–"


def markdown(head: Sequence[str], body: Iterable[Sequence[str]], words: int = 1) -> str:
    """Return a table whose first columns hold words, to the left, and the others numbers.

    >>> print(markdown(["peer", "s"], [["ges", "1.2"]]))
    | peer | s |
    | :--- | ---: |
    | ges | 1.2 |
    """
    rule = [*[":---"] * words, *["---:"] * (len(head) - words)]
    return "\n".join(f"| {' | '.join(line)} |" for line in [list(head), rule, *map(list, body)])


def speed(family: Family, peers: Sequence[str], cells: Cells) -> str:
    """Return seconds and, in brackets, how many times as long as the reference they are."""
    return _by_dataset(family, peers, cells, _seconds)


def quality(family: Family, peers: Sequence[str], cells: Cells) -> str:
    """Return the BIC beyond that of the reference, and the distance to the truth."""
    return _by_dataset(family, peers, cells, _marks)


def memory(family: Family, peers: Sequence[str], cells: Cells) -> str:
    """Return the peak of memory in megabytes."""
    return _by_dataset(family, peers, cells, lambda cell: f"{cell.megabytes:,.0f}")


def _by_dataset(
    family: Family, peers: Sequence[str], cells: Cells, show: Callable[[Cell], str]
) -> str:
    body = []
    for peer in peers:
        found = [cells.get((peer, dataset)) for dataset in family.datasets]
        if any(cell is not None and not _wrong_kind(cell) for cell in found):
            body.append([peer, *(shown(cell, show) for cell in found)])
    return markdown(["", *family.columns], body)


def shown(cell: Cell | None, show: Callable[[Cell], str]) -> str:
    """Return what a cell shows, or the first word of why it has nothing to show."""
    if cell is None:
        return MISSING
    if not cell.done:
        return (cell.failed or MISSING).partition(":")[0].partition(" in ")[0]
    part = f" ({cell.done} of {cell.runs})" if cell.done < cell.runs else ""
    return show(cell) + part


def _seconds(cell: Cell) -> str:
    assert cell.seconds is not None
    if cell.ratio is None or cell.ratio == 1:
        return digits(cell.seconds)
    text = f"{digits(cell.seconds)} ({times(cell.ratio)})"
    return f"**{text}**" if cell.ratio < 1 else text


def _marks(cell: Cell) -> str:
    gain = MISSING if cell.bic_gain is None else f"{cell.bic_gain:+,.1f}"
    gain = "=" if cell.bic_gain == 0 else gain
    gain = f"**{gain}**" if cell.bic_gain is not None and cell.bic_gain > 0 else gain
    return f"{gain} / {cell.shd:g}"


def digits(seconds: float) -> str:
    """Return seconds with three significant digits, and no more than three decimals.

    >>> [digits(value) for value in (0.0012, 0.1234, 12.34, 1234.5)]
    ['0.001', '0.123', '12.3', '1,234']
    """
    decimals = 3 if seconds < 1 else 2 if seconds < 10 else 1 if seconds < 100 else 0
    return f"{seconds:,.{decimals}f}"


def times(ratio: float) -> str:
    """Return a ratio as people say it.

    >>> [times(value) for value in (0.456, 3.14, 250.3)]
    ['0.46×', '3.1×', '250×']
    """
    decimals = 2 if ratio < 1 else 1 if ratio < 10 else 0
    return f"{ratio:,.{decimals}f}×"


def scoreboard(peers: Sequence[str], ours: Sequence[str], cells: Cells) -> str:
    """Return on how many data sets each peer is faster than the reference, or better."""
    body = []
    for peer in peers:
        if peer in ours:
            continue
        own = [c for (name, _), c in cells.items() if name == peer and not _wrong_kind(c)]
        both = [cell for cell in own if cell.ratio is not None]
        gains = [cell.bic_gain for cell in both if cell.bic_gain is not None]
        body.append(
            [
                peer,
                f"{sum(cell.done > 0 for cell in own)} of {len(own)}",
                str(sum((cell.ratio or 0) < 1 for cell in both)),
                str(sum((cell.ratio or 0) >= 1 for cell in both)),
                _middle([cell.ratio for cell in both if cell.ratio is not None]),
                str(sum(gain > 0 for gain in gains)),
                str(sum(gain == 0 for gain in gains)),
                str(sum(gain < 0 for gain in gains)),
            ]
        )
    head = ["peer", "came to an end", "faster than ours", "slower", "median time, ours = 1"]
    return markdown([*head, "better BIC than ours", "equal", "worse"], body)


def _middle(ratios: list[float]) -> str:
    return times(median(ratios)) if ratios else MISSING


def losses(peers: Sequence[str], ours: Sequence[str], cells: Cells) -> str:
    """Return every data set on which a peer was faster than the reference or found a better BIC."""
    body = []
    for (peer, dataset), cell in cells.items():
        if peer in ours or peer not in peers or cell.ratio is None or cell.seconds is None:
            continue
        gain = cell.bic_gain or 0.0
        if cell.ratio < 1 or gain > 0:
            faster = times(cell.ratio) if cell.ratio < 1 else f"slower, {times(cell.ratio)}"
            better = f"{gain:+,.1f}" if gain else "="
            body.append([dataset, peer, digits(cell.seconds), faster, better])
    if not body:
        return "None."
    head = ["data set", "peer", "seconds", "time, ours = 1", "BIC beyond ours"]
    return markdown(head, sorted(body), words=2)


def failures(cells: Cells) -> str:
    """Return every failure with its reason, except data of a kind that the program never takes."""
    body = [
        [peer, dataset, f"{cell.runs - cell.done} of {cell.runs}", cell.failed or ""]
        for (peer, dataset), cell in cells.items()
        if cell.done < cell.runs and not _wrong_kind(cell)
    ]
    if not body:
        return "None."
    return markdown(["peer", "data set", "runs", "reason"], map(_plain, sorted(body)), words=4)


def _plain(line: list[str]) -> list[str]:
    """Return cells that cannot break the table."""
    return [" ".join(text.replace("|", "/").split()) for text in line]


def _wrong_kind(cell: Cell) -> bool:
    return cell.failed is not None and cell.failed.startswith("wrong kind")
