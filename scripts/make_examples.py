"""Write the bundled tables of ``sges.examples``: samples of the networks defined there.

Run it by hand when a network changes; a test checks that the files are up to date.
"""

import io
from pathlib import Path

import numpy as np

from sges.examples import GREENHOUSE_UNITS as UNITS
from sges.examples import asia, greenhouse

HOME = Path(__file__).parents[1] / "src" / "sges" / "examples"
SIZES = {"asia": 5000, "greenhouse": 2000}
SEED = 2015


def asia_csv() -> str:
    """Return the ASIA sample as CSV."""
    data = asia().sample(SIZES["asia"], SEED)
    labels = np.array(["no", "yes"])[data.codes.T.astype(int)]
    lines = [",".join(data.names), *(",".join(row) for row in labels)]
    return "\n".join(lines) + "\n"


def greenhouse_csv() -> str:
    """Return the greenhouse sample as CSV, in the units of the table."""
    data = greenhouse().sample(SIZES["greenhouse"], SEED)
    mean, unit = np.array(list(UNITS.values())).T
    text = io.StringIO()
    header = ",".join(data.names)
    np.savetxt(text, mean + unit * data.values.T, "%.2f", ",", header=header, comments="")
    return text.getvalue()


if __name__ == "__main__":
    (HOME / "asia.csv").write_text(asia_csv(), encoding="utf-8")
    (HOME / "greenhouse.csv").write_text(greenhouse_csv(), encoding="utf-8")
