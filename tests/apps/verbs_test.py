# SPDX-License-Identifier: BSD-3-Clause
"""What the verbs print and write."""

import json
import os
import re
import subprocess
import unittest

from program import INPUTS, MATRIX, POISSON, PROGRAM, TRANSPORT, ProgramTest


class Explain(ProgramTest):
    def test_problems_are_listed_with_keys_deck_and_picture(self):
        text = self.expect(0, "list", "problems").stdout
        decks = re.findall(r"deck: (\S+)", text)
        self.assertEqual(len(decks), len(json.loads(self.expect(0, "list", "--json").stdout)["problems"]))
        for path in decks + re.findall(r"picture: (\S+)", text):
            self.assertTrue((INPUTS.parent / path).is_file(), f"list problems names {path}, which does not exist; a problem without a "
                            "picture has has_picture = false in its row of problems/registry.cpp")
        self.assertRegex(text, r"keys: .*reynolds")
        self.assertNotIn("deck:", self.expect(0, "list").stdout)

    def test_stencils_are_listed_with_the_operations_of_a_row(self):
        """The serial ones are those of the StructILU paper's Table 2, and of a pipelined solve 3. The others of that table are 11,
        10, 25 and 30 (factorisation) and 4 (the solve of box27, with one group less): docs/papers.md says why ours are more."""
        text = self.expect(0, "list", "stencils").stdout
        built = json.loads(self.expect(0, "info", "build", "--json").stdout)
        for name, lower, groups, serial, sets, pipeline in (
                ("star7", 3, 1, 7, (6, 5), (5, 4)), ("star13", 6, 2, 19, (13, 10), (11, 7)), ("diamond13", 6, 2, 29, (17, 13), (15, 13)),
                ("diamond25", 12, 4, 95, (54, 34), (48, 31)), ("box27", 13, 5, 115, (65, 48), (58, 39))):
            shared = f"; 3 in a pipeline of {groups} groups" if groups > 1 and "cuda" in built["backends"] else ""
            self.assertRegex(text, rf"  {name} +\d+ entries.*\n +lower solve: {lower} operations a row{shared}\n +"
                             rf"factorisation: {serial} operations a row; {sets[0]} in level sets of 2 groups, {sets[1]} of 4; "
                             rf"{pipeline[0]} in a pipeline of 2 groups, {pipeline[1]} of 4\n")
        self.assertIn("An operation multiplies two blocks", text)
        self.assertNotIn("operation", self.expect(0, "list").stdout.partition("stencils")[2])

    def test_help_knows_every_word_of_the_lists(self):
        listed = json.loads(self.expect(0, "list", "--json").stdout)
        self.assertEqual(set(listed), {"problems", "solvers", "preconditioners", "orderings", "scalings", "stencils", "devices"})
        for kind in set(listed) - {"devices"}:
            for name in listed[kind]:
                self.assertIn(f"{kind[:-1]} {name}", self.expect(0, "help", name).stdout)
        for name, summary in listed["stencils"].items():
            text = self.expect(0, "help", name).stdout
            self.assertIn(f"stencil {name}\n{summary}.\n", text)
            self.assertEqual(len(re.findall(r"\(-?\d, -?\d, -?\d\)", text)), int(summary.split()[0]))
        self.expect(2, "help", "star8", says="did you mean star7?")
        for section in ("problem", "grid", "time", "solver", "preconditioner", "device", "output", "expect"):
            self.assertIn(f"[{section}]", self.expect(0, "help", section).stdout)

    def test_libraries_of_a_gpu_are_loaded_when_they_are_needed(self):
        """They take most of the time of a start."""
        done = subprocess.run([PROGRAM], env={**os.environ, "LD_TRACE_LOADED_OBJECTS": "1"}, text=True, stdout=subprocess.PIPE)
        self.assertIn("libhdf5", done.stdout)
        for library in ("libcusparse", "libnvJitLink", "libnvrtc", "libcublas", "libcuda."):
            self.assertNotIn(library, done.stdout)

    def test_help_prints_one_text(self):
        for words, named in ((("--schema", "--man"), "--man, --schema"), (("--markdown", "--completion", "bash"), "--completion, --markdown"),
                             (("--markdown", "solver"), "solver, --markdown")):
            done = self.expect(2, "help", *words, says=f"help: each of {named} asks for a text of its own, and one is printed; give one of them")
            self.assertEqual(done.stdout, "")

    def test_help_of_a_key(self):
        text = self.expect(0, "help", "solver.rtol").stdout
        for part in ("real >= 0 and <= 1", "default 1e-8", "true residual"):
            self.assertIn(part, text)
        fill = self.expect(0, "help", "preconditioner.fill_level").stdout
        self.assertIn("with preconditioner.name = struct_ilu, ", fill)
        self.assertEqual(fill.count("ILU(k): fill made of entries"), 1, "what is the same stands there once")

    def test_help_of_a_verb(self):
        usage = self.expect(0, "run", "--help").stdout
        self.assertEqual(usage, self.expect(0, "help", "run").stdout)
        self.assertIn("--fresh", usage)
        for verb in ("run", "check", "warm", "compare", "list", "help", "info", "diff", "report", "export", "selftest"):
            self.assertIn(f"  {verb} ", self.expect(0, "--help").stdout)

    def test_info(self):
        build = json.loads(self.expect(0, "info", "build", "--json").stdout)
        self.assertIn(build["version"], self.expect(0, "--version").stdout)
        self.assertGreaterEqual(json.loads(self.expect(0, "info", "device", "--json").stdout)["processors"], 1)

    def test_check_shows_where_each_value_came_from(self):
        deck = self.write("a.ini", POISSON.format(cells=8))
        text = self.expect(0, "check", deck, "--verbose", "--set", "solver.rtol=1e-4").stdout
        for part in ("a.ini:3", "--set", "default", "fits"):
            self.assertIn(part, text)
        self.assertFalse((self.folder / "a.h5").exists())

    def test_check_estimates_time_from_bytes(self):
        deck = self.write("a.ini", POISSON.format(cells=32))
        answer = self.run_json(0, "check", deck, "--set", "preconditioner.name=none", "--set", "solver.max_iterations=70")
        vector, matrix = 8 * 32**3, answer["memory"]["by_label"]["matrix"]
        estimate = answer["estimate"]  # CG: a product, z = r, and 8 vectors besides
        self.assertAlmostEqual(estimate["iteration_bytes"], matrix + 2 * vector + 2 * vector + 8 * vector)
        self.assertAlmostEqual(estimate["seconds_per_iteration"], estimate["iteration_bytes"] / estimate["memory_rate"])
        self.assertAlmostEqual(estimate["seconds_of_max_iterations"], 70 * estimate["seconds_per_iteration"])
        self.assertTrue(1e8 < estimate["memory_rate"] < 1e13, estimate)
        low, high = estimate["seconds_per_iteration_range"]
        self.assertTrue(low <= estimate["seconds_per_iteration"] < high < 10 * low, estimate)
        self.assertAlmostEqual(estimate["seconds_of_solves_range"][0], 5 * low)
        self.assertAlmostEqual(estimate["seconds_of_solves_range"][1], 70 * high)
        text = self.expect(0, "check", deck, "--set", "solver.max_iterations=70").stdout
        self.assertRegex(text, r"an iteration +\S+ \w+ to \S+ \w+: ")
        self.assertIn(": 5 to 70 iterations; solver.max_iterations allows no more", text)
        self.assertNotIn("or more", text)
        small = self.run_json(6, "check", deck, "--set", "device.memory_limit=1")
        self.assertNotIn("estimate", small)

    def test_check_counts_steps_and_products(self):
        deck = self.write("a.ini", TRANSPORT.format(cells=16, steps=3))
        one = self.run_json(0, "check", deck, "--set", "solver.name=richardson")["estimate"]
        two = self.run_json(0, "check", deck, "--set", "solver.name=bicgstab")["estimate"]
        self.assertGreater(two["iteration_bytes"], 2 * one["iteration_bytes"])
        self.assertAlmostEqual(two["seconds_of_max_iterations"], 3 * 2000 * two["seconds_per_iteration"])

    def test_every_deck_is_valid(self):
        for deck in sorted(INPUTS.rglob("*.ini")):
            words = ["study", "plan"] if deck.parent.name == "studies" else ["check"]
            self.assertIn(self.run_program(*words, str(deck), "--json").returncode, (0, 6), deck)


