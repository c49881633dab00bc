# SPDX-License-Identifier: BSD-3-Clause
"""Signals at any moment: before the program can handle them, during a comparison, and SIGHUP like any other."""

import json
import os
import pathlib
import random
import shutil
import subprocess
import time
import unittest

from program import MATRIX, POISSON, PROGRAM, TRANSPORT, ProgramTest, chain, signal

STOPS = (signal.SIGTERM, signal.SIGUSR1, signal.SIGHUP)
MARCH = TRANSPORT.format(cells=24, steps=40) + "[output]\nfields = true\n"


def hold():
    """Blocks signals, as a launcher does before it starts the program."""
    signal.pthread_sigmask(signal.SIG_BLOCK, STOPS)


class Interruptions(ProgramTest):
    def begin(self, *words, **options):
        process = subprocess.Popen([PROGRAM, *words], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                   text=True, **options)
        self.addCleanup(process.stdout.close)
        self.addCleanup(process.stderr.close)
        return process

    def whole(self, deck):
        self.expect(0, "run", deck, "--set", "output.file=whole.h5")
        return (self.folder / "whole.vtkhdf").read_bytes()

    def expect_the_whole(self, deck, whole):
        self.expect(0, "run", deck, "--quiet")
        self.assertEqual((self.folder / "a.vtkhdf").read_bytes(), whole)
        self.expect(0, "diff", "whole.h5", "a.h5", "--tolerance", "0")


class DeckOfAFifo(Interruptions):
    def setUp(self):
        super().setUp()
        os.mkfifo(self.folder / "fifo")

    def test_a_signal_ends_the_wait_for_a_writer(self):
        for words in (("run", "fifo"), ("compare", "fifo", "--preconditioners", "jacobi"), ("study", "run", "fifo"),
                      ("check", "fifo")):
            with self.subTest(words):
                process = self.begin(*words)
                time.sleep(0.5)
                self.assertIsNone(process.poll(), "nothing has been written yet")
                process.send_signal(signal.SIGTERM)
                said = process.communicate(timeout=20)[1]
                if words[0] == "check":  # it has nothing to keep, so that signals end it
                    self.assertEqual(process.returncode, -signal.SIGTERM)
                    continue
                self.assertEqual(process.returncode, 75, said)
                self.assertIn(f"fifo: SIGTERM came while the deck was waited for", said)

    def test_a_deck_may_come_in_pieces(self):
        process = self.begin("run", "fifo", "--set", "output.file=a.h5", "--quiet")
        deck = POISSON.format(cells=8)
        with open(self.folder / "fifo", "w") as fifo:
            for piece in (deck[:20], deck[20:]):
                time.sleep(0.3)
                fifo.write(piece)
                fifo.flush()
        said = process.communicate(timeout=60)[1]
        self.assertEqual(process.returncode, 0, said)
        self.assertEqual(self.record("a.h5")["cells"], [8, 8, 8])


class Hangup(Interruptions):
    def stop(self, number, **options):
        process = self.begin("run", self.deck, "--fresh", "--quiet", **options)
        while not (self.folder / "a.h5.part").exists() and process.poll() is None:
            time.sleep(0.002)
        time.sleep(0.1)
        process.send_signal(number)
        process.communicate(timeout=120)
        return process.returncode

    def test_stops_a_run_as_other_signals_do(self):
        self.deck = self.write("a.ini", MARCH)
        whole = self.whole(self.deck)
        status = self.stop(signal.SIGHUP)
        if status == 0:
            self.skipTest("the run was over before the signal came")
        self.assertEqual(status, 75)
        self.assertEqual(self.record("a.h5")["status"], "preempted")
        self.expect_the_whole(self.deck, whole)

    def test_is_ignored_under_nohup(self):
        self.deck = self.write("a.ini", MARCH)
        self.assertEqual(self.stop(signal.SIGHUP, preexec_fn=lambda: signal.signal(signal.SIGHUP, signal.SIG_IGN)), 0)

    def test_stops_a_study(self):
        # So many cases that the signal comes before the last has ended, however late this process goes on.
        study = self.write("s.ini", MARCH + "[sweep]\nproblem.viscosity = 1e-3, 2e-3, 3e-3, 4e-3, 5e-3, 6e-3\n")
        process = self.begin("study", "run", study)
        while not (self.folder / "s/viscosity=1e-3.h5.part").exists() and process.poll() is None:
            time.sleep(0.002)
        process.send_signal(signal.SIGHUP)
        _, log = process.communicate(timeout=120)
        self.assertEqual(process.returncode, 75, log)
        self.expect(0, "study", "resume", study)


