"""``python -m sges.demo``: what ``make demo`` runs, the same as ``sges demo``."""

from sges.cli import main

if __name__ == "__main__":
    main(["demo"])
