# SPDX-License-Identifier: BSD-3-Clause
"""Runs one process of tests and reads the result of each from its output (tests/gpu/run_all.sh)."""

import dataclasses
import re
import subprocess
import threading
import time

from catalogue import Chunk

# GoogleTest's output may follow an unfinished line of the test.
BEGUN = re.compile(r"\[ RUN      \] (\S+)$")
ENDED = re.compile(r"\[(       OK |  FAILED  |  SKIPPED )\] ([^\s,]+).*\((\d+) ms\)$")
STATES = {"       OK ": "passed", "  FAILED  ": "failed", "  SKIPPED ": "skipped"}
SANITIZER_ERRORS = 99
MEANING = {0: "all passed", 1: "some failed", 77: "all skipped", SANITIZER_ERRORS: "compute-sanitizer found errors"}


@dataclasses.dataclass
class Outcome:
    state: str  # passed, failed, skipped
    seconds: float
    text: str = ""  # what the test printed; for failures and skips


class Process:
    """A process, its output line by line, and the test that is running."""

    def __init__(self, command, variables):
        self.lines, self.begun, self.killed = [], time.monotonic(), ""
        self.on_line = lambda line: None
        self.child = subprocess.Popen(command, env=variables, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE,
                                      stderr=subprocess.STDOUT, text=True, errors="replace")

    def read(self, deadline, test_seconds):
        """Runs it to its end, but kills it when the time of this part is up or a single test takes too long."""
        ended = threading.Event()

        def watch():
            while not ended.wait(0.2):
                now = time.monotonic()
                if now > deadline or now > self.begun + test_seconds:
                    self.killed = "part" if now > deadline else "test"
                    self.child.kill()
                    return

        watcher = threading.Thread(target=watch, daemon=True)
        watcher.start()
        for line in self.child.stdout:
            line = line.rstrip("\n")
            self.lines.append(line)
            self.on_line(line)
        code = self.child.wait()
        self.child.stdout.close()
        ended.set()
        watcher.join()
        return code


def how_it_ended(code):
    return f"signal {-code}" if code < 0 else f"code {code}" + (f" ({MEANING[code]})" if code in MEANING else "")


def run_gtests(chunk, variables, deadline, test_seconds):
    process = Process(chunk.command(), variables)
    by_name = {test.name: test for test in chunk.tests}
    outcomes, running, since = {}, None, 0

    def on_line(line):
        nonlocal running, since
        if (begun := BEGUN.search(line)) and begun.group(1) in by_name:
            running, since, process.begun = begun.group(1), len(process.lines), time.monotonic()
        elif (ended := ENDED.search(line)) and ended.group(2) == running:
            state = STATES[ended.group(1)]
            text = "" if state == "passed" else "\n".join(process.lines[since:-1])
            outcomes[by_name[running]] = Outcome(state, int(ended.group(3)) / 1000, text)
            running = None

    process.on_line = on_line
    code = process.read(deadline, test_seconds)
    whole = "\n".join(process.lines)
    understood = (0, 1, 77, SANITIZER_ERRORS) if chunk.tests[0].tool else (0, 1, 77)
    if process.killed != "part":
        if running:
            why = (f"did not end within {test_seconds:g} s" if process.killed else f"ended its process: {how_it_ended(code)}")
            outcomes[by_name[running]] = Outcome("failed", time.monotonic() - process.begun,
                                                 "\n".join([why, *process.lines[since:]]))
        elif code not in understood or (code == 1 and not any(o.state == "failed" for o in outcomes.values())):
            # A process that fails although none of its tests did, for instance at its exit.
            to_blame = list(outcomes)[-1] if outcomes else chunk.tests[0]
            outcomes[to_blame] = Outcome("failed", 0.0, f"its process ended with {how_it_ended(code)}\n{whole}")
    return outcomes, whole


def run_sanitized(chunk, variables, deadline, test_seconds):
    """Runs one test under compute-sanitizer, whose summary decides; warnings are not errors."""
    outcomes, whole = run_gtests(chunk, variables, deadline, test_seconds)
    test = chunk.tests[0]
    errors = re.search(r"ERROR SUMMARY: (\d+) error|RACECHECK SUMMARY: .*\((\d+) error", whole)
    if test in outcomes and outcomes[test].state == "passed" and (not errors or int(errors[1] or errors[2]) > 0):
        what = "compute-sanitizer found errors\n" if errors else "compute-sanitizer printed no summary\n"
        outcomes[test] = Outcome("failed", outcomes[test].seconds, what + whole)
    return outcomes, whole


def run_script(chunk, variables, deadline, test_seconds):
    """A test of Python's unittest: a process of its own."""
    process = Process(chunk.command(), variables)
    code = process.read(deadline, test_seconds)
    whole = "\n".join(process.lines)
    if process.killed == "part":
        return {}, whole
    left_out = re.search(r"\.\.\. skipped (.*)", whole)
    state = "skipped" if code == 77 or (code == 0 and left_out) else "passed" if code == 0 else "failed"
    if state == "skipped" and left_out:
        whole += f"\nskipped: {left_out[1]}"
    text = f"did not end within {test_seconds:g} s\n{whole}" if process.killed else whole
    return {chunk.tests[0]: Outcome(state, time.monotonic() - process.begun, "" if state == "passed" else text)}, whole


def run_chunk(chunk, variables, deadline, test_seconds):
    """The results of its tests, and a chunk of those that a crash or a timeout has prevented from running, or None."""
    first = chunk.tests[0]
    run = run_script if not first.is_gtest else run_sanitized if first.tool else run_gtests
    try:
        outcomes, chunk.log = run(chunk, variables, deadline, test_seconds)
    except OSError as error:
        chunk.log = str(error)
        return {test: Outcome("failed", 0.0, str(error)) for test in chunk.tests}, None
    left = [test for test in chunk.tests if test not in outcomes]
    # A process that ran none of its tests would run none of them again.
    if left and not outcomes and time.monotonic() < deadline:
        return {test: Outcome("failed", 0.0, "its process did not run it\n" + chunk.log) for test in left}, None
    return outcomes, Chunk(left) if left else None
