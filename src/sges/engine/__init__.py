"""The compiled engine: the whole greedy loop in native code."""
