"""Print the libraries that sges needs, and those of the named extras, for ``pip install -r``.

python scripts/requirements.py test
python scripts/requirements.py --build   # what builds it, instead
"""

import sys
import tomllib
from pathlib import Path

PROJECT = Path(__file__).resolve().parents[1] / "pyproject.toml"


def main(extras: list[str]) -> None:
    """Print one requirement on each line."""
    file = tomllib.loads(PROJECT.read_text(encoding="utf-8"))
    project = file["project"]
    if extras == ["--build"]:
        print(*file["build-system"]["requires"], sep="\n")
        return
    lists = [project["dependencies"], *(project["optional-dependencies"][name] for name in extras)]
    print(*(requirement for each in lists for requirement in each), sep="\n")


if __name__ == "__main__":
    main(sys.argv[1:])
