# SPDX-License-Identifier: BSD-3-Clause
"""compare and bench whose ranks are processes under mpirun: the answers of ranks that are threads, told once."""

import json
import signal
import subprocess

from processes import ProcessesTest, mpirun
from program import POISSON, PROGRAM, main_unless

CANDIDATES = "struct_ilu,multicolor,subdomain_ildu0:subdomain=5 4 2,multigrid"
OF_TEST = ("--backend", "cpu", "--threads", "1", "--quiet")


class Comparisons(ProcessesTest):
    def compare(self, code, processes, deck, *words, environment=None):
        done = self.under_mpirun(processes, "compare", deck, *OF_TEST, *words, environment=environment)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done

    def test_processes_give_the_table_of_threads(self):
        deck = self.write("deck.ini", POISSON.format(cells="5 4 4"))
        for asked in (("--preconditioners", CANDIDATES), ("--auto", "--solvers", "cg")):
            with self.subTest(asked):
                words = (*asked, "--reps", "1", "--force", "--json", "-")
                threads = json.loads(self.expect(0, "compare", deck, *OF_TEST, "--ranks", "2", *words).stdout)
                processes = json.loads(self.compare(0, 2, deck, *words).stdout)  # one rank prints
                found = [{row["name"]: row for row in table["candidates"]} for table in (threads, processes)]
                self.assertEqual(set(found[0]), set(found[1]))
                self.assertIn("converged_rtol", {row["outcome"] for row in found[0].values()})
                for name, row in found[0].items():
                    for key in ("outcome", "iterations", "relative_residual", "memory"):
                        self.assertEqual(found[1][name].get(key), row.get(key), (name, key))
                self.assertEqual(processes["system"]["fingerprint"], threads["system"]["fingerprint"])
                self.assertEqual(processes["system"]["device"], "cpu, 2 ranks of 1 thread")
                self.assertIn("cpu, 2 ranks of 1 thread", self.expect(0, "info", "deck_compare.h5").stdout)

    def test_table_in_a_pipe_has_no_bold_text(self):
        deck = self.write("deck.ini", POISSON.format(cells="5 4 4"))
        done = self.compare(0, 2, deck, "--preconditioners", "struct_ilu,jacobi", "--reps", "1")
        self.assertIn("struct_ilu", done.stdout)
        self.assertNotIn("\x1b", done.stdout)

    def test_stopped_comparison_goes_on(self):
        deck = self.write("deck.ini", POISSON.format(cells="7 5 9"))
        words = ("--preconditioners", "struct_ilu,jacobi", "--reps", "2", "--json", "-")
        stopped = self.compare(75, 3, deck, *words, environment={"HYPERPLANE_STOP_AT": "60"})
        self.assertIn("stopped by SIGTERM: the same command goes on", stopped.stderr)
        self.assertEqual(stopped.stderr.count("stopped by"), 1, "one rank speaks")
        done = self.compare(0, 3, deck, *words)
        self.assertEqual([row["outcome"] for row in json.loads(done.stdout)["candidates"]], ["converged_rtol"] * 2)
        self.assertEqual([row["turns"] for row in json.loads(done.stdout)["candidates"]], [2, 2])

    def turns_of_record(self):
        """The turns of each candidate in the record of a comparison; none if it is not there yet."""
        if not (self.folder / "deck_compare.h5").exists():
            return []
        return [row["turns"] for row in json.loads(self.expect(0, "info", "deck_compare.h5", "--json").stdout)["candidates"]]

    def expect_to_go_on_after_sigterm(self, patience):
        """Sends SIGTERM to the mpirun of a comparison that has begun, which waits `patience` seconds and kills the ranks; then
        the same command goes on. A busy mpirun takes 10 s to pass the signal on, so the comparison has more turns than could end
        meanwhile, and the one that goes on is stopped, too, at an iteration: by which time it has taken a turn more."""
        deck = self.write("deck.ini", POISSON.format(cells="40 40 40"))
        words = ("--preconditioners", "struct_ilu,jacobi", "--reps", "100000")
        process = self.start_under_mpirun(2, "compare", deck, *OF_TEST, *words, environment={"OMPI_MCA_odls_base_sigkill_timeout": str(patience)})
        self.wait_for("deck_compare.h5.part", process)
        ranks = mpirun.children(process.pid)
        process.send_signal(signal.SIGTERM)
        # Open MPI's mpirun ends with 1 after SIGTERM, whatever its processes say.
        self.assertNotEqual(process.wait(timeout=60), 0)
        # mpirun does not wait for those that it has killed, and a busy machine takes its time to end them.
        mpirun.wait_for_end(ranks, 5.0)
        self.assertEqual(mpirun.alive(ranks), [])
        before = self.turns_of_record()
        stopped = self.compare(75, 2, deck, *words, environment={"HYPERPLANE_STOP_AT": "1000"})
        self.assertIn("stopped by SIGTERM: the same command goes on", stopped.stderr)
        after = self.turns_of_record()
        self.assertEqual(len(after), 2)
        self.assertLess(max(after), 100000)
        self.assertGreaterEqual(min(after), 1 + max(before, default=0))
        return before

    def test_a_signal_to_mpirun_stops_all_ranks_and_the_comparison_goes_on(self):
        self.assertEqual(len(self.expect_to_go_on_after_sigterm(patience=10)), 2, "the ranks have written what they had")

    def test_ranks_that_mpirun_kills_after_its_signal_lose_no_turn(self):
        self.expect_to_go_on_after_sigterm(patience=0)

    def test_errors_are_told_once_with_rank_host_and_reason(self):
        deck = self.write("deck.ini", POISSON.format(cells="7 5 9"))
        for words, code, text in ((("--preconditioners", "nonsense"), 2, "nonsense"),
                                  (("--preconditioners", "jacobi", "--ranks", "3"), 2, "started 2 processes"),
                                  ((), 2, "say what to compare")):
            with self.subTest(words):
                done = self.compare(code, 2, deck, *words)
                self.assertEqual(sum(text in line for line in done.stderr.splitlines() if "error" in line), 1, done.stderr)
        # A rank that does not see the deck fails alone.
        elsewhere = self.folder / "elsewhere"
        elsewhere.mkdir()
        words = (PROGRAM, "compare", deck, *OF_TEST, "--preconditioners", "jacobi")
        done = subprocess.run([*mpirun.COMMAND, "-n", "1", *words, ":", "-n", "1", "-wdir", str(elsewhere), *words], cwd=self.folder,
                              text=True, timeout=120, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        self.assertEqual(done.returncode, 7, done.stderr)
        self.assertRegex(done.stderr, r"rank 1, \S+: deck.ini")

    def test_a_rank_that_is_killed_ends_all(self):
        deck = self.write("deck.ini", POISSON.format(cells="40 40 40"))
        process = self.start_under_mpirun(3, "compare", deck, *OF_TEST, "--preconditioners", "struct_ilu,jacobi", "--reps", "10000")
        self.wait_for("deck_compare.h5.part", process)
        self.expect_end_of_all(process, mpirun.children(process.pid))


class Benches(ProcessesTest):
    def test_solve(self):
        deck = self.write("deck.ini", POISSON.format(cells="7 5 9"))
        words = ("bench", "solve", deck, "--backend", "cpu", "--threads", "1", "--repeats", "1", "--json")
        threads = json.loads(self.expect(0, *words, "-", "--ranks", "2").stdout)["solves"][0]
        done = self.under_mpirun(2, *words, "of_processes.json")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertEqual(done.stdout.count("converged_rtol"), 1, "one rank prints")
        processes = json.loads((self.folder / "of_processes.json").read_text())["solves"][0]
        self.assertEqual(processes["ranks"], 2)
        for key in ("iterations", "relative_residual", "stop_reason"):
            self.assertEqual(processes[key], threads[key], key)

    def test_preconditioners(self):
        deck = self.write("deck.ini", POISSON.format(cells="7 5 9"))
        words = ("bench", "preconditioners", deck, "--preconditioners", "struct_ilu,multicolor", "--backend", "cpu", "--threads", "1",
                 "--repeats", "1", "--json", "-")
        done = self.under_mpirun(2, *words)
        self.assertEqual(done.returncode, 0, done.stderr)
        rows = json.loads(done.stdout)["systems"][0]["preconditioners"]  # one rank prints
        self.assertEqual([(row["preconditioner"], row["error"]) for row in rows], [("struct_ilu", 0.0), ("multicolor", 0.0)])

    def test_selftest(self):
        deck = self.write("deck.ini", POISSON.format(cells="7 5 9"))
        done = self.under_mpirun(3, "selftest", deck, "--backend", "cpu", "--threads", "1", "--json")
        self.assertEqual(done.returncode, 0, done.stderr)
        answer = json.loads(done.stdout)  # one rank prints
        self.assertEqual(answer["device"], "cpu, 3 ranks of 1 thread")
        self.assertIn("spread of the residual over repeats, threads, ranks", [check["name"] for check in answer["checks"]])

    def test_what_needs_one_rank_says_so(self):
        done = self.under_mpirun(2, "bench", "kernels", "--cases", "star7:1:8")
        self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
        self.assertIn("bench kernels runs on one rank", done.stderr)

    def test_verbs_of_one_process_refuse_several(self):
        deck = self.write("deck.ini", POISSON.format(cells="7 5 9"))
        self.expect(0, "run", deck, "--backend", "cpu", "--quiet")
        before = sorted(self.folder.iterdir())
        refused = ((("check", deck), "check runs in one process, and mpirun or srun has started 2 together; start it once, with --ranks 2"),
                   (("export", deck), "export runs in one process"),
                   (("report", "deck.h5"), "report runs in one process"),
                   (("plot", "deck.h5"), "plot runs in one process"),
                   (("study", "run", deck), "study runs in one process"),
                   (("warm", deck, "--arch", "90"), "warm runs in one process"),
                   (("new", "poisson"), "new runs in one process"),
                   (("list",), "list runs in one process"),
                   (("help", "cg"), "help runs in one process"),
                   (("info", "deck.h5"), "info runs in one process"),
                   (("diff", "deck.h5", "deck.h5"), "diff runs in one process"))
        for (words, says), done in zip(refused, self.under_mpiruns(2, *(words for words, _ in refused))):
            with self.subTest(words):
                self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
                self.assertEqual(done.stderr.count(says), 1, done.stderr)
                self.assertEqual(done.stdout, "")
        self.assertEqual(sorted(self.folder.iterdir()), before)
        self.assertEqual(self.under_mpirun(1, "export", deck).returncode, 0)

    def test_a_wrong_command_line_is_told_once(self):
        deck = self.write("deck.ini", POISSON.format(cells="7 5 9"))
        wrong = (((), "a verb is missing"), (("walk", deck), "no verb is called 'walk'"), (("run",), "run needs DECK"),
                 (("run", deck, "--bogus"), "run has no option '--bogus'"),
                 (("compare", deck, "--reps"), "option '--reps' is missing"),
                 (("list", "--bogus"), "list has no option '--bogus'"))
        for (words, says), done in zip(wrong, self.under_mpiruns(3, *(words for words, _ in wrong))):
            with self.subTest(words):
                self.assertEqual(done.returncode, 2, done.stdout + done.stderr)
                self.assertEqual(done.stderr.count(says), 1, done.stderr)
                self.assertEqual(done.stdout, "")
        told = json.loads(self.under_mpirun(3, "run", deck, "--json", "--bogus").stdout)
        self.assertEqual(told["exit_code"], 2)

    def test_help_and_version_are_printed_once(self):
        for words, begins in ((("--help",), "usage: hyperplane"), (("run", "-h"), "usage: hyperplane run"),
                              (("--version",), "hyperplane ")):
            with self.subTest(words):
                done = self.under_mpirun(3, *words)
                self.assertEqual((done.returncode, done.stdout), (0, self.expect(0, *words).stdout))
                self.assertTrue(done.stdout.startswith(begins), done.stdout)


if __name__ == "__main__":
    main_unless(mpirun.reason_not_to_run(PROGRAM))
