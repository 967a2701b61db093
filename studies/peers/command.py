"""The command line: run, report, list the peers."""

import argparse
import sys
from collections.abc import Sequence
from pathlib import Path

from studies.peers.medians import REFERENCE
from studies.peers.registry import UnknownPeer, all_peers, chosen_peers
from studies.peers.report import write_report
from studies.peers.rows import RESULTS, Row
from studies.peers.runner import Runner
from studies.peers.suite import PRESETS, Preset


def main(arguments: Sequence[str] | None = None) -> int:
    """Do what is asked; the exit code is 2 for wrong use."""
    asked = _parser().parse_args(arguments)
    try:
        asked.do(asked)
    except UnknownPeer as error:
        print(error, file=sys.stderr)
        return 2
    return 0


def run(asked: argparse.Namespace) -> None:
    """Measure what is not measured yet, then write the report."""
    preset = PRESETS[asked.preset]
    if asked.limit is not None:
        preset = Preset(preset.name, asked.limit, preset.problems)
    results = asked.results or RESULTS / f"{preset.name}.jsonl"
    runner = Runner(preset, results, again=asked.again)
    for row in runner.run(chosen_peers(asked.only)):
        print(as_line(row), flush=True)
    print(f"the report is in {write_report(results)}")


def report(asked: argparse.Namespace) -> None:
    """Write the report anew from the rows."""
    print(write_report(asked.results or RESULTS / f"{asked.preset}.jsonl", asked.against))


def peers(_: argparse.Namespace) -> None:
    """List the peers."""
    for peer in all_peers():
        print(f"{peer.name:22} {', '.join(peer.kinds):20} {peer.method}")


def as_line(row: Row) -> str:
    """Return a row in a line, for people who watch."""
    head = f"{row['dataset']:28} {row['seed']} {row['peer']:20}"
    if row["failed"] is not None:
        return f"{head} {row['failed']}"
    bic = "no extension" if row["bic"] is None else f"{row['bic'] - row['bic_true']:+12.1f}"
    return (
        f"{head} {row['seconds']:9.3f} s {row['megabytes']:6.0f} MB  BIC − true {bic}"
        f"  SHD {row['shd']:4d}  start {row['import_seconds'] + row['warmup_seconds']:5.1f} s"
    )


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(prog="python -m studies.peers", description=__doc__)
    commands = parser.add_subparsers(required=True)
    running = commands.add_parser("run", help="measure, and write the report")
    running.add_argument("--preset", choices=PRESETS, default="standard")
    for name in PRESETS:
        running.add_argument(f"--{name}", dest="preset", action="store_const", const=name)
    running.add_argument("--only", nargs="+", default=[], metavar="PEER")
    running.add_argument("--limit", type=float, help="seconds per run")
    running.add_argument("--again", action="store_true", help="measure also what is there")
    running.add_argument("--results", type=Path, help="a file of JSON lines to add to")
    running.set_defaults(do=run)
    reporting = commands.add_parser("report", help="write the report anew from the rows")
    reporting.add_argument("--preset", choices=PRESETS, default="standard")
    reporting.add_argument("--results", type=Path, help="a file of JSON lines")
    reporting.add_argument("--against", default=REFERENCE, metavar="PEER")
    reporting.set_defaults(do=report)
    commands.add_parser("peers", help="list the peers").set_defaults(do=peers)
    return parser
