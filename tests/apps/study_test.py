# SPDX-License-Identifier: BSD-3-Clause
"""Studies are planned, run, stopped and resumed; the contents of records decide what is done."""

import csv
import json
import os
import pathlib
import re
import shutil
import time
import unittest

from program import INPUTS, POISSON, TRANSPORT, ProgramTest, chain, signal

SWEEP = """
[sweep]
grid.cells = 8, 12
preconditioner.name = struct_ilu, jacobi
preconditioner.fill_level = 0..1
"""
SIX = ["cells=8,preconditioner=struct_ilu,fill_level=0", "cells=8,preconditioner=struct_ilu,fill_level=1",
       "cells=8,preconditioner=jacobi", "cells=12,preconditioner=struct_ilu,fill_level=0",
       "cells=12,preconditioner=struct_ilu,fill_level=1", "cells=12,preconditioner=jacobi"]


class StudyTest(ProgramTest):
    def study(self, sweep=SWEEP, deck=POISSON.format(cells=4), name="s.ini"):
        return self.write(name, deck + sweep)

    def plan(self, study, code=0):
        return json.loads(self.expect(code, "study", "plan", study, "--json").stdout)["cases"]

    def status(self, study):
        done = self.run_program("study", "status", study, "--json")
        self.assertIn(done.returncode, (0, 8), done.stderr)
        answer = json.loads(done.stdout)
        self.assertEqual(done.returncode == 0, all(case["status"] == "done" for case in answer["cases"]))
        return {case["name"]: case["status"] for case in answer["cases"]}

    def rows(self, name="s.csv"):
        with open(self.folder / name, newline="") as file:
            return list(csv.DictReader(file))

    def file_of(self, name, extension="h5"):
        return self.folder / "s" / f"{name}.{extension}"

    def wait_for(self, condition, what):
        deadline = time.monotonic() + 60
        while not condition():
            self.assertLess(time.monotonic(), deadline, f"waited too long for {what}")
            time.sleep(0.005)


