"""The command ``sges``: its commands, and the one place where errors become an exit code."""

import errno
import os
import signal
import sys
from collections.abc import Callable
from typing import Annotated, Any, cast

import typer
from typer.core import TyperCommand, TyperGroup

from sges import __version__
from sges.cli import INTERRUPTED, INVALID_COMMAND, INVALID_DATA, at_signals
from sges.cli.effects import effect, effects
from sges.cli.graphs import compare, convert, measure, plot, report, simulate
from sges.cli.learn import confidence, demo, inspect, learn
from sges.cli.terminal import check_streams, remark, say
from sges.errors import InvalidArgument, InvalidProperty, SgesError, in_shell

INTERRUPTION = "interrupted; nothing was written"

# Typer includes Click or imports it, depending on its version; in both cases this is the base of
# its errors.
UsageError = cast("type[Exception]", typer.BadParameter.__bases__[0])
ClickError = cast("type[Exception]", UsageError.__bases__[0])


class _Plain:
    """A command whose help shows no type for flags, and whose errors name the command."""

    def parse_args(self, context: Any, arguments: list[str]) -> Any:  # noqa: ANN401 (of Click)
        try:
            return super().parse_args(context, arguments)  # type: ignore[misc]
        except UsageError as error:
            error.ctx = error.ctx or context  # type: ignore[attr-defined]
            raise

    def get_params(self, context: Any) -> list[Any]:  # noqa: ANN401 (of Click)
        parameters: list[Any] = super().get_params(context)  # type: ignore[misc]
        for parameter in parameters:
            if getattr(parameter, "is_flag", False):
                parameter.metavar = parameter.metavar or ""
        return parameters


class _Command(_Plain, TyperCommand):
    pass


class _Group(_Plain, TyperGroup):
    pass


app = typer.Typer(
    name="sges",
    cls=_Group,
    help="Learn the equivalence class of a Bayesian network by Selective Greedy Equivalence "
    "Search (Chickering & Meek 2015).",
    epilog="Exit codes: 0 done, 1 invalid data or file, 2 invalid command line.",
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    context_settings={"help_option_names": ["-h", "--help"]},
)


def prose(function: Callable[..., None]) -> str:
    """Return a docstring with each paragraph on one line, to be wrapped where it is shown."""
    paragraphs = (function.__doc__ or "").split("\n\n")
    return "\n\n".join(" ".join(paragraph.split()) for paragraph in paragraphs)


COMMANDS = (
    inspect, learn, confidence, effect, effects, measure, compare, convert, plot, report, simulate,
    demo,
)  # fmt: skip
for command in COMMANDS:
    app.command(help=prose(command), cls=_Command)(command)


def _show_version(wanted: bool) -> None:
    if wanted:
        say(f"sges {__version__}")
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
    """Handle the options given before the command name."""


def run(arguments: list[str] | None = None) -> int:
    """Run the command and return its exit code; errors become one line on standard error."""
    try:
        check_streams()
        with at_signals(signal.default_int_handler, signal.SIGTERM):  # the same as for Ctrl-C
            code: int = app(arguments, prog_name="sges", standalone_mode=False) or 0
            sys.stdout.flush()
        if code != INTERRUPTED:  # which newer versions of Typer return for Ctrl-C
            return code
        message = INTERRUPTION
    except (BrokenPipeError, SystemExit) as error:
        if BrokenPipeError not in (type(error), type(error.__context__)):
            raise
        _drop_output()  # Typer exits with 1 instead
        return 0
    except (InvalidArgument, InvalidProperty) as error:
        message, code = in_shell(error), INVALID_COMMAND
    except SgesError as error:
        message, code = in_shell(error), INVALID_DATA
    except OSError as error:
        message, code = _of_system(error), INVALID_DATA
    except ClickError as error:
        message, code = _of_click(error), INVALID_COMMAND
    except (KeyboardInterrupt, typer.Abort):
        message, code = INTERRUPTION, INTERRUPTED
    remark(message)
    return code


def _drop_output() -> None:
    """Print nothing more, also when Python ends."""
    for stream in filter(None, (sys.stdout, sys.stderr)):
        os.dup2(os.open(os.devnull, os.O_WRONLY), stream.fileno())


def _of_system(error: OSError) -> str:
    """Return the message of an error of the system, with its file."""
    name = f"{error.filename}: " if error.filename else ""
    if not name and error.errno == errno.ENOSPC:  # a file would be named
        name = "cannot write standard output: "
    return f"{name}{error.strerror or error}"


def _of_click(error: Exception) -> str:
    """Return the message of an error in the command line, and which help to read."""
    context = getattr(error, "ctx", None)
    message = _with_value(error, getattr(error, "format_message", error.__str__)())
    message = message.rstrip(".") or "a command is missing"
    names = [each.name for each in getattr(getattr(context, "command", None), "params", ())]
    if message.startswith("Got unexpected extra argument") and "table" in names:
        message += "; quote a pattern of files, as in 'data/*.csv'"
    path = "sges" if context is None else context.command_path
    return f"{message}{' See' if message.endswith('?') else '; see'} {path} --help"


def _with_value(error: Exception, message: str) -> str:
    """Return the message of Typer with the value that was wrong, which newer versions omit."""
    details = getattr(error.__cause__, "errors", None)  # of Pydantic
    if details is None:
        return message
    message = message.partition(", unable to parse")[0]
    return message.replace("Input should be", f"{details()[0]['input']!r} should be")