class Run(ProgramTest):
    def test_json_says_what_the_record_says(self):
        deck = self.write("a.ini", POISSON.format(cells=16))
        answer, record = self.run_json(0, "run", deck), None
        record = self.record("a.h5")
        self.assertEqual(answer["solves"][0]["iterations"], record["solves"][0]["iterations"])
        self.assertEqual(answer["errors"], record["errors"])
        self.assertEqual(answer["memory"]["peak"], record["memory"]["peak"])
        self.assertEqual({row["name"] for row in record["timers"]},
                         {"assemble", "setup", "solve", "solve/spmv", "solve/preconditioner"})

    def test_threads_and_layouts_do_not_change_the_counts(self):
        deck = self.write("a.ini", POISSON.format(cells="37 35 33"))  # enough for several threads
        for name, *words in (("one", "--threads", "1"), ("two", "--threads", "2"),
                             ("skewed", "--set", "device.layout=hyperplane")):
            self.expect(0, "run", deck, "--quiet", "--set", f"output.file={name}.h5", *words)
        self.expect(0, "diff", "one.h5", "two.h5", "--tolerance", "0")
        self.expect(0, "diff", "one.h5", "skewed.h5", "--tolerance", "1e-6")

    def test_quiet(self):
        deck = self.write("a.ini", POISSON.format(cells=16))
        self.assertEqual(self.expect(0, "run", deck, "--quiet").stderr, "")

    def test_plain_progress(self):
        deck = self.write("a.ini", POISSON.format(cells=16))
        log = self.expect(0, "run", deck).stderr
        lines = [line for line in log.splitlines() if "iteration " in line]
        self.assertIn("iteration     0", lines[0])
        self.assertRegex(lines[-1], r"recurrence \d\.\d+e-\d+  true \d\.\d+e-\d+  rate 0\.\d+  elapsed .* s  ETA")
        self.assertNotIn("\r", log)

    def test_progress_on_a_terminal_overwrites_its_line(self):
        deck = self.write("a.ini", POISSON.format(cells=48))
        shown = self.shown_on_terminal("run", deck, stdout=subprocess.DEVNULL)
        self.assertIn(b"\riteration ", shown)
        self.assertEqual(shown.count(b"\n"), 2)  # the device's line, and the end of the progress line

    def test_quick_time_steps_share_a_line_of_a_terminal(self):
        deck = self.write("a.ini", TRANSPORT.format(cells=12, steps=40))
        shown = self.shown_on_terminal("run", deck, stdout=subprocess.DEVNULL)
        self.assertEqual(shown.count(b"\n"), 2)
        last = shown.split(b"\r")[-2 if shown.endswith(b"\r\n") else -1]
        self.assertIn(b"step 40 of 40", last)

    def test_many_solves_are_calm_in_a_log(self):
        deck = self.write("a.ini", TRANSPORT.format(cells=12, steps=40))
        log = self.expect(0, "run", deck).stderr
        lines = [line for line in log.splitlines() if "iterations " in line]
        self.assertGreaterEqual(len(lines), 1)
        self.assertLess(len(lines), 20)
        self.assertIn("step 1 of 40", lines[0])
        self.assertIn("ETA", lines[0])  # of the run


