"""What cannot be combined: one table, and the one function that refuses.

Whatever is not in the table works together.  ``docs/promises.md`` shows the table to users, and
``tests/api/test_combinations.py`` tries all pairs of features.  A new feature adds its rows here,
and is passed to ``refuse`` where it becomes known.
"""

from string import Formatter

from sges.errors import DataError, InvalidArgument, Message, SgesError, Spelling

SCORE_ALONE = (
    " cannot be combined with a score object ({score_object}), which has its own data; give the "
    "table and the score's name or class, or the score alone"
)
ONE_BY_ONE = "=True cannot be combined with a bound chosen automatically"
NEEDS_PROPERTY = "=True needs a property; pass it as assume="
TWO_PHASES = "=True applies to two-phase search only; interleaved search always does this"
TOO_MANY = " a variable {most} parents, more than {max_indegree} allows; "

REFUSED: tuple[tuple[str, str, str], ...] = (
    # Strategies and assumptions
    ("turning", "interleaved", "turning" + TWO_PHASES),
    ("repeat", "interleaved", "repeat" + TWO_PHASES),
    (
        "order",
        "two_phases",
        'order=True applies to interleaved search only; for two phases use forward="order"',
    ),
    ("exact", "bound_from_data", "exact" + ONE_BY_ONE),
    ("drop_large", "bound_from_data", "drop_large" + ONE_BY_ONE),
    ("exact", "no_property", "exact" + NEEDS_PROPERTY),
    ("drop_large", "no_property", "drop_large" + NEEDS_PROPERTY),
    (
        "drop_large",
        "no_bound_on_cliques",
        "drop_large=True needs a bound on cliques, which {assume} does not have",
    ),
    ("exact", "exogenous", "exact=True cannot be combined with exogenous variables"),
    (
        "own_property",
        "exogenous",
        "{own_property} is evaluated after each delete, which cannot be combined with exogenous "
        "variables; assume a property with a bound, such as MaxParents",
    ),
    # Starts
    (
        "forward_complete",
        "start",
        'forward = "complete" already determines the start; give forward= or start=, not both',
    ),
    (
        "forward_complete",
        "max_indegree",
        "the complete graph, from which this search starts, gives" + TOO_MANY + "start from a "
        "sparser graph, or allow more",
    ),
    (
        "start",
        "max_indegree",
        "the start gives" + TOO_MANY + "give a sparser start, or allow more",
    ),
    (
        "required_edges",
        "max_indegree",
        "the required edges give" + TOO_MANY + "require fewer edges, or allow more",
    ),
    # Scores and tables
    ("score_object", "table", "a table" + SCORE_ALONE),
    ("score_object", "reading", "{reading}=" + SCORE_ALONE),
    (
        "score_object",
        "checkpoint",
        "checkpoint= needs a table to identify the run; a score object has no table",
    ),
    (
        "moments",
        "reading",
        "{reading}= applies to reading a table; Moments have already been read",
    ),
    (
        "made_score",
        "penalty_number",
        "penalty = {penalty_number} applies only to scores given by name; this one is given as "
        "{made_score}: set its penalty there",
    ),
    (
        "made_score",
        "penalty_choose",
        "penalty = 'choose' needs a table and the name of a score with a penalty",
    ),
    (
        "score_without_penalty",
        "penalty_number",
        "{argument} = {penalty_number:g}: score {score_without_penalty!r} accepts no penalty; "
        "{instead}",
    ),
    (
        "score_without_penalty",
        "penalty_choose",
        "score {score_without_penalty!r} has no penalty; scores with a penalty are {penalized}",
    ),
    (
        "moments",
        "penalty_choose",
        "Moments contain no records that could be held out; give the table, or use "
        "sges.tools.penalty.rule_of_thumb",
    ),
    (
        "survey_weights",
        "penalty_choose",
        "the penalty cannot be chosen on parts of a table with survey weights; give a number, or "
        "choose it without the weights",
    ),
)
"""Two features that cannot be combined, and the message, with the values that were passed."""

ERRORS: dict[str, type[SgesError]] = {"survey_weights": DataError}
"""The features of tables: they raise another error than arguments do."""


def refuse(**features: object) -> None:
    """Raise an error for the first two features that are given and cannot be combined.

    A feature is given if its value is neither None nor False.  Further values, which are no
    features, complete the messages.

    >>> refuse(exact=True, bound_from_data=False)
    >>> refuse(exact=True, bound_from_data=True)
    Traceback (most recent call last):
    ...
    sges.errors.InvalidArgument: exact=True cannot be combined with a bound chosen automatically
    """
    given = {word for word, value in features.items() if value is not None and value is not False}
    for feature, other, message in REFUSED:
        if feature in given and other in given:
            raise ERRORS.get(feature, InvalidArgument)(_written(message, features))


def _written(message: str, values: dict[str, object]) -> Message:
    """Return a message with its values; those that are spelled differently in a shell stay so."""
    parts: list[str | Spelling] = []
    formatter = Formatter()
    for text, field, form, conversion in formatter.parse(message):
        parts.append(text)
        if field is not None:
            value = formatter.convert_field(values[field], conversion)
            parts.append(value if isinstance(value, Spelling) else format(value, form or ""))
    return Message(*parts)
