"""The penalty of a BIC: chosen from data, or by a rule that costs nothing."""

from sges.tools.penalty.selection import (
    choose_penalty,
    extended_bic,
    rule_of_thumb,
)

__all__ = [
    "choose_penalty",
    "extended_bic",
    "rule_of_thumb",
]
