"""BIF files: round trips, comparison with pyAgrum, and one-line errors for damaged files."""

from pathlib import Path

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from sges.errors import FileError, NetworkError
from sges.graph import PDAG
from sges.network import BayesianNetwork, random_structure, read_bif, write_bif
from sges.network.bif import _lines, network_of_bif

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


def test_a_file_is_read_with_its_names_levels_and_tables(tmp_path: Path) -> None:
    path = tmp_path / "sprinkler.bif"
    path.write_text(SPRINKLER)
    network = read_bif(path)
    assert network.names == ("wet", "rain", "sprinkler")
    assert network.levels == (("no", "yes"), ("none", "some", "much"), ("off", "on"))
    assert network.dag == PDAG.from_edges(3, [(1, 0), (1, 2), (2, 0)])
    assert network.cpts[0][0, 1].tolist() == pytest.approx([0.3, 0.7], abs=1e-15)
    assert network.cpts[0][2, 0].tolist() == pytest.approx([0.1, 0.9], abs=1e-15)
    assert network.cpts[1].sum() == pytest.approx(1, abs=1e-15)
    assert network.cpts[1][0] == pytest.approx(0.5 / 0.9999, abs=1e-15)


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
        assert all(map(np.array_equal, network.cpts, back.cpts))
    assert [file.name for file in tmp_path.iterdir()] == ["a.bif"]


@given(st.lists(st.floats(1e-9, 1e9), min_size=1, max_size=9), st.booleans())
def test_every_probability_is_read_as_it_was_written(
    weights: list[float], in_a_file_of_six_digits: bool
) -> None:
    row = np.array(weights) / sum(weights)
    if in_a_file_of_six_digits:  # its rows are scaled when it is read, and not again
        numbers = ", ".join(f"{p:.6f}" for p in row)
        levels = ", ".join(f"v{i}" for i in range(len(row)))
        network = network_of_bif(
            f"variable x {{ type discrete [ {len(row)} ] {{ {levels} }}; }}\n"
            f"probability ( x ) {{ table {numbers}; }}"
        )
    else:
        network = BayesianNetwork(PDAG.empty(1), [row])
    text = "\n".join(_lines(network))
    assert network_of_bif(text).cpts[0].tolist() == network.cpts[0].tolist()
    assert BayesianNetwork(network.dag, network.cpts).cpts[0].tolist() == network.cpts[0].tolist()


def test_files_that_are_not_networks_are_refused_in_one_line(tmp_path: Path) -> None:
    path = tmp_path / "a.bif"
    with pytest.raises(FileError, match=r"a\.bif: cannot be read \(No such file"):
        read_bif(path)
    path.write_text("nonsense")
    with pytest.raises(NetworkError, match="is not a BIF file") as caught:
        read_bif(path)
    assert "\n" not in str(caught.value)
    path.write_text(SPRINKLER.replace("0.5, 0.3333, 0.1666", "0.5, 0.3333"))
    with pytest.raises(NetworkError, match="variable 'rain': the table has 2 numbers"):
        read_bif(path)


def test_a_network_that_bif_cannot_hold_leaves_the_file_as_it_was(tmp_path: Path) -> None:
    path = tmp_path / "a.bif"
    path.write_text("kept")
    with pytest.raises(NetworkError, match="cannot be written as BIF"):
        write_bif(BayesianNetwork(PDAG.empty(1), [np.array([1.0, 0.0])], ["two words"]), path)
    assert path.read_text() == "kept"
    assert [file.name for file in tmp_path.iterdir()] == ["a.bif"]


