"""Scores: what a family is worth, from data or from an oracle."""
