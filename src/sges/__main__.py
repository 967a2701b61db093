"""``python -m sges`` is the command ``sges``."""

from sges.cli import main

if __name__ == "__main__":
    main()
