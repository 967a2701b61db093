"""The commands put together, and the one place where errors become a line and an exit code."""

import os
import sys
from collections.abc import Callable
from typing import Annotated, cast

import typer

from sges import __version__
from sges.cli.compare import compare
from sges.cli.demo import demo
from sges.cli.learn import learn
from sges.cli.measure import measure
from sges.cli.simulate import simulate
from sges.errors import InvalidArgument, InvalidProperty, SgesError, in_shell

BAD_DATA, WRONG_USE, INTERRUPTED = 1, 2, 130

# Typer carries Click inside, or needs it outside, depending on its version; either way this is
# the base of its errors.
UsageError = typer.BadParameter.__bases__[0]
ClickError = cast("type[Exception]", UsageError.__bases__[0])

app = typer.Typer(
    name="sges",
    help="Learn the equivalence class of a Bayesian network by Selective Greedy Equivalence "
    "Search (Chickering & Meek 2015).",
    epilog="Exit codes: 0 done, 1 the data would not do, 2 the command was wrong.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def prose(function: Callable[..., None]) -> str:
    """Return a docstring with each paragraph on one line, to be wrapped where it is shown."""
    paragraphs = (function.__doc__ or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


for command in (learn, measure, compare, simulate, demo):
    app.command(help=prose(command))(command)


def _show_version(wanted: bool) -> None:
    if wanted:
        from sges.search.engines import IS_USED

        engine = "compiled engine" if IS_USED else "reference engine: plain Python"
        typer.echo(f"sges {__version__} ({engine})")
        raise typer.Exit


@app.callback()
def options(
    version: Annotated[
        bool,
        typer.Option(
            "--version", callback=_show_version, is_eager=True, metavar="", help="Show the version."
        ),
    ] = False,
) -> None:
    """Take the options that stand before the command."""


def main(arguments: list[str] | None = None) -> None:
    """Run the command ``sges``, and exit with its code.

    Parameters
    ----------
    arguments : list of str, optional
        The words after ``sges``; by default those of the command line.
    """
    sys.exit(run(arguments))


def run(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit code; errors become one line on standard error."""
    try:
        code = app(arguments, prog_name="sges", standalone_mode=False)
        sys.stdout.flush()
    except ClickError as error:
        return complain(usage_line(error), WRONG_USE)
    except (InvalidArgument, InvalidProperty) as error:
        return complain(in_shell(error), WRONG_USE)
    except SgesError as error:
        return complain(in_shell(error), BAD_DATA)
    except BrokenPipeError:  # the reader has seen enough; nobody is left to be told
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 0
    except OSError as error:
        return complain(file_line(error), BAD_DATA)
    except MemoryError:
        return complain("there is not enough memory for this", BAD_DATA)
    except (KeyboardInterrupt, typer.Abort):
        code = INTERRUPTED
    if code == INTERRUPTED:  # as which newer versions of Typer return Ctrl-C
        return complain("interrupted; nothing was written", INTERRUPTED)
    return code if isinstance(code, int) else 0


def complain(message: str, code: int) -> int:
    """Write one line on standard error, and return the exit code."""
    line = " ".join(message.split())
    sys.stderr.write(f"sges: {line}\n")
    return code


def usage_line(error: Exception) -> str:
    """Return what is wrong with a command line, and where to read how it would be right."""
    context = getattr(error, "ctx", None)
    path = "sges" if context is None else context.command_path
    said = getattr(error, "format_message", error.__str__)()
    if said.startswith("No such command 'reproduce'"):
        return "the experiments are run from a checkout of the repository: python -m studies"
    return f"{said.rstrip('.') or 'a command is missing'}; see {path} --help"


def file_line(error: OSError) -> str:
    """Return what the system said about a file."""
    name = f"{error.filename}: " if error.filename else ""
    return f"{name}{error.strerror or error}"
