"""Rows on disk: appended one by one, and readable after a run was killed."""

import csv
from pathlib import Path

from studies.frame import ExperimentError, Row, Value


class Table:
    """A CSV file of rows with a fixed header.

    A line counts once its end is written: what a killed run left of a line is cut off.
    """

    def __init__(self, path: Path, header: tuple[str, ...]) -> None:
        self.path, self.header = path, header
        path.parent.mkdir(parents=True, exist_ok=True)
        if not path.exists() or not self._cut_torn_line():
            path.write_text(",".join(header) + "\n", encoding="utf-8")
        self._check_header()

    def rows(self) -> list[Row]:
        """Return all rows, numbers as numbers."""
        with self.path.open(encoding="utf-8", newline="") as file:
            return [{k: parsed(v) for k, v in row.items()} for row in csv.DictReader(file)]

    def append(self, row: Row) -> None:
        """Write one row to the end, whole."""
        with self.path.open("a", encoding="utf-8", newline="") as file:
            writer = csv.DictWriter(file, self.header, lineterminator="\n")
            writer.writerow({key: written(value) for key, value in row.items()})

    def _cut_torn_line(self) -> bool:
        """Cut off what follows the last line end; tell whether anything is left."""
        text = self.path.read_bytes()
        whole = text[: text.rfind(b"\n") + 1]
        if whole != text:
            self.path.write_bytes(whole)
        return bool(whole)

    def _check_header(self) -> None:
        with self.path.open(encoding="utf-8") as file:
            found = tuple(file.readline().rstrip("\n").split(","))
        if found != self.header:
            raise ExperimentError(
                f"{self.path} has the columns {', '.join(found)}; this experiment writes "
                f"{', '.join(self.header)}: give another directory, or remove the file"
            )


def written(value: Value) -> str:
    """Return a value as it is written: numbers short, but to ten digits."""
    return f"{value:.10g}" if isinstance(value, float) else str(value)


def parsed(text: str) -> Value:
    """Return a number if the text is one, else the text.

    >>> parsed("12"), parsed("1.5"), parsed("sbes")
    (12, 1.5, 'sbes')
    """
    for kind in (int, float):
        try:
            return kind(text)
        except ValueError:
            continue
    return text