class Early(Interruptions):
    """Signals that arrive before the program has chosen how to handle them."""

    def test_no_signal_is_lost_that_the_launcher_holds_back(self):
        deck = self.write("a.ini", MARCH)
        whole = self.whole(deck)
        choose = random.Random(1)
        seen = set()
        for turn in range(30):
            process = self.begin("run", deck, "--quiet", preexec_fn=hold)
            time.sleep(choose.choice((0.0, 0.002, 0.01, 0.05, 0.1, 0.2)))
            process.send_signal(STOPS[turn % len(STOPS)])
            _, log = process.communicate(timeout=120)
            self.assertIn(process.returncode, (0, 75), log)
            seen.add(process.returncode)
            if process.returncode == 75:
                self.assertEqual(self.record("a.h5")["status"], "preempted")
        self.assertIn(75, seen)
        self.expect_the_whole(deck, whole)

    def test_without_a_launcher_what_was_kept_is_not_lost(self):
        deck = self.write("a.ini", MARCH)
        whole = self.whole(deck)
        choose = random.Random(2)
        for turn in range(30):
            process = self.begin("run", deck, "--quiet")
            time.sleep(choose.uniform(0.0, 0.3))
            process.send_signal(STOPS[turn % len(STOPS)])
            process.communicate(timeout=120)
            if (self.folder / "a.h5").exists():
                self.assertIn(self.record("a.h5")["status"], ("ok", "preempted"))
        self.expect_the_whole(deck, whole)

    def test_a_study_stopped_at_once(self):
        study = self.write("s.ini", MARCH + "[sweep]\nproblem.viscosity = 1e-3, 2e-3\n")
        seen = set()
        for delay in (0.0, 0.05, 0.2, 0.4):
            process = self.begin("study", "run", study, "--jobs", "2", preexec_fn=hold)
            time.sleep(delay)
            process.send_signal(signal.SIGTERM)
            _, log = process.communicate(timeout=120)
            self.assertIn(process.returncode, (0, 75), log)  # a fast machine is done before the signal
            seen.add(process.returncode)
            self.assertNotIn("] killed", log)
            self.assertNotIn("] failed", log)
        self.assertIn(75, seen)
        self.expect(0, "study", "resume", study)

    def job(self, study):
        """The job script and an environment in which scontrol notes in the file `asked` what it is asked."""
        script = self.folder / "job.sh"
        script.write_text(self.expect(0, "study", "submit", study, "--print").stdout)
        tools = self.folder / "tools"
        tools.mkdir()
        (tools / "scontrol").write_text(f"#!/bin/bash\necho \"$*\" >>{self.folder}/asked\necho asked\n")
        (tools / "scontrol").chmod(0o755)
        return script, {**os.environ, "PATH": f"{tools}:{os.environ['PATH']}", "SLURM_ARRAY_TASK_ID": "0",
                        "SLURM_ARRAY_JOB_ID": "5"}

    def begin_job(self, script, environment):
        return subprocess.Popen(["bash", script], cwd=self.folder, env=environment, stdout=subprocess.PIPE,
                                stderr=subprocess.STDOUT, text=True)

    @unittest.skipUnless(shutil.which("bash"), "bash is not installed")
    def test_a_job_of_slurm(self):
        """The job script under bash, with a scontrol that notes what it is asked: whenever the signal comes, the task is
        queued again, and goes on."""
        study = self.write("s.ini", MARCH + "[sweep]\nproblem.viscosity = 1e-3\n")
        script, environment = self.job(study)
        asked = self.folder / "asked"
        for delay in (0.02, 0.03, 0.05, 0.08, 0.12, 0.2, 0.3, 0.5):
            asked.unlink(missing_ok=True)
            job = self.begin_job(script, environment)
            time.sleep(delay)
            job.send_signal(signal.SIGUSR1)
            log, _ = job.communicate(timeout=120)
            if job.returncode == -signal.SIGUSR1:  # bash had not set its trap yet
                continue
            if job.returncode == 0:
                break
            self.assertTrue(asked.exists(), f"{delay}: {job.returncode}\n{log}")
            self.assertEqual(asked.read_text(), "requeue 5_0\n")
        self.assertEqual(subprocess.run(["bash", script], cwd=self.folder, env=environment, capture_output=True).returncode, 0)
        self.assertEqual(self.run_program("study", "status", study).returncode, 0)

    @unittest.skipUnless(shutil.which("bash"), "bash is not installed")
    def test_a_job_of_slurm_that_ends_as_the_signal_comes(self):
        """A case that has ended is not queued again and its job ends with its status, whenever the signal came."""
        study = self.write("s.ini", MARCH + "[sweep]\nproblem.viscosity = 1e-3\n")
        script, environment = self.job(study)
        lines = script.read_text().splitlines(keepends=True)
        begin = next(i for i, line in enumerate(lines) if line.endswith('--case "${cases[$SLURM_ARRAY_TASK_ID]}" &\n'))
        lines[begin] = '"${hold[@]}" sleep 0.05 &\n'
        script.write_text("".join(lines))
        choose = random.Random(3)
        ended = set()
        for _ in range(15):
            jobs = [self.begin_job(script, environment) for _ in range(20)]
            for job in jobs:
                time.sleep(choose.uniform(0, 0.01))
                job.send_signal(signal.SIGUSR1)
            for job in jobs:
                log, _ = job.communicate(timeout=120)
                if "asked" not in log:  # otherwise the signal ended it before env could block it
                    ended.add(job.returncode)
        self.assertEqual(ended - {-signal.SIGUSR1}, {0})