class Limit(ProgramTest):
    def test_is_measured_where_asked_for(self):
        deck = self.write("a.ini", POISSON.format(cells=16))
        self.expect(0, "run", deck, "--set", "output.measure_limit=true")
        limit = self.record("a.h5")["limits"]["memory"]
        self.assertTrue(0.1 < limit < 1e4, limit)
        self.expect(0, "run", deck)
        self.assertNotIn("limits", self.record("a.h5"))


class Export(ProgramTest):
    def test_what_is_written_can_be_solved(self):
        deck = self.write("a.ini", TRANSPORT.format(cells="7 6 5", steps=1))
        answer = self.run_json(0, "run", deck)
        self.expect(0, "export", deck, "-o", "out/put")
        again = self.write("out/put/b.ini", MATRIX.format(matrix="A.mtx\nright_hand_side = b.mtx", cells="7 6 5",
                                                          solver="gmres\nrtol = 1e-10"))
        read = self.run_json(0, "run", again)
        self.assertEqual(read["iterations"], answer["iterations"])
        self.assertAlmostEqual(read["solves"][0]["b_norm"] / answer["solves"][0]["b_norm"], 1.0, 12)

    def test_folder_that_cannot_be(self):
        deck = self.write("a.ini", POISSON.format(cells=8))
        self.expect(7, "export", deck, "-o", "a.ini")


