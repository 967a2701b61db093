"""Graphs: values, equivalence classes, chordality, separation."""
