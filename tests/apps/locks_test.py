# SPDX-License-Identifier: BSD-3-Clause
"""One process at a time works on an output: the second one says who has it and ends with a code of its own, or waits."""

import os
import re
import socket
import subprocess
import threading
import time
import unittest

from program import POISSON, PROGRAM, TRANSPORT, ProgramTest, signal

LONG = TRANSPORT.format(cells=24, steps=120)
STEPS = 6
SHORT = TRANSPORT.format(cells=8, steps=STEPS)
SWEEP = "[sweep]\nproblem.viscosity = 1e-3, 2e-3, 3e-3\n"
NAMES = ["viscosity=1e-3", "viscosity=2e-3", "viscosity=3e-3"]


class Locks(ProgramTest):
    def wait_for(self, path):
        deadline = time.monotonic() + 60
        while not (self.folder / path).exists() or not (self.folder / path).stat().st_size:
            self.assertLess(time.monotonic(), deadline, f"waited too long for {path}")
            time.sleep(0.002)

    def start_stopped(self, *words):
        """A program that has stopped itself by SIGSTOP at an iteration, so that it holds its lock until it gets SIGCONT."""
        process = self.start(*words, stop_at=f"3:{int(signal.SIGSTOP)}")
        self.addCleanup(process.send_signal, signal.SIGCONT)
        self.assertTrue(os.WIFSTOPPED(os.waitpid(process.pid, os.WUNTRACED)[1]), f"{words} ended")
        return process

    def expect_to_go_on(self, process):
        """What it says until it ends with 0."""
        process.send_signal(signal.SIGCONT)
        said = process.communicate(timeout=120)[1]
        self.assertEqual(process.returncode, 0, said)
        return said

    def wait_until_waiting(self, process):
        """The log of a process until it says that it waits."""
        log = ""
        while "waiting until it has ended" not in log:
            line = process.stderr.readline()
            self.assertTrue(line, log)
            log += line
        return log

    def expect_named(self, log, process, what):
        """Host, process and since when."""
        self.assertRegex(log, rf"{re.escape(what)} is being worked on by process {process} on "
                              rf"{re.escape(socket.gethostname())} \(hyperplane .*\), since 20\d\d-\d\d-\d\dT")
        self.assertIn("--wait", log)