class Plan(StudyTest):
    def test_cases_and_their_memory(self):
        study = self.study()
        plan = self.plan(study)
        self.assertEqual([case["name"] for case in plan], SIX)
        self.assertEqual(len({case["hash"] for case in plan}), 6)
        self.assertEqual(plan[2]["values"], {"grid.cells": "8", "preconditioner.name": "jacobi"})
        for case in plan:
            words = [word for key, value in case["values"].items() for word in ("--set", f"{key}={value}")]
            deck = self.write("plain.ini", POISSON.format(cells=4))
            self.assertEqual(case["memory"], self.run_json(0, "check", deck, *words)["memory"]["predicted"])
        self.assertFalse((self.folder / "s").exists())

    def test_what_does_not_fit(self):
        study = self.study("[device]\nmemory_limit = 1\n[sweep]\ngrid.cells = 8, 64, 8000\n")
        self.assertEqual([case["fits"] for case in self.plan(study, code=6)], [True, False, False])
        done = self.expect(8, "study", "run", study, says=["[2/3] does not fit", "needs"])
        self.assertIn("1 of 3 cases done", done.stdout)
        self.assertEqual(list(self.status(study).values()), ["done", "waiting", "waiting"])

    def test_refused_cases_are_all_told_before_any_work(self):
        study = self.study("[sweep]\nsolver.name = cg, gmres\nproblem.scheme = upwind, central\n",
                           TRANSPORT.format(cells=8, steps=1))
        self.assertEqual([case.get("error", "") != "" for case in self.plan(study, code=2)], [True, True, False, False])
        self.expect(2, "study", "run", study,
                    says=["s.ini: 2 of 4 cases cannot be run, so none is begun:\n", "cg needs a symmetric matrix"])
        self.assertEqual(list((self.folder / "s").glob("*.h5")), [])
        # Each message ends with a line for [sweep] that leaves one case more out.
        text = (self.folder / "s.ini").read_text()
        for skip, cases in (("problem.scheme == upwind and solver.name == cg", 3),
                            ("(problem.scheme == upwind and solver.name == cg) or "
                             "problem.scheme == central and solver.name == cg", 2)):
            done = self.expect(2, "study", "run", study)
            self.assertEqual(done.stderr.splitlines()[-1], f"skip = {skip}")
            self.write("s.ini", text + f"skip = {skip}\n")
            self.assertEqual(len(self.plan(study, code=2 if cases == 3 else 0)), cases)

    def test_a_wrong_value_is_named_with_its_line(self):
        study = self.study("[sweep]\nsolver.rtol = 1e-3, x\n")
        self.assertIn("s.ini:9: solver.rtol: expected a finite number, got 'x'", self.plan(study, code=2)[1]["error"])
        study = self.study("[sweep]\nsolver.rtoll = 1e-3\n")
        self.assertIn("did you mean solver.rtol?", self.plan(study, code=2)[0]["error"])

    def test_values_without_commas_are_told_to_be_one(self):
        for line in ("solver.rtol = 1e-3 1e-4", "preconditioner.name = jacobi none", "device.threads = 1\t2, 1"):
            error = self.plan(self.study(f"[sweep]\n{line}\n"), code=2)[0]["error"]
            self.assertTrue(error.startswith("s.ini:9: "), error)
            self.assertTrue(error.endswith("; blanks belong to a value of [sweep]: write commas between values"), error)
        self.assertEqual(len(self.plan(self.study("[sweep]\ngrid.cells = 4 4 5\n"))), 1)
        plain = self.plan(self.study("[sweep]\nsolver.rtol = x\n"), code=2)[0]["error"]
        self.assertNotIn("commas", plain)
        for line in ('solver.rtol = "1e-3 1e-4"', 'solver.rtol = 1e-3, "1e-3 1e-4"'):
            quoted = self.plan(self.study(f"[sweep]\n{line}\n"), code=2)[-1]["error"]
            self.assertTrue(quoted.startswith("s.ini:9: "), quoted)
            self.assertNotIn("commas", quoted)

    def test_quotes_protect_commas(self):
        """Names of cases are those of files, whatever the values are."""
        for name in ("ok.mtx", "a,b.mtx"):
            self.write(name, chain(4 * [2.0]))
        text = "[problem]\nname = matrix\n[preconditioner]\nname = jacobi\n[sweep]\nproblem.file = "
        for listed, files in (('"ok.mtx", "a,b.mtx"', {"file=ok.mtx": "ok.mtx", "file=a_b.mtx": "a,b.mtx"}),
                              ('ok.mtx, "a,b.mtx" ; both', {"file=ok.mtx": "ok.mtx", "file=a_b.mtx": "a,b.mtx"}),
                              ('"a,b.mtx"', {"file=a_b.mtx": "a,b.mtx"})):
            study = self.write("s.ini", text + listed + "\n")
            self.assertEqual({case["name"]: case["values"]["problem.file"] for case in self.plan(study)}, files)
        self.expect(0, "study", "run", study)
        self.assertTrue(self.file_of("file=a_b.mtx").exists())
        self.write("s.ini", text + "\n")
        done = self.expect(2, "study", "plan", study, says='s.ini:6: sweep.problem.file: the value is missing ("" is an empty one)')
        self.assertEqual(len(done.stderr.splitlines()), 1)

    def test_what_refuses_several_cases_is_told_once(self):
        study = self.study("[sweep]\ngrid.cels = 3, 4, 5\nsolver.rtol = 1e-3, x\n")
        for words in (("plan",), ("run",)):
            said = self.expect(2, "study", *words, study).stderr
            self.assertEqual(said.count("unknown key grid.cels"), 2, said)
            self.assertIn("cels=3,rtol=1e-3 and 2 more cases:\n", said)
            self.assertIn("cels=3,rtol=x and 2 more cases:\n", said)

    def test_one_is_no_plural(self):
        study = self.study("[sweep]\ngrid.cells = 4\n")
        self.assertIn("s.ini: 1 case, 0 done", self.expect(0, "study", "plan", study).stdout)
        for cells, told in (("8000", "1 case does not fit, 0 refused"), ("8000, 9000", "2 cases do not fit, 0 refused")):
            large = self.study(f"[device]\nmemory_limit = 1\n[sweep]\ngrid.cells = {cells}\n")
            self.assertIn(told, self.expect(6, "study", "plan", large).stdout)
        self.study("[sweep]\ngrid.cells = 4\n")
        self.expect(0, "study", "run", self.study("[sweep]\npreconditioner.name = multigrid\n"), says=["1 case to run", " 1 iteration\n"])

    def test_usage(self):
        self.expect(2, "study", "plan", self.write("plain.ini", POISSON.format(cells=8)), says="no section [sweep]")
        self.expect(2, "study", "plam", "s.ini", says="did you mean plan?")
        self.expect(2, "study", "plan", says="needs STUDY")
        self.expect(2, "study", "plan", "s.ini", "--jobs", "2", says="does not take --jobs")
        study = self.study()
        self.expect(2, "run", study, says=["s.ini:9", "hyperplane study run s.ini"])
        self.expect(2, "run", study, "--case", "cells=9", says="no case 'cells=9'")
        self.expect(2, "run", study, "--case", "0", "--set", "grid.cells=9", says="another case")
        self.expect(2, "study", "run", self.study(SWEEP + "[output]\nfile = a.h5\n"), says="output.file")
        self.expect(2, "study", "plan", self.study(SWEEP + "[slurm]\ntme = 1\n"), says="did you mean slurm.time?")
        self.expect(7, "study", "plan", "nowhere.ini", says="nowhere.ini")

    def test_help(self):
        self.assertIn("--jobs", self.expect(0, "help", "study").stdout)
        self.assertIn("condition on varied keys", self.expect(0, "help", "sweep.skip").stdout)
        self.assertIn("partition", self.expect(0, "help", "slurm").stdout)


