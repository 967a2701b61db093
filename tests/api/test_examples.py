"""The bundled examples: their contents, and that they are the output of the script."""

import sys
from importlib import util
from itertools import product
from pathlib import Path
from types import ModuleType

import numpy as np
import polars as pl
import pytest

from sges import examples
from sges.errors import InvalidArgument
from sges.examples import GREENHOUSE_EFFECTS as EFFECTS
from sges.graph import is_cpdag
from sges.network import BayesianNetwork, LinearGaussian
from sges.properties import MaxParents

ROOT = Path(__file__).parents[2]


def script() -> ModuleType:
    spec = util.spec_from_file_location("make_examples", ROOT / "scripts" / "make_examples.py")
    assert spec is not None
    assert spec.loader is not None
    module = util.module_from_spec(spec)
    sys.modules["make_examples"] = module
    spec.loader.exec_module(module)
    return module


@pytest.mark.parametrize("name", examples.NAMES)
def test_the_bundled_file_is_what_the_script_makes(name: str) -> None:
    made = getattr(script(), f"{name}_csv")()
    assert examples.load(name).path.read_text(encoding="utf-8") == made


def chest_clinic(a: int, t: int, s: int, c: int, b: int, x: int, d: int) -> float:
    """Return the joint probability, from the numbers of Lauritzen & Spiegelhalter (1988)."""

    def chance(yes: float, value: int) -> float:
        return yes if value else 1 - yes

    e = t or c
    breathless = {(1, 1): 0.9, (1, 0): 0.7, (0, 1): 0.8, (0, 0): 0.1}[(e, b)]
    return (
        chance(0.01, a)
        * chance(0.05 if a else 0.01, t)
        * chance(0.5, s)
        * chance(0.1 if s else 0.01, c)
        * chance(0.6 if s else 0.3, b)
        * chance(0.98 if e else 0.05, x)
        * chance(breathless, d)
    )


def test_asia_has_the_published_distribution() -> None:
    network = examples.asia()
    rows = [(a, t, s, c, b, t or c, x, d) for a, t, s, c, b, x, d in product((0, 1), repeat=7)]
    expected = [chest_clinic(*row[:5], *row[6:]) for row in rows]
    assert np.allclose(np.exp(network.log_probability(np.array(rows))), expected, rtol=1e-12)
    assert sum(expected) == pytest.approx(1)
    assert network.names == ("asia", "tub", "smoke", "lung", "bronc", "either", "xray", "dysp")


def test_the_greenhouse_has_an_edge_for_each_effect() -> None:
    model = examples.greenhouse()
    names = model.names
    assert {(names[x], names[y]) for x, y in model.dag.directed_edges()} == set(EFFECTS)
    assert MaxParents.measure(model.dag) == 3


@pytest.mark.parametrize(
    ("name", "kind", "shape"),
    [("asia", BayesianNetwork, (5000, 8)), ("greenhouse", LinearGaussian, (2000, 11))],
)
def test_an_example_is_a_table_with_its_truth(
    name: str, kind: type, shape: tuple[int, int]
) -> None:
    example = examples.load(name)
    assert example.table.shape == shape
    assert pl.DataFrame(example).shape == shape
    assert isinstance(example.network, kind)
    assert is_cpdag(example.truth)
    assert example.truth.names == tuple(example.table.column_names)


def test_an_unknown_example_is_refused_by_name() -> None:
    with pytest.raises(
        InvalidArgument, match="example = 'alarm' is not one of 'asia', 'greenhouse'"
    ):
        examples.load("alarm")


@pytest.mark.parametrize("name", examples.NAMES)
def test_an_example_shows_its_variables_and_its_truth(name: str) -> None:
    example = examples.load(name)
    assert repr(example) == (
        f"Example({name!r}, {example.table.num_rows:,} rows of {example.truth.n} variables)"
    )
    page = example._repr_html_()
    assert "data:image/svg+xml" in page
    assert all(variable in page for variable in example.network.names)
    assert "array(" not in page
