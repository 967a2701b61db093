"""BIF files: there and back through pyAgrum, and clear words when it, or the file, is missing."""

import sys
from pathlib import Path

import numpy as np
import pytest

from sges.errors import MissingLibrary, NetworkError
from sges.graph import PDAG
from sges.network import BayesianNetwork, random_structure, read_bif, write_bif

SPRINKLER = """
network unknown { }
variable wet { type discrete [ 2 ] { no, yes }; }
variable rain { type discrete [ 3 ] { none, some, much }; }
variable sprinkler { type discrete [ 2 ] { off, on }; }
probability ( rain ) { table 0.5, 0.3333, 0.1666; }
probability ( sprinkler | rain ) { (none) 0.2, 0.8; (some) 0.9, 0.1; (much) 1.0, 0.0; }
probability ( wet | sprinkler, rain ) {
  (off, none) 1.0, 0.0; (on, none) 0.3, 0.7; (off, some) 0.4, 0.6;
  (on, some) 0.2, 0.8; (off, much) 0.1, 0.9; (on, much) 0.05, 0.95;
}
"""


@pytest.fixture
def library() -> None:
    """Skip, visibly, where the optional library is not installed."""
    pytest.importorskip("pyagrum", reason="pyAgrum, the optional extra for BIF, is not installed")


def test_without_the_library_the_error_says_what_to_install(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setitem(sys.modules, "pyagrum", None)
    with pytest.raises(MissingLibrary, match=r"pip install 'sges\[bif\]'"):
        read_bif(tmp_path / "a.bif")
    with pytest.raises(ImportError, match="pyAgrum"):
        write_bif(BayesianNetwork.random(PDAG.empty(1)), tmp_path / "a.bif")


@pytest.mark.usefixtures("library")
def test_a_file_is_read_with_its_names_levels_and_tables(tmp_path: Path) -> None:
    path = tmp_path / "sprinkler.bif"
    path.write_text(SPRINKLER)
    network = read_bif(path)
    assert network.names == ("wet", "rain", "sprinkler")
    assert network.levels == (("no", "yes"), ("none", "some", "much"), ("off", "on"))
    assert network.dag == PDAG.from_edges(3, [(1, 0), (1, 2), (2, 0)])
    assert network.cpts[0][0, 1].tolist() == pytest.approx([0.3, 0.7], abs=1e-7)
    assert network.cpts[0][2, 0].tolist() == pytest.approx([0.1, 0.9], abs=1e-7)
    assert network.cpts[1].sum() == pytest.approx(1, abs=1e-15)
    assert network.cpts[1][0] == pytest.approx(0.5 / 0.9999, abs=1e-7)


@pytest.mark.usefixtures("library")
def test_writing_and_reading_gives_the_same_network(tmp_path: Path, seed: int) -> None:
    for n in (1, 2, 8):
        network = BayesianNetwork.random(
            random_structure(n, 3, seed), [2 + v % 3 for v in range(n)], seed=seed
        )
        write_bif(network, tmp_path / "a.bif")
        back = read_bif(tmp_path / "a.bif")
        assert back.dag == network.dag
        assert back.names == network.names
        assert back.levels == tuple(tuple(map(str, range(r))) for r in network.arities)
        for one, other in zip(network.cpts, back.cpts, strict=True):
            assert other == pytest.approx(one, abs=1e-6)  # read in single precision
    assert [file.name for file in tmp_path.iterdir()] == ["a.bif"]


@pytest.mark.usefixtures("library")
def test_files_that_are_not_networks_are_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "a.bif"
    with pytest.raises(NetworkError, match="no such file"):
        read_bif(path)
    path.write_text("nonsense")
    with pytest.raises(NetworkError, match="is not a BIF file") as caught:
        read_bif(path)
    assert "\n" not in str(caught.value)
    path.write_text(SPRINKLER.replace("0.5, 0.3333, 0.1666", "0.5, 0.3333"))
    with pytest.raises(NetworkError, match=r"variable rain: .* add up to 0\.8333"):
        read_bif(path)


@pytest.mark.usefixtures("library")
def test_a_network_that_bif_cannot_hold_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a.bif"
    path.write_text("kept")
    with pytest.raises(NetworkError, match="cannot be written as BIF"):
        write_bif(BayesianNetwork(PDAG.empty(1), [np.array([1.0, 0.0])], ["two words"]), path)
    assert path.read_text() == "kept"
    assert [file.name for file in tmp_path.iterdir()] == ["a.bif"]