class Diff(ProgramTest):
    def test_what_differs_is_named(self):
        deck = self.write("a.ini", POISSON.format(cells=12))
        self.expect(0, "run", deck)
        self.expect(0, "run", deck, "--set", "solver.rtol=1e-4", "--set", "output.file=b.h5")
        done = self.expect(8, "diff", "a.h5", "b.h5")
        self.assertIn("solver.rtol: 1e-8 | 1e-4", done.stdout)
        self.assertIn("solve 1 iterations", done.stdout)
        self.assertIn("the same", self.expect(0, "diff", "a.h5", "a.h5").stdout)
        self.assertFalse(json.loads(self.expect(8, "diff", "a.h5", "b.h5", "--json").stdout)["same"])


class SelfTest(ProgramTest):
    def test_passes(self):
        self.expect(0, "selftest")
        for deck in ("block_laplacian.ini", "convection_diffusion_steady.ini"):
            self.expect(0, "selftest", str(INPUTS / deck), "--set", "grid.cells=12")

    def test_ranks_have_the_bits_of_one(self):
        deck = self.write("a.ini", POISSON.format(cells="13 15 17"))
        for words in ((), ("--set", "preconditioner.name=multigrid"),
                      ("--set", "matrix.format=general", "--set", "preconditioner.name=sync_free_ilu")):
            for ranks in (1, 2):
                answer = json.loads(self.expect(0, "selftest", deck, "--backend", "cpu", "--threads", "1", "--ranks", str(ranks), "--json",
                                                *words).stdout)
                names = [check["name"] for check in answer["checks"]]
                self.assertEqual(answer["device"], "cpu, 2 ranks of 1 thread" if ranks == 2 else "cpu, 1 thread")
                self.assertEqual("spread of the residual over repeats, threads, ranks" in names, ranks == 2, names)
                self.assertIn("iterations with an exaggerated diagonal", names)
        dropped = ("--set", "preconditioner.name=struct_ilu", "--set", "preconditioner.scope=rank")
        answer = json.loads(self.expect(0, "selftest", deck, "--backend", "cpu", "--ranks", "3", "--json", *dropped).stdout)
        self.assertNotIn("spread of the residual over repeats, threads, ranks", [check["name"] for check in answer["checks"]])
        self.expect(2, "selftest", deck, "--backend", "cpu", "--ranks", "18", says="give 17 ranks or fewer")

    def test_reports_a_check_that_fails(self):
        deck = self.write("a.ini", POISSON.format(cells=12).replace("cg", "richardson"))
        answer = json.loads(self.expect(8, "selftest", deck, "--set", "preconditioner.name=none", "--json").stdout)
        self.assertIn("iterations with an exaggerated diagonal",
                      [check["name"] for check in answer["checks"] if not check["passed"]])


class Report(ProgramTest):
    def test_page(self):
        deck = self.write("a.ini", POISSON.format(cells=12))
        self.expect(0, "run", deck)
        done = self.run_program("report", "a.h5", "-o", "a.html", "--png", "a.png")
        if "python3-h5py" in done.stderr:
            self.skipTest("no Python with h5py and matplotlib")
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertIn("<html", (self.folder / "a.html").read_text())
        self.assertEqual((self.folder / "a.png").read_bytes()[:4], b"\x89PNG")

    def test_what_is_no_record(self):
        self.expect(7, "report", self.write("a.h5", "text"), says="a.h5")


if __name__ == "__main__":
    unittest.main()
