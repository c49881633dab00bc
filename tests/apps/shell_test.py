# SPDX-License-Identifier: BSD-3-Clause
"""Bash completion and the manual page, which are made from the same tables as everything else."""

import fcntl
import json
import os
import pty
import select
import shutil
import struct
import subprocess
import termios
import time
import unittest

from program import POISSON, PROGRAM, ProgramTest

# Bash calls a completion function with the line cut at blanks and at '=' and ':'.
ASK = r"""
source ./completion.bash
compopt() { :; }
COMP_WORDS=("$@") COMP_CWORD=$(($# - 1))
_hyperplane
printf '%s\n' "${COMPREPLY[@]}"
"""


@unittest.skipUnless(shutil.which("bash"), "bash is not installed")
class Completion(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("completion.bash", self.expect(0, "help", "--completion", "bash").stdout)

    def ask(self, *words):
        """What bash offers for the last of these words."""
        done = subprocess.run(["bash", "-c", ASK, "bash", *words], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))
        return done.stdout.split("\n")[:-1] if done.stdout.strip() else []

    def names(self, kind):
        return set(json.loads(self.expect(0, "list", kind, "--json").stdout)[kind])

    def test_parses(self):
        done = subprocess.run(["bash", "-n", "completion.bash"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""))

    def test_verbs(self):
        self.assertIn("report", self.ask("hyperplane", ""))
        self.assertEqual(self.ask("hyperplane", "rep"), ["report"])
        self.assertEqual(self.ask("hyperplane", "--v"), ["--version"])

    def test_options(self):
        self.assertEqual(self.ask("hyperplane", "run", "a.ini", "--fr"), ["--fresh"])
        self.assertEqual(self.ask("hyperplane", "report", "--p"), ["--png"])
        self.assertEqual(self.ask("hyperplane", "help", "--completion", ""), ["bash"])
        self.assertEqual(self.ask("hyperplane", "bench", "kernels", "--layout", "="), ["natural", "hyperplane"])

    def test_decks_and_records(self):
        for name in ("a.ini", "b.ini", "c.h5", "d e.h5", "f.txt"):
            self.write(name, "")
        (self.folder / "more").mkdir()
        self.assertEqual(set(self.ask("hyperplane", "run", "")), {"a.ini", "b.ini", "more"})
        self.assertEqual(set(self.ask("hyperplane", "run", "--set", "solver.rtol", "=", "1e-4", "")),
                         {"a.ini", "b.ini", "more"})
        self.assertEqual(set(self.ask("hyperplane", "report", "c.h5", "-o", "x.html", "")), {"c.h5", "d e.h5", "more"})
        self.assertEqual(self.ask("hyperplane", "info", "bu"), ["build"])
        self.assertEqual(self.ask("hyperplane", "export", "a.ini", "-o", ""), ["more"])

    def test_keys_and_values(self):
        self.assertEqual(self.ask("hyperplane", "run", "--set", "solver.rt"), ["solver.rtol="])
        self.assertEqual(set(self.ask("hyperplane", "run", "--set", "solver.name", "=")), self.names("solvers"))
        self.assertEqual(self.ask("hyperplane", "run", "-s", "problem.name", "=", "poi"), ["poisson"])
        self.assertEqual(self.ask("hyperplane", "run", "--set", "=", "output.fields", "=", "t"), ["true"])
        self.assertEqual(self.ask("hyperplane", "run", "--set", "device.backend", "=", "c"), ["cpu", "cuda"])
        self.assertEqual(self.ask("hyperplane", "run", "--set", "smoother.pivot_policy", "=", "b"), ["boost"])
        self.assertEqual(set(self.ask("hyperplane", "run", "--set", "smoother.name", "=", "par")), {"par_ilu"})
        self.assertEqual(self.ask("hyperplane", "run", "--set", "grid.cells", "=", ""), [])

    def test_words_of_verbs_and_of_short_options(self):
        self.assertEqual(set(self.ask("hyperplane", "new", "")), self.names("problems"))
        self.assertEqual(self.ask("hyperplane", "new", "cahn"), ["cahn_hilliard"])
        self.assertEqual(self.ask("hyperplane", "new", "poisson", ""), [])
        for verb in ("run", "check", "compare"):
            self.assertEqual(self.ask("hyperplane", verb, "--backend", ""), ["auto", "cpu", "cuda"])
        self.assertEqual(self.ask("hyperplane", "run", "--threads", ""), [])
        self.write("a.ini", "")
        self.write("b.txt", "")
        self.assertEqual(set(self.ask("hyperplane", "bench", "")),
                         {"kernels", "preconditioners", "solve", "assembly", "products", "multigrid", "sweeps", "vectors",
                          "hpcg"})
        for kind in ("preconditioners", "solve", "multigrid", "sweeps"):
            self.assertEqual(self.ask("hyperplane", "bench", kind, ""), ["a.ini"])
            self.assertEqual(self.ask("hyperplane", "bench", "--repeats", "3", kind, "a.ini", ""), ["a.ini"])
        for kind in ("kernels", "vectors", "hpcg"):
            self.assertEqual(self.ask("hyperplane", "bench", kind, ""), [])

    def test_lists_of_components(self):
        """`struct_ilu,struct_ilu:fill_level=1`: bash cuts it at ':' and '='."""
        words = ("hyperplane", "compare", "a.ini", "--preconditioners")
        self.assertEqual(set(self.ask(*words, "")), self.names("preconditioners"))
        self.assertEqual(self.ask(*words, "none,cus"), ["none,cusparse_ilu"])
        self.assertEqual(self.ask(*words, "none,struct_ilu", ":", "fill"), ["fill_level="])
        self.assertEqual(self.ask(*words, "struct_ilu", ":", "pivot_policy", "=", "b"), ["boost"])
        self.assertEqual(self.ask(*words, "struct_ilu", ":", "fill_level", "=", "1,cus"), ["1,cusparse_ilu"])
        self.assertEqual(self.ask(*words[:3], "--solvers", "gm"), ["gmres"])

    def test_every_key_is_offered(self):
        keys = self.ask("hyperplane", "run", "--set", "")
        for key in keys:
            self.expect(0, "help", key.rstrip("="))
        for key in ("solver.restart=", "preconditioner.fill_level=", "output.file=", "grid.cells="):
            self.assertIn(key, keys)

    def test_help(self):
        self.assertEqual(self.ask("hyperplane", "help", "exit"), ["exit-codes"])
        self.assertEqual(self.ask("hyperplane", "help", "solver.rto"), ["solver.rtol"])
        self.assertEqual(self.ask("hyperplane", "help", "star"), ["star13", "star7"])
        self.assertEqual(self.ask("hyperplane", "list", "st"), ["stencils"])

    def test_completion_at_a_terminal(self):
        """A real bash with a real Tab key."""
        self.write("rc", f"source ./completion.bash\nPATH={os.path.dirname(PROGRAM)}:$PATH\nPS1='> '\n")
        self.write("only.ini", POISSON.format(cells=8))
        ours, theirs = pty.openpty()
        fcntl.ioctl(theirs, termios.TIOCSWINSZ, struct.pack("HHHH", 40, 200, 0, 0))  # no line is broken
        shell = subprocess.Popen(["bash", "--noprofile", "--rcfile", "./rc", "-i"], cwd=self.folder, stdin=theirs,
                                 stdout=theirs, stderr=theirs, start_new_session=True,
                                 env={**os.environ, "TERM": "dumb", "INPUTRC": "/dev/null"})
        os.close(theirs)
        self.addCleanup(os.close, ours)
        self.addCleanup(shell.wait)
        self.addCleanup(shell.terminate)
        os.write(ours, b"echo ready; hyperplane che\to\t --set solver.rt\t1e-4 --set device.layout=n\t --js\t\nexit\n")
        shown, end = b"", time.monotonic() + 30
        while time.monotonic() < end:
            if not select.select([ours], [], [], 0.5)[0]:
                continue
            try:
                shown += os.read(ours, 4096)
            except OSError:  # on Linux this means that the shell has ended
                break
        self.assertIn(b"hyperplane check only.ini  --set solver.rtol=1e-4 --set device.layout=natural  --json",
                      shown.replace(b"\x07", b""))
        self.assertIn(b'"layout": "natural"', shown)

    def test_other_shells_are_refused(self):
        self.expect(2, "help", "--completion", "fish", says="bash")