class Run(StudyTest):
    def test_records_are_those_of_plain_runs(self):
        study = self.study()
        done = self.expect(0, "study", "run", study, "--jobs", "2", says=["6 cases to run", "[6/6]"])
        self.assertIn("6 of 6 cases done", done.stdout)
        self.assertEqual(set(self.status(study).values()), {"done"})
        deck = self.write("plain.ini", POISSON.format(cells=12))
        self.expect(0, "run", deck, "--set", "preconditioner.fill_level=1")
        self.expect(0, "diff", "plain.h5", f"s/{SIX[4]}.h5", "--tolerance", "0")
        environment = self.record(f"s/{SIX[4]}.h5")["environment"]
        self.assertEqual((environment["study"], environment["case"]), ("s.ini", SIX[4]))
        self.expect(0, "study", "run", study, says=["0 cases to run", "6 done before"])
        self.assertEqual([path for path in (self.folder / "s").iterdir() if path.suffix in (".lock", ".part")], [])

    def test_commands_in_messages_name_the_study_as_one_word(self):
        study = self.study(name="it's two words.ini")
        word = "'it'\\''s two words.ini'"
        self.expect(7, "study", "collect", study, says=[f"hyperplane study run {word} computes", f"status {word} says"])
        self.expect(2, "run", study, says=[f"hyperplane study run {word} runs", f"run {word} --case"])
        done = self.expect(0, "study", "run", study)
        self.assertIn(f"hyperplane study collect {word} makes", done.stdout)

    def test_a_failed_case_is_a_result(self):
        study = self.study("max_iterations = 9\n" + SWEEP)
        self.expect(8, "study", "run", study, says=["failed", "exit code 3: max_iterations"])
        failed = [name for name, status in self.status(study).items() if status == "failed"]
        self.assertTrue(failed)
        self.expect(8, "study", "resume", study, says=["0 cases to run", f"{len(failed)} failed before"])
        self.expect(8, "study", "resume", study, "--failed", says=f"{len(failed)} cases to run")
        self.expect(0, "study", "collect", study)
        row = next(row for row in self.rows() if row["name"] == failed[0])
        self.assertEqual((row["exit_code"], row["stop_reason"], row["iterations"]), ("3", "max_iterations", "9"))

    def test_a_failure_that_may_pass_is_tried_again_by_resume_alone(self):
        study = self.study()
        self.expect(0, "study", "run", study)
        name = SIX[3]
        self.file_of(name).unlink()
        (self.folder / "s" / f"{name}.h5.part").mkdir()  # so that the record cannot be created
        self.expect(8, "study", "run", study, says=["failed", "exit code 7", f"{name}.log"])
        (self.folder / "s" / f"{name}.h5.part").rmdir()
        self.expect(0, "study", "resume", study)

    def test_existence_is_not_enough(self):
        study = self.study()
        self.expect(0, "study", "run", study)
        whole = self.file_of(SIX[0]).read_bytes()
        self.file_of(SIX[0]).write_bytes(whole[: len(whole) // 2])
        self.file_of(SIX[1]).write_bytes(b"")
        shutil.copy(self.file_of(SIX[3]), self.file_of(SIX[4]))
        self.assertEqual([self.status(study)[name] for name in SIX],
                         ["damaged", "damaged", "done", "done", "edited", "done"])
        self.expect(2, "study", "resume", study, says="fill_level is 1, was 0")
        self.expect(0, "study", "resume", study, "--edited", says="3 cases to run")
        self.assertEqual(set(self.status(study).values()), {"done"})

    def test_an_edited_study_is_noticed(self):
        study = self.study()
        self.expect(0, "study", "run", study)
        text = (self.folder / study).read_text()
        self.write(study, text.replace("name = cg", "name = cg\nrtol = 1e-6"))
        self.assertEqual(set(self.status(study).values()), {"edited"})
        for verb in ("run", "resume", "submit"):
            self.expect(2, "study", verb, study, says=["6 of its cases", "solver.rtol is 1e-6, was 1e-8", "--edited"])
        self.expect(2, "run", study, "--case", SIX[0], says="earlier version of the study")
        self.expect(7, "study", "collect", study, says="none of its 6 cases has a result, so nothing is written")
        self.assertFalse((self.folder / "s.csv").exists())
        self.write(study, text.replace("8, 12", "8, 12, 10"))  # with more values the existing results stay valid
        self.assertEqual(sorted(self.status(study).values()), ["done"] * 6 + ["waiting"] * 3)
        self.write(study, text.replace("name = cg", "name = cg\nrtol = 1e-6"))
        self.expect(0, "study", "run", study, "--edited")
        self.assertTrue(self.file_of(SIX[0], "before.h5").exists())
        self.assertEqual(set(self.status(study).values()), {"done"})

    def test_example(self):
        text = (INPUTS / "studies/preconditioners.ini").read_text()
        small = re.sub(r"grid.cells = .*", "grid.cells = 8, 12, 48", text)
        study = self.write("example.ini", small)
        self.assertEqual(len(self.plan(study)), 14)
        self.write(study, small.replace(", 48", ""))
        self.expect(0, "study", "run", study, "--jobs", "2")
        self.expect(0, "study", "collect", study)
        rows = self.rows("example.csv")
        self.assertEqual(len(rows), 10)
        by_level = [int(row["iterations"]) for row in rows if row["grid.cells"] == "12"][:3]
        self.assertEqual(by_level, sorted(by_level, reverse=True))


class Stopped(StudyTest):
    """Cases that are killed or preempted go on, and end with the same bits."""

    SWEEP = "[output]\nfields = true\ncheckpoint_every = 15\n[sweep]\nproblem.viscosity = 1e-3, 2e-3, 3e-3\n"
    NAMES = ["viscosity=1e-3", "viscosity=2e-3", "viscosity=3e-3"]
    whole = {}  # results of uninterrupted cases, computed by the first test

    def setUp(self):
        super().setUp()
        self.text = self.study(self.SWEEP, TRANSPORT.format(cells=20, steps=160))
        if not self.whole:
            self.expect(0, "study", "run", self.text)
            self.whole.update({name: self.file_of(name, "vtkhdf").read_bytes() for name in self.NAMES})
            shutil.rmtree(self.folder / "s")

    def expect_same_results(self):
        self.assertEqual(set(self.status(self.text).values()), {"done"})
        for name in self.NAMES:
            self.assertEqual(self.file_of(name, "vtkhdf").read_bytes(), self.whole[name], name)

    def checkpointed(self, name):
        return all(self.file_of(name, f"{slot}.checkpoint").exists() for slot in (0, 1))

    def process_of(self, name):
        """The pid of the process that writes to the case's log."""
        for process in pathlib.Path("/proc").iterdir():
            try:
                if process.name.isdigit() and str(self.file_of(name, "log")) == str((process / "fd/1").readlink()):
                    return int(process.name)
            except OSError:
                pass
        return None

    def test_a_case_that_is_killed_ends_alone(self):
        study = self.start("study", "run", self.text)
        self.wait_for(lambda: self.checkpointed(self.NAMES[0]), "checkpoints")
        os.kill(self.process_of(self.NAMES[0]), signal.SIGKILL)
        _, log = study.communicate(timeout=60)
        self.assertEqual(study.returncode, 8, log)
        self.assertIn("by signal 9", log)
        self.assertEqual(list(self.status(self.text).values()), ["killed", "done", "done"])
        self.expect(0, "study", "resume", self.text, says="1 case to run")
        self.assertIn("is a checkpoint: going on from step", self.file_of(self.NAMES[0], "log").read_text())
        self.expect_same_results()

    def test_a_signal_preempts_what_runs(self):
        for number in (signal.SIGTERM, signal.SIGUSR1, signal.SIGINT):
            with self.subTest(number):
                shutil.rmtree(self.folder / "s", ignore_errors=True)
                study = self.start("study", "run", self.text, "--jobs", "2")
                self.wait_for(lambda: self.checkpointed(self.NAMES[1]), "checkpoints")
                study.send_signal(number)
                study.send_signal(signal.SIGTERM)  # schedulers may send several
                _, log = study.communicate(timeout=60)
                self.assertEqual(study.returncode, 75, log)
                self.assertIn("preempted", self.status(self.text).values())
                self.expect(0, "study", "resume", self.text)
                self.expect_same_results()

    def test_the_study_itself_is_killed(self):
        study = self.start("study", "run", self.text)
        self.wait_for(lambda: self.checkpointed(self.NAMES[0]), "checkpoints")
        study.kill()
        study.communicate()
        self.wait_for(lambda: "running" not in self.status(self.text).values(), "the case to end")
        self.assertEqual(list(self.status(self.text).values()), ["preempted", "waiting", "waiting"])
        self.expect(0, "study", "resume", self.text)
        self.expect_same_results()

    def test_one_process_a_case(self):
        study = self.start("study", "run", self.text)
        self.wait_for(lambda: self.checkpointed(self.NAMES[0]), "checkpoints")
        self.assertEqual(self.status(self.text)[self.NAMES[0]], "running")
        self.expect(10, "run", self.text, "--case", self.NAMES[0], says=f"{self.NAMES[0]}.h5 is being worked on by process")
        study.communicate(timeout=60)
        self.assertEqual(study.returncode, 0)
        self.expect_same_results()


if __name__ == "__main__":
    unittest.main()
