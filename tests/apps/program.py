# SPDX-License-Identifier: BSD-3-Clause
"""Runs the program under test ($HYPERPLANE) in a scratch folder."""

import fcntl
import json
import os
import pathlib
import pty
import resource
import signal
import struct
import subprocess
import sys
import tempfile
import termios
import unittest

from one_process import in_one_process

PROGRAM = os.environ["HYPERPLANE"]
INPUTS = pathlib.Path(__file__).resolve().parents[2] / "inputs"

POISSON = """
[problem]
name = poisson
[grid]
cells = {cells}
[solver]
name = cg
"""

TRANSPORT = """
[problem]
name = convection_diffusion
[grid]
cells = {cells}
[time]
cfl = 5
steps = {steps}
[solver]
name = gmres
rtol = 1e-10
"""

CAVITY = """
[problem]
name = artificial_compressibility
reynolds = 100
[grid]
cells = {cells}
[time]
cfl = 10
steady_rtol = 1e-4
[solver]
name = gmres
rtol = 1e-2
"""

MATRIX = """
[problem]
name = matrix_market
matrix = {matrix}
[grid]
cells = {cells}
[solver]
name = {solver}
"""


def matrix_market(rows, entries, symmetric=False):
    kind = "symmetric" if symmetric else "general"
    lines = [f"{r} {c} {v}" for r, c, v in entries]
    return "\n".join([f"%%MatrixMarket matrix coordinate real {kind}", f"{rows} {rows} {len(lines)}", *lines]) + "\n"


def chain(diagonal, off=-1.0):
    """A tridiagonal system on len(diagonal) points along x."""
    n = len(diagonal)
    return matrix_market(n, [(i + 1, j + 1, diagonal[i] if i == j else off)
                             for i in range(n) for j in (i - 1, i, i + 1) if 0 <= j < n])


def few_addresses(size):
    """For the `limit` of run_program: as much memory at most, in bytes."""
    return lambda: resource.setrlimit(resource.RLIMIT_AS, (size, size))


def small_files(size=4096):
    """For the `limit` of run_program: files have as many bytes at most, as on a disk that is full."""
    return lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (size, size))


def main_unless(reason):
    """Runs the tests of the file that Python was started with, unless there is a reason why they cannot run here."""
    if reason:
        print(reason)
        sys.exit(77)
    unittest.main()


class ProgramTest(unittest.TestCase):
    """A test with a scratch folder, self.folder, in which the program runs."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)

    def write(self, name, text):
        (self.folder / name).write_text(text)
        return name

    def run_program(self, *words, limit=None, stdout=subprocess.PIPE, stop_at=None):
        """The finished process; `limit` is called in the child before it starts. With `stop_at`, "LOOKS" or
        "LOOKS:SIGNAL", the program sends itself a signal when it checks for the LOOKS-th time whether one has come."""
        plain = limit is None and stdout == subprocess.PIPE and not stop_at
        done = in_one_process(words, self.folder, timeout=300) if plain else None
        if done:
            return done
        return subprocess.run([PROGRAM, *words], cwd=self.folder, stdout=stdout, stderr=subprocess.PIPE,
                              text=True, timeout=300, preexec_fn=limit, env=self.environment(stop_at))

    @staticmethod
    def environment(stop_at):
        return {**os.environ, "HYPERPLANE_STOP_AT": str(stop_at)} if stop_at else None

    def start(self, *words, stop_at=None):
        """The running process."""
        process = subprocess.Popen([PROGRAM, *words], cwd=self.folder, stdout=subprocess.PIPE,
                                   stderr=subprocess.PIPE, text=True, env=self.environment(stop_at))
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        return process

    def shown_on_terminal(self, *words, stdout=None, columns=0):
        """The output of a successful run on a terminal: stderr, and stdout unless it is redirected. With `columns` the
        terminal says that it is as wide."""
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
        process = subprocess.Popen([PROGRAM, *words], cwd=self.folder, stderr=theirs,
                                   stdout=theirs if stdout is None else stdout)
        os.close(theirs)
        shown = b""
        try:
            while chunk := os.read(ours, 4096):
                shown += chunk
        except OSError:  # on Linux this means that the other end was closed
            pass
        os.close(ours)
        self.assertEqual(process.wait(), 0)
        return shown

    def expect(self, code, *words, says=(), **options):
        """Runs the program; asserts the exit status, that stderr contains each of `says`, and that nothing crashed."""
        done = self.run_program(*words, **options)
        self.assertEqual(done.returncode, code, f"{words}\n{done.stdout}\n{done.stderr}")
        for text in [says] if isinstance(says, str) else says:
            self.assertIn(text, done.stderr)
        return done

    def run_json(self, code, *words):
        return json.loads(self.expect(code, *words, "--json", "--quiet").stdout)

    def bench(self, *words):
        """The JSON of a bench with two repeats."""
        return json.loads(self.expect(0, "bench", *words, "--repeats", "2", "--json", "-").stdout)

    def registered(self, topic):
        """The names of solvers, preconditioners or problems that `list` prints."""
        return list(json.loads(self.expect(0, "list", topic, "--json").stdout)[topic])

    def accepted(self, deck, section):
        """The names of [section] with which a deck can be run on this machine."""
        return [name for name in self.registered(section + "s")
                if self.run_program("check", deck, "--set", f"{section}.name={name}", "--quiet").returncode == 0]

    def compared_on_one_and_three_ranks(self, deck, preconditioners):
        """The tables of `compare` on CPUs, which must tell of the same results and the same system."""
        tables = [json.loads(self.expect(0, "compare", deck, "--preconditioners", preconditioners, "--ranks", ranks, "--backend", "cpu",
                                         "--threads", "1", "--reps", "1", "--quiet", "--force", "--json", "-").stdout)
                  for ranks in ("1", "3")]
        one, three = ({row["name"]: row for row in table["candidates"]} for table in tables)
        for name, row in one.items():
            for key in ("outcome", "iterations", "relative_residual"):
                self.assertEqual(three[name][key], row[key], (name, key))
        self.assertEqual(tables[0]["system"]["fingerprint"], tables[1]["system"]["fingerprint"])
        return tables

    def record(self, name):
        """A record as `info` reads it."""
        return json.loads(self.expect(0, "info", name, "--json").stdout)


class CompareTest(ProgramTest):
    """A test of `hyperplane compare`."""

    def compare(self, code, *words, says=()):
        """The table as JSON."""
        return json.loads(self.expect(code, "compare", *words, "--json", "-", "--quiet", says=says).stdout)

    def poisson(self, cells=12):
        return self.write("a.ini", POISSON.format(cells=cells))


__all__ = ["INPUTS", "MATRIX", "POISSON", "PROGRAM", "TRANSPORT", "CompareTest", "ProgramTest", "chain", "few_addresses", "main_unless",
           "matrix_market", "signal", "small_files"]
