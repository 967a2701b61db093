"""Selective Greedy Equivalence Search."""