class DuringMetis(Interruptions):
    """METIS takes SIGTERM and SIGABRT from the whole process while it divides a graph."""

    GRID = ("[problem]\nname = poisson\n[grid]\ncells = 48\n[solver]\nname = cg\nrtol = 1e-2\n[matrix]\nformat = general\n"
            "[preconditioner]\nname = {}\n")
    DECKS = {"order": GRID.format("sync_free_ilu") + "[ordering]\nname = nested_dissection\n",
             "parts": GRID.format("subdomain_ildu0\npart_rows = 100")}

    def setUp(self):
        super().setUp()
        self.write("order.ini", self.DECKS["order"])
        if "needs METIS" in self.run_program("check", "order.ini").stderr:
            self.skipTest("built without METIS")

    def catches(self, process, number):
        """Whether the process has a handler for the signal, as Linux tells it."""
        with open(f"/proc/{process.pid}/status") as status:
            caught = next(line.split()[1] for line in status if line.startswith("SigCgt"))
        return int(caught, 16) >> (number - 1) & 1 == 1

    def end_during_metis(self, *words, after=0.02):
        """Begins the program and sends SIGTERM while METIS works; returns its status and log.

        METIS has a place to return to about 20 ms after it has its handlers.
        """
        process = self.begin(*words)
        while not self.catches(process, signal.SIGABRT):  # METIS alone catches that one
            self.assertIsNone(process.poll(), f"{words}: METIS was not called")
            time.sleep(0.001)
        time.sleep(after)
        self.assertTrue(self.catches(process, signal.SIGABRT), "METIS was done too soon for this test")
        process.send_signal(signal.SIGTERM)
        _, log = process.communicate(timeout=120)
        return process.returncode, log

    def test_a_run_is_preempted_and_goes_on(self):
        for name, text in self.DECKS.items():
            deck = self.write(f"{name}.ini", text)
            self.expect(0, "run", deck, "--quiet", "--set", "output.file=whole.h5")
            for ranks in ("1", "2"):
                with self.subTest(name, ranks=ranks):
                    words = ("run", deck, "--backend", "cpu", "--ranks", ranks)
                    status, log = self.end_during_metis(*words, "--fresh")
                    self.assertEqual(status, 75, log)
                    record = self.record(f"{name}.h5")
                    self.assertEqual(record["status"], "preempted")
                    self.assertIn("stopped by SIGTERM", log)
                    self.expect(0, *words, "--quiet")
                    self.expect(0, "diff", "whole.h5", f"{name}.h5", "--tolerance", "0")

    def test_what_keeps_nothing_ends_by_the_signal(self):
        """Also where the signal comes while METIS takes memory."""
        choose = random.Random(5)
        for _ in range(20):
            after = choose.uniform(0.0, 0.1)
            with self.subTest(after=after):
                self.assertEqual(self.end_during_metis("check", "order.ini", after=after)[0], -signal.SIGTERM)


