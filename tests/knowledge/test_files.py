"""Knowledge in files: round trips, and one-line errors."""

import json
from pathlib import Path

import numpy as np
import pytest

from known import KINDS
from sges.errors import FileError, InvalidArgument, KnowledgeError
from sges.knowledge import Knowledge
from sges.network import random_dag

TOML = """
required = [["smoking", "cancer"]]
forbidden = [["cancer", "age"]]
not_adjacent = [["age", "tiredness"]]
tiers = [["age"], ["smoking", "tiredness"]]
forbid_within = [1]
"""

WRITTEN = Knowledge(
    required=[("smoking", "cancer")],
    forbidden=[("cancer", "age")],
    not_adjacent=[("age", "tiredness")],
    tiers=[["age"], ["smoking", "tiredness"]],
    forbid_within=[1],
)

DEEP, LONG = "[" * 20_000 + "]" * 20_000, "1" * 5000


def test_toml_and_json_say_the_same(tmp_path: Path) -> None:
    toml, text = tmp_path / "known.toml", tmp_path / "known.JSON"
    toml.write_text(TOML, encoding="utf-8")
    text.write_text(json.dumps(WRITTEN.to_dict()), encoding="utf-8")
    assert Knowledge.from_file(toml) == Knowledge.from_file(str(text)) == WRITTEN


def test_a_dict_is_converted_and_converted_back(seed: int) -> None:
    rng = np.random.default_rng(seed)
    for kind in KINDS:
        known = kind(random_dag(6, 8, seed=rng), rng)
        assert Knowledge.from_dict(json.loads(json.dumps(known.to_dict()))) == known


def test_names_of_any_script_survive(tmp_path: Path) -> None:
    path = tmp_path / "known.json"
    path.write_bytes(b"\xef\xbb\xbf" + '{"required": [["größe", "<b>\\"重さ\\""]]}'.encode())
    assert Knowledge.from_file(path).required == (("größe", '<b>"重さ"'),)


@pytest.mark.parametrize(
    ("name", "content", "message"),
    [
        ("a.toml", "required = [[", r"a\.toml: is not valid TOML: .*\(at (line 1|end of document)"),
        ("a.json", '{"required":\n [,]}', r"a\.json: is not valid JSON: .*line 2 column 3"),
        ("a.json", "[]", r"a\.json: knowledge must be a mapping with the keys .*, not \[\]"),
        ("a.yaml", "", r"a\.yaml: a file of knowledge must be named \*\.toml or \*\.json"),
        ("a.toml", 'require = [["a", "b"]]', r"a\.toml: the key 'require' is not known.*required"),
        ("a.toml", 'required = [["a"]]', r"a\.toml: required\[0\]: \['a'\] is not an edge"),
        ("a.json", '{"required": ' + DEEP + "}", r"a\.json: is nested too deeply"),
        ("a.toml", "required = " + DEEP, r"a\.toml: is nested too deeply"),
        ("a.json", f'{{"required": [[{LONG}, 2]]}}', r"a\.json: is not valid JSON: .*digits"),
        ("a.toml", f"required = [[{LONG}, 2]]", r"a\.toml: is not valid TOML: .*digits"),
        ("a.json", '{"required": [["a", {"b": 1}]]}', r"required\[0\]: .* is not a variable"),
        ("a.json", '{"required": [["a", null]]}', r"required\[0\]: None is not a variable"),
        ("a.toml", "required = 2020-01-01", "required: expected a list, not datetime"),
    ],
)
def test_invalid_or_hostile_content_is_refused_in_one_short_line(
    tmp_path: Path, name: str, content: str, message: str
) -> None:
    path = tmp_path / name
    path.write_text(content, encoding="utf-8")
    with pytest.raises(KnowledgeError, match=message) as caught:
        Knowledge.from_file(path)
    assert "\n" not in str(caught.value)
    assert len(str(caught.value)) < len(str(path)) + 250


def test_a_file_that_cannot_be_read_is_an_error(tmp_path: Path) -> None:
    with pytest.raises(FileError, match=r"no\.toml: cannot be read \(No such file"):
        Knowledge.from_file(tmp_path / "no.toml")
    (tmp_path / "folder.toml").mkdir()
    with pytest.raises(FileError, match=r"folder\.toml: cannot be read"):
        Knowledge.from_file(tmp_path / "folder.toml")
    (tmp_path / "latin.json").write_bytes(b'{"\xe9": 1}')
    with pytest.raises(KnowledgeError, match=r"latin\.json: is not UTF-8 text"):
        Knowledge.from_file(tmp_path / "latin.json")
    with pytest.raises(KnowledgeError, match="knowledge must be a mapping"):
        Knowledge.from_dict([])  # type: ignore[arg-type]


def test_knowledge_is_accepted_in_each_of_its_forms(tmp_path: Path) -> None:
    path = tmp_path / "known.toml"
    path.write_text(TOML, encoding="utf-8")
    assert Knowledge.of(WRITTEN) is WRITTEN
    assert Knowledge.of(WRITTEN.to_dict()) == WRITTEN
    assert Knowledge.of(path) == Knowledge.of(str(path)) == WRITTEN
    with pytest.raises(InvalidArgument, match="knowledge = 5: it must be a Knowledge, a mapping"):
        Knowledge.of(5)  # type: ignore[arg-type]