class Runs(Locks):
    def test_the_second_one_says_who_has_it(self):
        deck = self.write("a.ini", SHORT)
        first = self.start_stopped("run", deck, "--quiet")
        second = self.expect(10, "run", deck, "--set", "solver.rtol=1e-3")
        self.expect_named(second.stderr, first.pid, "a.h5")
        self.expect(10, "run", deck, "--fresh", "--json")
        self.assertNotIn("srun", second.stderr)
        by_srun = subprocess.run([PROGRAM, "run", deck], cwd=self.folder, text=True, capture_output=True, timeout=60,
                                 env={**os.environ, "SLURM_STEP_NUM_TASKS": "4"})
        self.assertEqual(by_srun.returncode, 10, by_srun.stderr)
        self.assertIn("srun has started 4 processes that do not know of each other: with --mpi=pmix", by_srun.stderr)
        self.expect_to_go_on(first)
        self.assertEqual(self.record("a.h5")["status"], "ok")
        self.assertFalse((self.folder / "a.lock").exists())
        self.assertFalse((self.folder / "a.h5.part").exists())

    def test_the_second_one_waits_if_asked(self):
        deck = self.write("a.ini", SHORT)
        first = self.start_stopped("run", deck, "--quiet")
        second = self.start("run", deck, "--wait")
        log = self.wait_until_waiting(second)
        self.expect_to_go_on(first)
        shown, rest = second.communicate(timeout=120)
        self.assertEqual(second.returncode, 0, log + rest)
        self.assertIn("verdict", shown)
        self.assertFalse((self.folder / "a.lock").exists())

    def test_a_signal_ends_the_wait(self):
        deck = self.write("a.ini", SHORT)
        first = self.start_stopped("run", deck, "--quiet")
        second = self.start("run", deck, "--wait")
        log = self.wait_until_waiting(second)
        second.send_signal(signal.SIGTERM)
        log += second.communicate(timeout=60)[1]
        self.assertEqual(second.returncode, 10, log)
        self.assertIn("stopped while waiting", log)
        self.expect_to_go_on(first)

    def test_whoever_died_holds_nothing(self):
        deck = self.write("a.ini", SHORT)
        first = self.start_stopped("run", deck, "--quiet")
        first.kill()
        first.communicate()
        self.assertTrue((self.folder / "a.lock").exists())
        begin = time.monotonic()
        self.expect(0, "check", deck, "--quiet")
        took = time.monotonic() - begin
        begin = time.monotonic()
        self.expect(0, "run", deck, "--set", "time.steps=1", "--quiet")
        self.assertLess(time.monotonic() - begin, took + 5.0)  # did not wait for updates of the file's time
        self.assertFalse((self.folder / "a.lock").exists())

    def test_another_output_is_free(self):
        deck = self.write("a.ini", SHORT)
        first = self.start_stopped("run", deck, "--quiet")
        self.expect(0, "run", deck, "--set", "time.steps=1", "--set", "output.file=b.h5")
        self.expect_to_go_on(first)

    def test_a_link_to_the_record_is_locked_with_it(self):
        deck = self.write("a.ini", SHORT)
        (self.folder / "sub").mkdir()
        links = {"link.h5": "a.h5", "chain.h5": "link.h5", "sub/other": "../a.h5"}
        for link, target in links.items():
            (self.folder / link).symlink_to(target)
        first = self.start_stopped("run", deck, "--quiet")
        for link in links:
            leads_to = "sub/../a.h5" if link == "sub/other" else "a.h5"
            done = self.expect(10, "run", deck, "--set", f"output.file={link}", "--set", "time.steps=1")
            self.expect_named(done.stderr, first.pid, f"{link} (a link to {leads_to})")
            self.expect(10, "run", deck, "--restart", "--set", f"output.file={link}", "--set", f"time.steps={STEPS + 1}")
            self.expect(10, "compare", deck, "--preconditioners", "jacobi", "-o", link)
        self.expect_to_go_on(first)
        self.assertEqual(len(self.record("a.h5")["solves"]), STEPS)

    def test_a_run_through_a_link_locks_what_it_leads_to(self):
        deck = self.write("a.ini", SHORT)
        (self.folder / "link.h5").symlink_to("a.h5")
        first = self.start_stopped("run", deck, "--set", "output.file=link.h5", "--quiet")
        self.expect_named(self.expect(10, "run", deck).stderr, first.pid, "a.h5")
        self.expect_to_go_on(first)
        self.assertTrue((self.folder / "link.h5").is_symlink() and (self.folder / "a.h5").is_file())
        self.assertEqual(list(self.folder.glob("*.lock")), [])

    def test_a_link_that_changes_during_a_run_stays_locked(self):
        deck = self.write("a.ini", SHORT + "[output]\nfile = out.h5\n")
        out = self.folder / "out.h5"
        out.symlink_to("a.h5")
        first = self.start_stopped("run", deck, "--quiet")
        again = ("run", deck, "--fresh", "--set", "time.steps=1")
        out.unlink()
        out.symlink_to("b.h5")
        self.expect_named(self.expect(10, *again).stderr, first.pid, "out.h5 (a link to b.h5)")
        out.unlink()
        self.expect_named(self.expect(10, *again).stderr, first.pid, "out.h5")
        self.assertFalse((self.folder / "b.h5").exists() or out.exists())
        self.expect_to_go_on(first)
        self.assertEqual(len(self.record("out.h5")["solves"]), STEPS)
        self.assertEqual(list(self.folder.glob("*.lock")), [])

    def test_two_runs_write_two_files_where_a_link_changes(self):
        """A link, or a name that becomes one, leads to the record of another run when the first one ends."""
        deck = self.write("a.ini", SHORT)
        out = self.folder / "out.h5"
        for linked in (True, False):
            with self.subTest(linked=linked):
                if linked:
                    out.symlink_to("a.h5")
                first = self.start_stopped("run", deck, "--set", "output.file=out.h5", "--quiet", "--fresh")
                self.assertTrue((self.folder / "out.h5.part").exists())
                out.unlink(missing_ok=True)
                out.symlink_to("b.h5")
                second = self.start_stopped("run", deck, "--set", "output.file=b.h5", "--quiet", "--fresh")
                self.assertTrue((self.folder / "b.lock").exists())
                first.send_signal(signal.SIGCONT)
                said = first.communicate(timeout=120)[1]
                self.assertFalse((self.folder / "b.h5").exists())
                if linked:
                    self.assertEqual(first.returncode, 0)
                    self.assertIn("out.h5 leads to b.h5 now; a.h5 is written, to which it led at the beginning", said)
                    self.assertEqual(len(self.record("a.h5")["solves"]), STEPS)
                else:
                    self.assertEqual(first.returncode, 10)
                    self.expect_named(said, second.pid, "out.h5 (a link to b.h5)")
                    self.assertEqual(self.record("out.h5.part")["status"], "failed")
                second.kill()
                second.communicate()
                out.unlink()
                (self.folder / "b.lock").unlink()

    def test_a_comparison(self):
        deck = self.write("a.ini", POISSON.format(cells=8))
        first = self.start_stopped("compare", deck, "--preconditioners", "jacobi,none", "--reps", "2", "--quiet")
        second = self.expect(10, "compare", deck, "--preconditioners", "jacobi", "--quiet")
        self.expect_named(second.stderr, first.pid, "a_compare.h5")
        self.expect_to_go_on(first)


