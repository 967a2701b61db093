"""The penalty of a BIC chosen from data, and a rule of thumb that costs nothing."""

from sges.penalty.choice import PenaltyChoice, Tried, Verdict
from sges.penalty.choose import choose_penalty
from sges.penalty.rule import extended_bic, rule_of_thumb

__all__ = ["PenaltyChoice", "Tried", "Verdict", "choose_penalty", "extended_bic", "rule_of_thumb"]