class Manual(ProgramTest):
    def setUp(self):
        super().setUp()
        self.write("hyperplane.1", self.expect(0, "help", "--man").stdout)

    def lint(self, *words):
        if not shutil.which(words[0]):
            self.skipTest(f"{words[0]} is not installed")
        done = subprocess.run([*words, "hyperplane.1"], cwd=self.folder, capture_output=True, text=True)
        self.assertEqual((done.returncode, done.stderr), (0, ""), done.stdout)
        return done.stdout

    def test_mandoc_finds_no_fault(self):
        self.assertEqual(self.lint("mandoc", "-T", "lint", "-W", "warning"), "")

    def test_man_shows_every_verb_key_and_exit_code(self):
        text = self.lint("man", "--warnings", "-E", "UTF-8", "-l")
        for words in ("hyperplane report [OPTIONS] FILE.h5...", "rtol = real >= 0 and <= 1", "fill_level = ",
                      "EXIT STATUS", "75 "):
            self.assertIn(words, text)


class Messages(ProgramTest):
    def test_the_nearest_word_is_suggested(self):
        deck = self.write("a.ini", POISSON.format(cells=8))
        for words, says in ((["rnu", deck], "did you mean run?"),
                            (["run", deck, "--frehs"], "did you mean --fresh?"),
                            (["run", deck, "--set", "solver.rtoll=1"], "did you mean solver.rtol?"),
                            (["run", deck, "--set", "solvr.rtol=1"], "did you mean [solver]?"),
                            (["run", deck, "--set", "solver.name=gmrs"], "did you mean gmres?"),
                            (["run", deck, "--set", "device.layout=naturel"], "did you mean natural?"),
                            (["run", deck, "--set", "preconditioner.name=struct_lu"], "did you mean struct_ilu?"),
                            (["help", "solver.rtl"], "did you mean solver.rtol?"),
                            (["help", "exit-code"], "did you mean exit-codes?"),
                            (["run", deck, "--set", "restart=20"], "did you mean solver.restart=20?"),
                            (["run", deck, "--set", "rtol=1e-4"], "did you mean newton.rtol=1e-4 or solver.rtol=1e-4?"),
                            (["run", deck, "--set", "solver=cg"], "did you mean solver.name=cg?"),
                            (["list", "solver"], "did you mean solvers?")):
            self.expect(2, *words, says=says)
        for words, says in ((["run", "b.ini"], "did you mean a.ini?"), (["info", "bild"], "did you mean info build?")):
            self.expect(7, *words, says=says)

    def test_help_of_a_key_without_its_section(self):
        self.assertEqual(self.expect(0, "help", "restart").stdout, self.expect(0, "help", "solver.restart").stdout)
        self.assertIn("conjugate gradients", self.expect(0, "help", "solver.name").stdout)

    def test_help_of_exit_codes(self):
        text = self.expect(0, "help", "exit-codes").stdout
        for code in (0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 75):
            self.assertRegex(text, rf"(?m)^ +{code}  ")


if __name__ == "__main__":
    unittest.main()
