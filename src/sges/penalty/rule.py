"""A penalty from the size of the table alone: the extended BIC, read as a multiplier.

The BIC prices a parameter at ½ log m.  It was made for a fixed number of models, and with n
variables each node has about n candidate parents, of which chance lets some look useful.  The
extended BIC of Chen & Chen (2008), for graphs Foygel & Drton (2010), adds 2γ log n to each edge,
which is the multiplier

    penalty = 1 + 4γ log n / log m

γ = 0 is the BIC, and 0.5 is usual.  An edge between discrete columns has many parameters, and the
multiplier would charge each of them: where there are such columns, the rule is 1.
"""

from math import isfinite, log

from sges.data import Dataset, Moments
from sges.errors import InvalidArgument

GAMMA = 0.5
"""How much the number of variables counts, unless told otherwise."""


def rule_of_thumb(data: Dataset | Moments, gamma: float = GAMMA) -> float:
    """Return the extended BIC of a table as a multiplier; 1 if it has discrete columns.

    >>> import numpy as np
    >>> rule_of_thumb(Moments(("a", "b"), 4, np.zeros(2), np.eye(2)))
    2.0
    """
    if isinstance(data, Dataset) and data.discrete:
        return 1.0
    return extended_bic(len(data.names), data.records, gamma)


def extended_bic(variables: int, records: float, gamma: float = GAMMA) -> float:
    """Return 1 + 4γ log(variables) / log(records).

    >>> extended_bic(100, 10_000), round(extended_bic(100, 1000), 2)
    (2.0, 2.33)
    """
    if variables < 1 or not 2 <= records < float("inf"):
        raise InvalidArgument(
            f"{variables} variables and {records:g} records: the rule needs one variable and two "
            "records at least"
        )
    if not (isfinite(gamma) and gamma >= 0):
        raise InvalidArgument(f"gamma = {gamma}: it must be a finite number, 0 or more")
    return 1 + 4 * gamma * log(variables) / log(records)
