"""Comparisons with other programs; see README.md in this folder."""