class Comparison(Interruptions):
    WORDS = ("--preconditioners", "jacobi,none,struct_ilu,struct_ilu:fill_level=1", "--reps", "4")

    def setUp(self):
        super().setUp()
        self.deck = self.write("a.ini", POISSON.format(cells=40))

    def compare(self, *more):
        return self.begin("compare", self.deck, *self.WORDS, *more)

    def table(self):
        return json.loads(self.expect(0, "info", "a_compare.h5", "--json").stdout)

    def stop_after(self, words, number=signal.SIGTERM):
        """Stops a comparison when its log has a line with these words; returns its status, table and log."""
        process = self.compare()
        log = ""
        for line in process.stderr:
            log += line
            if words in line:
                process.send_signal(number)
                break
        shown, rest = process.communicate(timeout=120)
        return process.returncode, shown, log + rest

    def test_what_was_finished_is_kept_and_not_done_again(self):
        for words, tried in (("warm-up 2 of 4", 2), ("turn 2 of 4 done", 4)):
            with self.subTest(words):
                for path in self.folder.glob("a_compare*"):
                    path.unlink()
                status, shown, log = self.stop_after(words)
                if status == 0:
                    self.skipTest("this machine is too fast for the signals of this test")
                self.assertEqual(status, 75, log)
                self.assertIn("stopped", shown)
                self.assertIn("candidate", shown)  # the table
                table = self.table()
                self.assertFalse(table["complete"])
                self.assertEqual(table["exit_code"], 75)
                done = [row for row in table["candidates"] if row["outcome"] != "not_tried"]
                self.assertGreaterEqual(len(done), tried)
                again = self.compare()
                rest, log = again.communicate(timeout=120)
                self.assertEqual(again.returncode, 0, log)
                self.assertIn("was stopped: going on after turn", log)
                self.assertEqual(log.count("warm-up"), len(table["candidates"]) - len(done))
                self.assertEqual(log.count(" of 4 done"), 4 - table["turns_done"])
                whole = self.table()
                self.assertTrue(whole["complete"])
                self.assertEqual(len(whole["candidates"]), 4)
                self.assertTrue(all(row["turns"] == 4 for row in whole["candidates"] if row["converged"]))
                self.assertFalse((self.folder / "a_compare.h5.part").exists())

    def test_one_that_was_stopped_before_there_was_a_system_goes_on(self):
        words = ("compare", self.write("a.ini", POISSON.format(cells=8)), "--preconditioners", "jacobi,none", "--reps", "1")
        shown = self.expect(75, *words, stop_at=1).stdout
        self.assertIn("fingerprint   none: no candidate got as far as the system", shown)
        self.assertIn("ratio         none: the baseline, cg+jacobi, has not been tried", shown)
        self.expect(0, *words, says="was stopped: going on after turn 0 of 1")
        self.assertTrue(self.table()["complete"])

    def test_what_is_on_the_disk_of_another_system_is_refused(self):
        matrix = MATRIX.format(matrix=self.write("a.mtx", chain([4.0] * 12)), cells="12 1 1", solver="cg")
        words = ("compare", self.write("a.ini", matrix), "--preconditioners", "jacobi,none", "--reps", "1", "--quiet")
        self.expect(75, *words, stop_at=3)
        self.write("a.mtx", chain([5.0] * 12))
        self.expect(2, *words, says=["a_compare.h5 holds an unfinished comparison on another linear system", "--fresh"])

    def test_one_that_was_killed_goes_on_from_what_it_had_kept(self):
        self.deck = self.write("a.ini", POISSON.format(cells=48))
        process = self.compare()
        while not (self.folder / "a_compare.h5.part").exists() and process.poll() is None:
            time.sleep(0.01)
        process.kill()
        process.communicate()
        if process.returncode == 0:
            self.skipTest("the comparison was over before it could be killed")
        again = self.compare()
        _, log = again.communicate(timeout=300)
        self.assertEqual(again.returncode, 0, log)
        self.assertIn("a_compare.h5.part was stopped: going on", log)
        self.assertTrue(self.table()["complete"])
        self.assertFalse((self.folder / "a_compare.h5.part").exists())

    def test_another_comparison_does_not_take_it(self):
        status, _, log = self.stop_after("warm-up 1 of 4")
        if status == 0:
            self.skipTest("this machine is too fast for the signals of this test")
        self.expect(2, "compare", self.deck, "--preconditioners", "jacobi", "--quiet", says=["other candidates", "--fresh"])
        self.expect(2, "compare", self.deck, *self.WORDS, "--set", "solver.rtol=1e-4", "--quiet", says="--fresh")
        self.expect(0, "compare", self.deck, "--preconditioners", "jacobi", "--reps", "1", "--quiet", "--fresh")
        self.assertEqual(len(self.table()["candidates"]), 1)


if __name__ == "__main__":
    unittest.main()
