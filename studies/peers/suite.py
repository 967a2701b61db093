"""Which data: families of problems that differ in size, and presets that take minutes or hours.

A problem is named by all that it is made from, so that its name and seed say which rows of the
results are the same measurement.
"""

from dataclasses import dataclass
from typing import Literal, TypeAlias

from studies.peers.contract import Kind

Source: TypeAlias = Literal["er", "sf", "cpt", "network"]
"""Erdős–Rényi or scale-free linear Gaussian, random tables, or a reference network."""


@dataclass(frozen=True, slots=True)
class Spec:
    """One data set: what it is made from, apart from its seed."""

    source: Source
    d: int
    rows: int
    edges_per_node: int = 0
    network: str = ""
    arity: int = 0
    """The same number of levels for all; 0 is 2 to 4 of them at random."""

    @property
    def kind(self) -> Kind:
        """The kind of data."""
        return "gaussian" if self.source in ("er", "sf") else "discrete"

    @property
    def name(self) -> str:
        """What the data set is called in rows and tables."""
        if self.source == "network":
            return f"{self.network}-m{self.rows}"
        if self.source == "cpt":
            levels = f"-a{self.arity}" if self.arity else ""
            return f"discrete{levels}-d{self.d}-m{self.rows}"
        return f"gaussian-{self.source}{self.edges_per_node}-d{self.d}-m{self.rows}"

    def no_harder_than(self, other: "Spec") -> bool:
        """Tell whether a program that ran out of time here is not worth trying on the other.

        Both are of one kind, random or reference networks, and this one has no more variables,
        edges and rows.
        """
        if self.kind != other.kind or (self.source == "network") != (other.source == "network"):
            return False
        return (
            self.d <= other.d
            and self.edges_per_node <= other.edges_per_node
            and self.arity <= other.arity
            and self.rows <= other.rows
        )


@dataclass(frozen=True, slots=True)
class Preset:
    """Data sets, each with its number of seeds, and the seconds that a run may take."""

    name: str
    limit: float
    problems: tuple[tuple[Spec, int], ...]

    def ordered(self) -> list[tuple[Spec, int]]:
        """Return each data set with its number of seeds, small ones first."""
        return sorted(self.problems, key=lambda p: (p[0].kind != "gaussian", _effort(p[0])))


NETWORKS = {
    "asia": 8,
    "sachs": 11,
    "child": 20,
    "insurance": 27,
    "alarm": 37,
    "hailfinder": 56,
    "hepar2": 70,
    "win95pts": 76,
    "andes": 223,
    "pigs": 441,
}
"""Reference networks and their numbers of variables; pgmpy's wheel carries the files."""


def gaussian(
    source: Literal["er", "sf"], edges_per_node: int, rows: int, sizes: tuple[int, ...]
) -> list[Spec]:
    """Return linear Gaussian data sets of several sizes."""
    return [Spec(source, d, rows, edges_per_node) for d in sizes]


def discrete(rows: int, sizes: tuple[int, ...]) -> list[Spec]:
    """Return data sets from random tables, arity 2 to 4 and at most three parents."""
    return [Spec("cpt", d, rows) for d in sizes]


def networks(*names: str, rows: int = 5_000) -> list[Spec]:
    """Return data sets sampled from reference networks."""
    return [Spec("network", NETWORKS[name], rows, network=name) for name in names]


def _effort(spec: Spec) -> tuple[int, ...]:
    return (
        spec.d,
        spec.edges_per_node,
        spec.rows,
        ("er", "sf", "cpt", "network").index(spec.source),
    )


def _times(seeds: int, *families: list[Spec]) -> tuple[tuple[Spec, int], ...]:
    return tuple((spec, seeds) for family in families for spec in family)


_QUICK = _times(
    1,
    gaussian("er", 2, 10_000, (10, 25, 50)),
    discrete(5_000, (10, 20)),
    networks("asia", "sachs", "child"),
)

_STANDARD = (
    *_times(
        3,
        gaussian("er", 2, 10_000, (25, 50, 100)),
        gaussian("er", 4, 10_000, (50,)),
        gaussian("sf", 2, 10_000, (50,)),
        gaussian("er", 2, 500, (50,)),
        discrete(5_000, (20, 50)),
    ),
    *_times(
        1,
        gaussian("er", 2, 10_000, (200, 500, 1000)),
        gaussian("er", 4, 10_000, (100, 200)),
        gaussian("sf", 2, 10_000, (200,)),
        gaussian("er", 2, 500, (200,)),
        discrete(5_000, (100, 200)),
        discrete(50_000, (50, 200)),
        networks("asia", "sachs", "child", "insurance", "alarm", "hailfinder", "win95pts"),
    ),
)

_SIZES = (25, 50, 100, 200, 500, 1000)

_FULL = (
    *_times(
        5,
        *(
            gaussian(source, edges, rows, _SIZES)
            for source in ("er", "sf")
            for edges in (2, 4)
            for rows in (500, 10_000)
        ),
        *(discrete(rows, (20, 50, 100, 200)) for rows in (5_000, 50_000)),
    ),
    *_times(3, networks(*NETWORKS)),
)

_QUALITY = _times(
    10,
    gaussian("er", 1, 10_000, (50,)),
    gaussian("er", 2, 1_000, (50,)),
    gaussian("er", 2, 10_000, (50, 100)),
    gaussian("er", 2, 100_000, (50,)),
    gaussian("er", 4, 10_000, (30,)),
    gaussian("sf", 2, 10_000, (50,)),
    discrete(1_000, (20,)),
    discrete(10_000, (30,)),
    discrete(100_000, (20,)),
    networks("insurance", "alarm"),
)

PRESETS = {
    preset.name: preset
    for preset in (
        Preset("quick", 10.0, _QUICK),
        Preset("standard", 60.0, _STANDARD),
        Preset("full", 600.0, _FULL),
        Preset("quality", 30.0, _QUALITY),
    )
}
