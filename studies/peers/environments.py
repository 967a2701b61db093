"""Each peer in a virtual environment of its own: their pins conflict.

Environments are made on first use in ``studies/.envs`` and kept; delete the folder to make
them anew.  What pip says when an installation fails becomes the reason in the peer's rows.
"""

import hashlib
import json
import re
import shutil
import subprocess
import sys
from pathlib import Path

from studies.peers.contract import Environment

FOLDER = Path(__file__).parents[1] / ".envs"
INSTALL_LIMIT = 900.0
"""Seconds that making one environment may take."""


ERROR = re.compile(r"(cmake )?error(?!: subprocess-exited)|fatal error|.*: error:", re.IGNORECASE)


class NotInstallable(Exception):
    """The environment could not be made; the message is pip's last word."""


def interpreter(environment: Environment | None, folder: Path = FOLDER) -> Path:
    """Return the interpreter of an environment, which is made if it is not there."""
    if environment is None:
        return Path(sys.executable)
    home = folder / environment.name
    if _stamp(environment) != _read(home / "made.json").get("stamp"):
        _make(environment, home)
    failed = _read(home / "made.json").get("failed")
    if failed:
        raise NotInstallable(failed)
    return home / "bin" / "python"


def version(environment: Environment | None, python: Path) -> str:
    """Return the version of the environment's package, as its own metadata has it."""
    package = "sges" if environment is None else environment.package
    code = f"from importlib.metadata import version; print(version({package!r}))"
    done = subprocess.run([python, "-c", code], capture_output=True, text=True, check=False)
    return done.stdout.strip() or "unknown"


def _stamp(environment: Environment) -> str:
    """Return what changes when the environment must be made anew."""
    said = json.dumps([environment.install, environment.first, sys.version_info[:2]])
    return hashlib.sha256(said.encode()).hexdigest()[:16]


def _read(path: Path) -> dict[str, str]:
    if not path.is_file():
        return {}
    found: dict[str, str] = json.loads(path.read_text(encoding="utf-8"))
    return found


def _make(environment: Environment, home: Path) -> None:
    """Make the environment, or write down why it could not be made: it is not tried again."""
    shutil.rmtree(home, ignore_errors=True)
    home.mkdir(parents=True)
    print(f"making the environment of {environment.name}", file=sys.stderr, flush=True)
    pip = [str(home / "bin" / "python"), "-m", "pip", "install", "--disable-pip-version-check"]
    failed = _run([sys.executable, "-m", "venv", str(home)])
    if not failed and environment.first:
        failed = _run([*pip, *_placed(environment.first)])
    if not failed:
        failed = _run([*pip, *_placed(environment.install)])
    made = {"stamp": _stamp(environment), "failed": failed}
    (home / "made.json").write_text(json.dumps(made), encoding="utf-8")


def _placed(arguments: tuple[str, ...]) -> list[str]:
    """Return arguments of pip, with {here} as the folder of the benchmarks."""
    return [argument.replace("{here}", str(FOLDER.parent)) for argument in arguments]


def _run(command: list[str]) -> str:
    """Run a command; return the last line of its complaint, or nothing if it went well."""
    try:
        done = subprocess.run(
            command, capture_output=True, text=True, timeout=INSTALL_LIMIT, check=False
        )
    except subprocess.TimeoutExpired:
        return f"not installed within {INSTALL_LIMIT:.0f} s"
    if done.returncode == 0:
        return ""
    return complaint(done.stderr + done.stdout)


def complaint(said: str) -> str:
    r"""Return the line of pip's output that says why: the first error, without a home folder.

    >>> complaint("noise\nERROR: No matching distribution found for nonsense\n")
    'No matching distribution found for nonsense'
    """
    lines = [line.strip() for line in said.splitlines() if line.strip()]
    errors = [line for line in lines if ERROR.match(line)]
    line = (errors or lines or ["no reason given"])[0]
    return line.removeprefix("ERROR: ").removeprefix("error: ").replace(str(Path.home()), "~")[:200]
