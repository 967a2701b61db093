"""Every public name documents its parameters and what it returns in ``help()``.

Their docstrings follow numpydoc, whose own checks are used:
https://numpydoc.readthedocs.io/en/latest/validation.html
"""

import inspect

import pytest
from numpydoc.docscrape import get_doc_object
from numpydoc.validate import validate

from public import public_methods, public_names
from sges.docstrings import documented_like

CHECKS = {
    "GL06": "an unknown section",
    "GL07": "sections in another order than numpydoc's",
    "GL08": "no docstring",
    "PR01": "a parameter that is not documented",
    "PR02": "a documented parameter that does not exist",
    "PR03": "parameters in another order than in the signature",
    "PR07": "a parameter without a description",
    "RT01": "no Returns section, although something is returned",
    "RT03": "a returned value without a description",
    "SS01": "no summary",
    "SS02": "a summary that does not begin with a capital letter",
    "SS03": "a summary that does not end with a period",
    "YD01": "no Yields section in a generator",
}
# The summary of a method without arguments describes its result: "Return the number of ...".
SHORT = {"RT01", "YD01"}


def without_arguments(thing: object) -> bool:
    """Return whether a method has no parameters except its object."""
    names = [name for name in inspect.signature(thing).parameters if name not in ("self", "cls")]  # type: ignore[arg-type]
    return not names


def problems(name: object, unchecked: set[str] = frozenset()) -> list[str]:  # type: ignore[assignment]
    return [
        f"{code}: {message}"
        for code, message in validate(name)["errors"]
        if code in CHECKS and code not in unchecked
    ]


@pytest.mark.parametrize("name", sorted(public_names()))
def test_a_public_name_documents_its_parameters_and_what_it_returns(name: str) -> None:
    abstract = getattr(public_names()[name], "_is_protocol", False)  # protocols are not constructed
    assert problems(name, {"PR01"} if abstract else set()) == []


@pytest.mark.parametrize("name", sorted(public_methods()))
def test_a_public_method_documents_its_parameters_and_what_it_returns(name: str) -> None:
    short = SHORT if without_arguments(public_methods()[name]) else set()
    assert problems(name, short) == []


def test_public_names_are_found() -> None:
    assert {"sges.learn", "sges.PDAG", "sges.search.ges", "sges.score.BDeu"} <= set(public_names())
    assert "sges.PDAG.from_edges" in public_methods()


def half_documented(x: int, y: int) -> int:
    """Return the sum.

    Parameters
    ----------
    x : int
        One number.
    """
    return x + y


def test_what_a_docstring_leaves_out_is_found() -> None:
    found = problems(get_doc_object(half_documented))
    assert [problem.split(":")[0] for problem in found] == ["PR01", "RT01"]


SHARED = """What others share.

Parameters
----------
z : int
    A third number.
x : int
    Another text.
y : int
    The other number.

Returns
-------
int
    The sum.
"""


def test_a_docstring_takes_what_it_leaves_out_from_its_model_and_nothing_else() -> None:
    def f(x: int, y: int) -> int:
        """Return the sum.

        Parameters
        ----------
        x : int
            One number.
        """
        return x + y

    doc = get_doc_object(documented_like(SHARED)(f))
    assert [(one.name, one.desc) for one in doc["Parameters"]] == [
        ("x", ["One number."]),
        ("y", ["The other number."]),
    ]
    assert [one.desc for one in doc["Returns"]] == [["The sum."]]
    assert problems(doc) == []
