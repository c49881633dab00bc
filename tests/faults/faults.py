# SPDX-License-Identifier: BSD-3-Clause
"""Faults of every kind, tried on the program; a table of what it did. Run by tests/faults/run.sh."""

import argparse
import collections
import pathlib
import random
import re
import sys
import tempfile
import time

import inputs
import interruptions
import ranks
import records
from program import Program

SOURCES = pathlib.Path(__file__).resolve().parents[2]
BEGIN, END = "<!-- tests/faults/run.sh writes from here -->", "<!-- to here -->"

# name, the fault, how often in the short and in the long form
FAULTS = [
    ("records", "a bit of a record flipped; `info`", records.flipped_info, 60, 10000),
    ("records", "a record cut off anywhere; `info`", records.cut_info, 20, 2000),
    ("records", "a bit of a record flipped; `diff`", records.flipped_diff, 20, 1000),
    ("records", "a bit of a record flipped; `report`", records.flipped_report, 5, 300),
    ("records", "a bit of a record flipped; `study status` and `collect`", records.flipped_study, 10, 1000),
    ("records", "a bit of a checkpoint flipped; `run --restart`", records.flipped_restart, 20, 1000),
    ("records", "a bit flipped in a record without checksum; `info`", records.flipped_unsealed, 60, 10000),
    ("records", "a bit flipped or a part cut off; the Python module", records.flipped_module, 200, 10000),
    ("inputs", "bytes of a deck changed; `check`", inputs.changed_decks, 60, 5000),
    ("inputs", "bytes of a matrix file changed; `check`", inputs.changed_matrices, 40, 3000),
    ("inputs", "a hostile name of deck and record; `run`", inputs.hostile_names, 15, 30),
    ("interruptions", "killed at a random iteration; the same command", interruptions.killed, 20, 1000),
    ("interruptions", "a signal at a random iteration; the same command", interruptions.signalled, 20, 1000),
    ("ranks", "one of three ranks under mpirun killed at a random moment; the same run on two", ranks.killed, 6, 200),
    ("ranks", "SIGTERM to mpirun at a random moment; the same run on two ranks", ranks.told_to_stop, 4, 200),
    ("ranks", "three ranks under mpirun, the record on a small tmpfs; the same run with room", ranks.full_disk, 6, 200),
    ("interruptions", "files limited to a random size", interruptions.full_disk, 20, 500),
    ("interruptions", "memory limited to a random size", interruptions.little_memory, 20, 500),
]


def table(rows):
    lines = ["| fault | tried | what came of it | broken promises |", "|---|---|---|---|"]
    for title, count, outcomes, broken in rows:
        text = ", ".join(f"{name} {number}" for name, number in sorted(outcomes.items(), key=lambda item: -item[1]))
        lines.append(f"| {title} | {count} | {text} | {broken} |")
    return "\n".join(lines)


def write_document(rows, long):
    path = SOURCES / "docs/reliability.md"
    text = path.read_text()
    form = "its long form" if long else "its short form"
    new = f"{BEGIN}\n\nOf `tests/faults/run.sh`, {form}:\n\n{table(rows)}\n\n{END}"
    path.write_text(re.sub(re.escape(BEGIN) + ".*" + re.escape(END), lambda _: new, text, flags=re.S))


def main():
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--long", action="store_true", help="hours instead of minutes")
    parser.add_argument("--write", action="store_true", help="put the table into docs/reliability.md")
    parser.add_argument("--only", default="", help="records, inputs, interruptions or ranks")
    parser.add_argument("--seed", type=int, default=1)
    options = parser.parse_args()
    rows, failures = [], []
    for group, title, fault, few, many in FAULTS:
        if options.only not in ("", group):
            continue
        begin = time.monotonic()
        count = many if options.long else few
        with tempfile.TemporaryDirectory() as folder:
            outcomes, broken = collections.Counter(), []
            for outcome, complaint in fault(Program(pathlib.Path(folder)), count, random.Random(options.seed)):
                outcomes[outcome] += 1
                if complaint:
                    broken.append(complaint)
        rows.append((title, sum(outcomes.values()), outcomes, len(broken)))
        failures += [f"{title}: {complaint}" for complaint in broken]
        print(f"{title}: {dict(outcomes)}, {time.monotonic() - begin:.0f} s", flush=True)
    print("\n" + table(rows))
    if options.write:
        write_document(rows, options.long)
    for failure in failures[:20]:
        print("BROKEN:", failure, file=sys.stderr)
    return 1 if failures else 0


if __name__ == "__main__":
    sys.exit(main())