@pytest.mark.parametrize(
    ("old", "new", "message"),
    [
        ("0.1666", "0.2666", r"variable 'rain': the probabilities of a row add up to 1\.0999"),
        ("0.1666", "nan", "variable 'rain': the probabilities of a row add up to nan"),
        ("0.1666", "1e999", "variable 'rain': the probabilities of a row add up to inf"),
        ("0.5, 0.3333, 0.1666", "-0.5, 0.5, 1.0", "-0.5; a probability must be 0 or more"),
        ("0.1666", "much", "line 6: 'much' is not a number"),
        ("0.5, 0.3333", "half, 0.3333", "line 6: 'half' is not a number"),
        ("[ 3 ]", "[ 4 ]", "variable 'rain' has 3 levels, and 4 are declared"),
        (
            "some, much",
            "some, some",
            "levels, and 3 are declared; the numbers must be equal, and the levels all different",
        ),
        ("type discrete [ 2 ] { no, yes };", "", "variable 'wet' has no levels"),
        ("type discrete [ 2 ] { no", "type real [ 2 ] { no", "line 3: 'real' is not 'discrete'"),
        ("(some) 0.9, 0.1;", "", "variable 'sprinkler' has 2 rows; its parents have 3"),
        ("(some)", "(none)", r"the row of \('none',\) is given twice"),
        ("(some)", "(none, none)", "is not a configuration of its parents"),
        ("(some)", "(snow)", "is not a configuration of its parents"),
        ("(some)", "()", r"\(\) is not a configuration of its parents"),
        ("(some) 0.9, 0.1", "(some) 0.9", "a row has 1 numbers; it must have 2"),
        ("probability ( rain ) { table 0.5, 0.3333, 0.1666; }", "", "of 'rain' are missing"),
        ("( rain )", "( rian )", "'rian' has probabilities, but is not declared"),
        ("0.05, 0.95;\n}", "0.05, 0.95;\n", "unexpected end of file; expected "),
        ("sprinkler | rain", "sprinkler | fog", "the parent 'fog' of 'sprinkler' is not a"),
        ("( rain ) {", "( rain | wet ) {", "was already given; there is at most one edge per pair"),
        ("variable rain", "variable wet", "the variable 'wet' is declared twice"),
        ("( sprinkler | rain )", "( rain | sprinkler )", "of 'rain' are given twice"),
        ("probability ( rain )", "likelihood ( rain )", "line 6: 'likelihood' is not 'network'"),
        (
            "network unknown { }",
            "network unknown {",
            "'wet' has probabilities, but is not declared",
        ),
        (SPRINKLER, "", "it declares no variables"),
        (SPRINKLER, "/* " * 1000, "it declares no variables"),
    ],
)
def test_an_invalid_file_is_a_one_line_error(
    tmp_path: Path, old: str, new: str, message: str
) -> None:
    assert old in SPRINKLER
    path = tmp_path / "a.bif"
    path.write_text(SPRINKLER.replace(old, new, 1))
    with pytest.raises(NetworkError, match=message) as caught:
        read_bif(path)
    assert "\n" not in str(caught.value)


def test_many_parents_in_a_short_file_take_no_memory(tmp_path: Path) -> None:
    names = [f"v{i}" for i in range(60)]
    text = "".join(f"variable {v} {{ type discrete [ 2 ] {{ a, b }}; }}\n" for v in names)
    text += "".join(f"probability ( {v} ) {{ table 0.5, 0.5; }}\n" for v in names[1:])
    path = tmp_path / "a.bif"
    for row in ("default 0.5, 0.5;", "(a) 0.5, 0.5;", "table 0.5, 0.5;", ""):
        path.write_text(text + f"probability ( v0 | {', '.join(names[1:])} ) {{ {row} }}")
        with pytest.raises(NetworkError):
            read_bif(path)


def test_a_table_a_default_row_quotes_and_comments_are_understood(tmp_path: Path) -> None:
    path = tmp_path / "a.bif"
    path.write_text("""
        // a comment
        network "two words" { property author "somebody; else" ; }
        variable "a b" { type discrete [2] {<5, 5+}; property x = 1; }
        variable c { type discrete[3] { c0 c1 c2 }; }
        variable d { type discrete[2] { no, yes }; }
        probability ("a b") { table 0.3 0.7; /* unread */ }
        probability (c | "a b") { table 0.1 0.2 0.3 0.4 0.6 0.4; }
        probability (d | c, "a b") { default 0.5 0.5; (c1, <5) 1.0, 0.0; property y; }
    """)
    network = read_bif(path)
    assert network.names == ("a b", "c", "d")
    assert network.levels[0] == ("<5", "5+")
    assert network.cpts[1].tolist() == [[0.1, 0.3, 0.6], [0.2, 0.4, 0.4]]
    assert network.cpts[2].tolist() == [
        [[0.5, 0.5], [1.0, 0.0], [0.5, 0.5]],
        [[0.5, 0.5], [0.5, 0.5], [0.5, 0.5]],
    ]


def test_pyagrum_reads_what_we_write_and_we_read_what_it_writes(tmp_path: Path, seed: int) -> None:
    gum = pytest.importorskip("pyagrum")
    network = BayesianNetwork.random(random_structure(7, 3, seed), [2, 3, 2, 4, 2, 3, 2], seed=seed)
    write_bif(network, tmp_path / "ours.bif")
    theirs = gum.loadBN(str(tmp_path / "ours.bif"))
    theirs.saveBIF(str(tmp_path / "theirs.bif"))
    back = read_bif(tmp_path / "theirs.bif")
    assert back.names == network.names
    assert back.dag == network.dag
    for one, other in zip(network.cpts, back.cpts, strict=True):
        assert other == pytest.approx(one, abs=1e-6)  # pyAgrum reads single precision
