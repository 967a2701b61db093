"""Write docs/cli.md from the commands themselves.

Run as ``make docs``; a test checks that the page is up to date.
"""

from pathlib import Path
from typing import Any, TypeAlias

import typer

from sges.cli.app import app

ROOT = Path(__file__).parents[1]
Command: TypeAlias = Any  # Typer carries Click inside or needs it outside, by its version
Parameter: TypeAlias = Any

HEAD = """# The command `sges`

Made from the code by `make docs`; `sges COMMAND --help` prints the same text.

* Results go to standard output, everything else to standard error. `--json` prints one JSON
  document and nothing else.
* Colours and progress are shown only at a terminal, not through a pipe.
* `-` in place of a file means standard input.
* Ctrl-C or SIGTERM during a search stops it; the best graph found so far is printed and written.
* Shell completion: `sges --install-completion`.

| exit code | meaning |
| --- | --- |
| 0 | success (also if a time limit, Ctrl-C or SIGTERM ended the search: `complete` is then false) |
| 1 | the command was valid, but the data or a file could not be used |
| 2 | invalid command line: an unknown option or name, or a value out of range |
| 130 | Ctrl-C or SIGTERM before there was a result |

Every error is one line. Files are written completely or not at all.
"""

JSON = {
    "inspect": "`format` `sges-description`, `version` 1, `rows`, `records`, `columns` (each with "
    "`name`, `kind`, `why`, `missing`, `distinct`, and the moments or the `levels`), `findings` "
    "(each with `topic`, `serious`, `columns`, `what` and `advice`), and `notes`.",
    "learn": "a result: `format` is `sges-result`, `version` 1 ([results](how-to/results.md)).",
    "confidence": "`format` `sges-confidence`, `version` 1, `replicates` (asked for), `done`, "
    "`edges` (each with `a`, `b` and its shares), `threshold`, and the `graphs` of all replicates "
    "([confidence](how-to/confidence.md)).",
    "effect": "`format` `sges-effect`, `version` 1, `kind`, `treatment`, `outcome`, `adjustment` "
    "(the variables adjusted for, for each possible set of parents); of kind `linear` also "
    "`values`, `standard_errors` (likewise), `minimum`, `maximum`, `lower_bound` (of the absolute "
    "value), `sign` (1, -1, 0 or null) and `interval` (of level 0.95); of kind `discrete` "
    "`lower_bound`, `changes` (likewise: the largest change of a probability), `levels` (of the "
    "two variables) and `distributions` (likewise: a list per level of the "
    "treatment, null where a probability is unknown). With `--confidence` also "
    "`over_replicates`: `replicates`, `share_nonzero` and `interval`.",
    "effects": "`format` `sges-effects`, `version` 1, `on` and `of` (one of them null), and "
    "`effects`: effects as `effect` prints them, ranked.",
    "measure": "`format` `sges-measures`, `version` 1, `nodes`, `edges` (numbers), and `measures`: "
    "per property its `property`, `option`, `what`, `value` (or the interval `[low, high]` that is "
    "known), `k` (the tightest bound that SGES takes), `clique_bound` and `size_bound` (what it "
    "allows of H, or null).",
    "compare": "`format` `sges-comparison`, `version` 1, `shd`, `missing`, `extra`, `wrong_type`, "
    "`skeleton` and `arrows` (each `precision`, `recall`, `f1`), `true_edges`, `found_edges`, "
    "`same_class`, and `aid` (`parent`, `ancestor`, `oset`, or null).",
    "convert": "`format` `sges-files`, `version` 1, `files`.",
    "plot": "`format` `sges-files`, `version` 1, `files`.",
    "report": "`format` `sges-files`, `version` 1, `files`.",
    "simulate": "`format` `sges-simulation`, `version` 1, `files`, `variables`, `edges`, "
    "`records`, `seed`.",
    "demo": "the result, as `learn` prints it.",
}
"""What ``--json`` prints, by command."""


def page() -> str:
    """Return the text of docs/cli.md."""
    commands = typer.main.get_command(app).commands  # type: ignore[attr-defined]
    return HEAD + "".join(section(name, command) for name, command in commands.items())


def section(name: str, command: Command) -> str:
    """Return the part on one command."""
    arguments = [p for p in command.params if p.param_type_name == "argument"]
    options = [p for p in command.params if p.param_type_name == "option"]
    words = [p.metavar if p.required else f"[{p.metavar}]" for p in arguments]
    rows = [*map(argument_row, arguments), *map(option_row, options)]
    return (
        f"\n## sges {name}\n\n```text\nsges {' '.join([name, *words])} [OPTIONS]\n```\n\n"
        f"{command.help}\n\n| | |\n| --- | --- |\n{''.join(rows)}\n`--json` prints {JSON[name]}\n"
    )


def argument_row(parameter: Parameter) -> str:
    """Return a row of the table for an argument."""
    return f"| `{parameter.metavar}` | {cell(parameter.help)} |\n"


def option_row(parameter: Parameter) -> str:
    """Return a row of the table for an option, with its default unless that is nothing."""
    word = f"{parameter.opts[0]} {parameter.metavar or ''}".strip()
    default = parameter.default
    shown = "" if default in (None, False, ()) else f" Default: `{default}`."
    return f"| `{word}` | {cell(parameter.help)}{shown} |\n"


def cell(text: str | None) -> str:
    """Return text that does not end a cell."""
    return (text or "").replace("|", "\\|")


if __name__ == "__main__":
    (ROOT / "docs" / "cli.md").write_text(page(), encoding="utf-8")
