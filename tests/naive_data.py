"""Slow twins of the data layer: each as short as its definition, none importing sges."""

from collections import Counter
from collections.abc import Sequence
from fractions import Fraction


def exact_moments(
    columns: Sequence[Sequence[float]], weights: Sequence[int] | None = None
) -> tuple[list[Fraction], list[list[Fraction]]]:
    """Mean and maximum likelihood covariance in exact arithmetic."""
    rows = [[Fraction(x) for x in column] for column in columns]
    times = [1] * len(rows[0]) if weights is None else list(weights)
    records = sum(times)
    mean = [sum((x * w for x, w in zip(c, times, strict=True)), Fraction()) / records for c in rows]
    covariance = [
        [
            sum(
                (
                    (x - mean[i]) * (y - mean[j]) * w
                    for x, y, w in zip(a, b, times, strict=True)
                ),
                Fraction(),
            )
            / records
            for j, b in enumerate(rows)
        ]
        for i, a in enumerate(rows)
    ]  # fmt: skip
    return mean, covariance


def counted_rows(
    rows: Sequence[Sequence[object]], weights: Sequence[int] | None = None
) -> dict[tuple[object, ...], int]:
    """How often each row occurs."""
    counts: Counter[tuple[object, ...]] = Counter()
    for i, row in enumerate(rows):
        counts[tuple(row)] += 1 if weights is None else weights[i]
    return dict(counts)


def integer_rule(values: Sequence[int]) -> str:
    """Return the kind by the documented rule for integer columns, word by word."""
    distinct = len(set(values))
    if distinct <= 2:
        return "discrete"
    if distinct <= 10 and len(values) >= distinct * distinct:
        return "discrete"
    return "continuous"
