"""Tables as pandas frames, for the libraries that take one."""

from typing import Any

from studies.peers.contract import Table


def frame_of(table: Table, labels: bool = False) -> Any:  # noqa: ANN401 (pandas, where it is)
    """Return a frame of floats, or of categories: level numbers, or words for them."""
    import pandas as pd  # type: ignore[import-untyped]

    if table.kind == "gaussian":
        return pd.DataFrame(table.values, columns=table.columns)
    columns = {}
    for name, codes, arity in zip(table.columns, table.values.T, table.arities, strict=True):
        levels = [f"v{level}" for level in range(arity)] if labels else list(range(arity))
        columns[name] = pd.Categorical.from_codes(codes.astype(int), categories=levels)
    return pd.DataFrame(columns)