class Elsewhere(Locks):
    """A holder on another machine, whose flock has no effect here: its updates of the file's time count."""

    def setUp(self):
        super().setUp()
        self.deck = self.write("a.ini", POISSON.format(cells=6))
        self.lock = self.folder / "a.lock"
        self.lock.write_text("hyperplane lock\nhost far-away\nprocess 7\nsince 2026-03-01T12:00:00Z\ncommand run a.ini\n")

    def test_a_holder_on_another_machine_that_lives_keeps_it(self):
        over = threading.Event()

        def beat():
            while not over.wait(1.0):
                os.utime(self.lock)

        heart = threading.Thread(target=beat)
        heart.start()
        try:
            done = self.expect(10, "run", self.deck)
        finally:
            over.set()
            heart.join()
        self.assertIn("a.h5 is being worked on by process 7 on far-away (hyperplane run a.ini), since 2026-03-01T12:00:00Z",
                      done.stderr)
        self.assertTrue(self.lock.exists())

    def test_a_holder_on_another_machine_that_died_loses_it(self):
        begin = time.monotonic()
        self.expect(0, "run", self.deck)
        self.assertGreater(time.monotonic() - begin, 10.0)
        self.assertFalse(self.lock.exists())


class Studies(Locks):
    def setUp(self):
        super().setUp()
        self.study = self.write("s.ini", LONG + SWEEP)

    def status(self):
        done = self.run_program("study", "status", self.study, "--json")
        return [case["status"] for case in __import__("json").loads(done.stdout)["cases"]]

    def test_two_launchers(self):
        first = self.start("study", "run", self.study, "--quiet")
        self.wait_for("s/study.lock")
        for verb in ("run", "resume", "submit"):
            self.expect_named(self.expect(10, "study", verb, self.study).stderr, first.pid, "s.ini")
        second = self.expect(0, "study", "resume", self.study, "--wait", says="waiting until it has ended")
        self.assertEqual(first.wait(), 0)
        self.assertIn("0 cases to run, 3 done before", second.stderr)
        self.assertEqual(list((self.folder / "s").glob("*.lock")), [])

    def test_a_case_that_another_process_computes_has_not_failed(self):
        self.study = self.write("s.ini", SHORT + SWEEP)
        other = self.start_stopped("run", self.study, "--case", NAMES[1], "--quiet")
        done = self.run_program("study", "run", self.study)
        self.assertIn("1 running elsewhere", done.stderr)
        self.assertNotIn("failed  ", done.stderr)
        self.assertEqual(done.returncode, 8)
        self.expect_to_go_on(other)
        self.assertEqual(self.status(), 3 * ["done"])

    def test_a_link_in_place_of_a_record_of_a_case(self):
        (self.folder / "s").mkdir()
        (self.folder / f"s/{NAMES[1]}.h5").symlink_to("../a.h5")
        other = self.start_stopped("run", self.write("a.ini", SHORT), "--quiet")
        self.assertEqual(self.status(), ["waiting", "running", "waiting"])
        done = self.expect(10, "run", self.study, "--case", NAMES[1], "--quiet")
        self.expect_named(done.stderr, other.pid, f"s/{NAMES[1]}.h5 (a link to s/../a.h5)")
        self.expect_to_go_on(other)

    def test_a_case_that_is_taken_while_the_launcher_works(self):
        launcher = self.start("study", "run", self.study)
        self.wait_for(f"s/{NAMES[0]}.lock")
        other = self.start("run", self.study, "--case", NAMES[2], "--quiet")
        self.wait_for(f"s/{NAMES[2]}.lock")
        _, log = launcher.communicate(timeout=120)
        other.communicate(timeout=120)
        self.assertEqual(other.returncode, 0)
        self.assertNotRegex(log, r"\] failed")
        self.assertEqual(self.status(), 3 * ["done"])

    def test_a_launcher_that_waits_for_it(self):
        launcher = self.start("study", "run", self.study, "--wait")
        self.wait_for(f"s/{NAMES[0]}.lock")
        other = self.start("run", self.study, "--case", NAMES[2], "--quiet")
        self.wait_for(f"s/{NAMES[2]}.lock")
        _, log = launcher.communicate(timeout=180)
        self.assertEqual((launcher.returncode, other.wait()), (0, 0), log)
        self.assertEqual(log.count("] done"), 3)

    def test_one_of_many_that_begin_at_once_computes(self):
        """Of many that begin at the same moment one computes; the others report it or find the result."""
        deck = self.write("a.ini", TRANSPORT.format(cells=16, steps=40))
        for wait in ((), ("--wait",)):
            with self.subTest(wait):
                runs = [subprocess.Popen([PROGRAM, "run", deck, "--quiet", *wait], cwd=self.folder,
                                         stdout=subprocess.DEVNULL, stderr=subprocess.PIPE, text=True) for _ in range(8)]
                codes = sorted((run.communicate(timeout=180)[1] and 0) or run.returncode for run in runs)
                self.assertIn(0, codes)
                self.assertLessEqual(set(codes), {0} if wait else {0, 10})
                self.assertEqual(self.record("a.h5")["status"], "ok")
                self.assertFalse((self.folder / "a.lock").exists())


if __name__ == "__main__":
    unittest.main()
