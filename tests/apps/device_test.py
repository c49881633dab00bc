# SPDX-License-Identifier: BSD-3-Clause
"""Runs on a GPU: same results and same messages as on a CPU, within the predicted memory."""

import itertools
import json
import os
import signal
import subprocess
import tempfile

from program import INPUTS, POISSON, PROGRAM, TRANSPORT, ProgramTest, main_unless

BLOCKS = "[problem]\nname = block_laplacian\n[grid]\ncells = 13 11 9\n[solver]\nname = cg\n"


def numbers(path):
    """The values of a Matrix Market file, in order."""
    lines = [line for line in path.read_text().splitlines() if not line.startswith("%")]
    return [float(line.split()[-1]) for line in lines[1:]]


class Device(ProgramTest):
    def export(self, backend, deck, *settings):
        """Matrix, right-hand side and solution of the first step, in natural order."""
        folder = self.folder / backend
        words = [word for setting in ("solver.rtol=1e-12", *settings) for word in ("--set", setting)]
        self.expect(0, "export", deck, "--backend", backend, "--output", str(folder), *words)
        return [numbers(folder / name) for name in ("A.mtx", "b.mtx", "x.mtx")]

    def close(self, here, there, tolerance):
        scale = max(map(abs, here))
        self.assertEqual(len(here), len(there))
        self.assertLessEqual(max(abs(a - b) for a, b in zip(here, there)), tolerance * scale)

    def test_systems_and_solutions_are_the_cpus(self):
        poisson = self.write("poisson.ini", POISSON.format(cells="19 17 13"))
        transport = self.write("transport.ini", TRANSPORT.format(cells="17 13 11", steps=1))
        cell = "problem.discretisation=cell"
        for deck, *settings in ((poisson,), (poisson, cell, "problem.boundary_condition=neumann"),
                                (poisson, cell, "problem.coefficient=white", "problem.log_standard_deviation=1"),
                                (poisson, "problem.stencil=box27", "grid.cells=13"), (transport,),
                                (transport, "problem.preconditioner_scheme=central"),
                                (self.write("blocks.ini", BLOCKS),), (str(INPUTS / "matrix_market_blocks.ini"),)):
            with self.subTest(deck=deck, settings=settings):
                here, there = (self.export(backend, deck, *settings) for backend in ("cpu", "cuda"))
                self.assertEqual(here[0], there[0])
                self.close(here[1], there[1], 1e-13)
                self.close(here[2], there[2], 1e-10)

    def test_eisenstats_form_has_the_iterations_of_the_plain_form(self):
        deck = self.write("a.ini", POISSON.format(cells="70 67 33") + "rtol = 1e-10\n[device]\nbackend = cuda\n")

        def run(record, *settings, code=0, **options):
            words = [word for setting in (f"output.file={record}", *settings) for word in ("--set", setting)]
            return self.expect(code, "run", deck, *words, **options)

        run("plain.h5")
        form = "solver.eisenstat=true"
        said = run("whole.h5", form).stdout
        plain, whole = self.record("plain.h5"), self.record("whole.h5")
        self.assertEqual(whole["solves"][0]["iterations"], plain["solves"][0]["iterations"])
        ratio = whole["solves"][0]["relative_residual"] / plain["solves"][0]["relative_residual"]
        self.assertAlmostEqual(ratio, 1.0, places=5)
        memory = next(line for line in said.splitlines() if line.startswith("memory"))
        held, predicted = memory.replace(" at the peak", "").replace(" predicted", "").split(",")
        self.assertEqual(held.split()[1:], predicted.split(), memory)
        run("part.h5", form, code=75, stop_at=12)
        run("part.h5", form)
        self.expect(0, "diff", "whole.h5", "part.h5", "--tolerance", "0")
        for first, second in (("cuda", "cpu"), ("cpu", "cuda")):  # which hold their vectors differently
            run("moved.h5", form, f"device.backend={first}", code=75, stop_at=12)
            run("moved.h5", form, f"device.backend={second}")
            moved = self.record("moved.h5")["solves"][0]
            self.assertEqual(moved["iterations"], whole["solves"][0]["iterations"])
            self.assertAlmostEqual(moved["relative_residual"] / whole["solves"][0]["relative_residual"], 1.0, places=5)
        shown = run("shown.h5", form, "solver.true_residual_every=5")
        self.assertEqual(self.record("shown.h5")["solves"][0]["relative_residual"],
                         whole["solves"][0]["relative_residual"], shown.stdout)
        for most in (1, 2, 7):  # steps that have run ahead leave x alone
            for name, *settings in (("p", ), ("e", form)):
                run(f"{name}.h5", f"solver.max_iterations={most}", *settings, "solver.rtol=1e-14", "output.fields=false",
                    code=3)
            one, other = (self.record(f"{name}.h5")["solves"][0] for name in "pe")
            self.assertEqual((one["iterations"], other["iterations"]), (most, most))
            self.assertAlmostEqual(one["relative_residual"] / other["relative_residual"], 1.0, places=9)

    def takes_the_iterations_of_the_cpu(self, decks):
        for deck in decks:
            with self.subTest(deck=deck.name):
                here, there = (self.run_json(0, "run", str(deck), "--backend", backend, "--fresh")
                               for backend in ("cpu", "cuda"))
                self.assertTrue(there["device"].startswith("cuda, "))
                # With asynchronous sweeps M varies from call to call, and more where more blocks run at a time, so
                # the counts of the two backends say little of each other: both have met the deck's [expect].
                varies = "block_async" in deck.read_text()
                self.assertEqual(len(here["solves"]), len(there["solves"]), there["message"])
                for a, b in zip(here["solves"], there["solves"]):
                    self.assertEqual(a["stop_reason"], b["stop_reason"])
                    if varies:
                        continue
                    # Sums are rounded differently: hundreds of iterations may differ by two.
                    self.assertLessEqual(abs(a["iterations"] - b["iterations"]), max(1, 0.0125 * a["iterations"]))
                for name, error in here.get("errors", {}).items():
                    self.assertLessEqual(abs(error - there["errors"][name]), 1e-4 * error + 1e-6)

    # The decks are divided among three tests, which run side by side.
    def test_decks_take_the_iterations_of_the_cpu(self):
        self.takes_the_iterations_of_the_cpu(sorted(INPUTS.glob("*.ini"))[0::3])

    def test_other_decks_take_the_iterations_of_the_cpu(self):
        self.takes_the_iterations_of_the_cpu(sorted(INPUTS.glob("*.ini"))[1::3])

    def test_further_decks_take_the_iterations_of_the_cpu(self):
        self.takes_the_iterations_of_the_cpu(sorted(INPUTS.glob("*.ini"))[2::3])

    def test_decks_of_papers_end_as_they_expect(self):
        self.end_as_they_expect(sorted(INPUTS.glob("paper/*.ini"))[0::2])

    def test_other_decks_of_papers_end_as_they_expect(self):
        self.end_as_they_expect(sorted(INPUTS.glob("paper/*.ini"))[1::2])

    def end_as_they_expect(self, decks):
        decks = [deck for deck in decks if "[expect]" in deck.read_text()]
        self.assertTrue(decks)
        for deck in decks:
            with self.subTest(deck=deck.name):
                self.expect(0, "run", str(deck), "--backend", "cuda", "--fresh", "--set", "output.file=paper.h5")

    def test_twenty_runs_have_the_same_bits(self):
        deck = self.write("a.ini", POISSON.format(cells="33 31 29"))
        first = self.export("cuda", deck)
        for _ in range(19):
            self.assertEqual(self.export("cuda", deck), first)

    def test_memory_of_solvers_is_predicted(self):
        self.memory_is_predicted((solver, "struct_ilu") for solver in self.registered("solvers"))

    def test_memory_of_preconditioners_is_predicted(self):
        self.memory_is_predicted(("fgmres", name) for name in self.registered("preconditioners") if name != "cusparse_ilu")

    def memory_is_predicted(self, pairs):
        deck = self.write("a.ini", POISSON.format(cells="45 43 41"))
        for solver, preconditioner in pairs:
            words = (deck, "--backend", "cuda", "--set", f"solver.name={solver}", "--set",
                     f"preconditioner.name={preconditioner}")
            if "takes general matrices alone" in self.run_program("check", *words).stderr:
                words += ("--set", "matrix.format=general")
            with self.subTest(solver=solver, preconditioner=preconditioner):
                memory = self.run_json(0, "check", *words)["memory"]
                held = self.run_json(0, "run", *words)["memory"]["peak"]
                if preconditioner == "par_ilut":  # the set-up finds out how many entries the factors have
                    self.assertLessEqual(memory["predicted"], 1.05 * held)
                    self.assertLessEqual(held, memory["most"])
                else:
                    self.assertLessEqual(abs(memory["predicted"] - held), 0.05 * held)

    def test_reduced_factors_of_general_matrices_take_the_iterations_and_the_memory_of_the_plan(self):
        general = "[matrix]\nformat = general\n"
        decks = (self.write("point.ini", POISSON.format(cells="45 43 41") + general),
                 self.write("blocks.ini", BLOCKS + general))
        cases = itertools.product(decks, ("sync_free_ilu", "par_ilu", "subdomain_ildu0"), ("single", "half_scaled"))
        for deck, name, storage in cases:
            words = (deck, "--set", f"preconditioner.name={name}", "--set", f"preconditioner.storage={storage}")
            with self.subTest(deck=deck, name=name, storage=storage):
                here, there = (self.run_json(0, "run", *words, "--backend", backend, "--fresh") for backend in ("cpu", "cuda"))
                for a, b in zip(here["solves"], there["solves"], strict=True):
                    self.assertEqual((a["stop_reason"], a["iterations"]), (b["stop_reason"], b["iterations"]))
                memory = self.run_json(0, "check", *words, "--backend", "cuda")["memory"]
                self.assertEqual(memory["predicted"], there["memory"]["predicted"])
                self.assertLessEqual(abs(memory["predicted"] - there["memory"]["peak"]), 0.01 * memory["predicted"])

    def test_memory_of_general_matrices_has_no_negative_part(self):
        """What a plan keeps in the host's memory is not subtracted from what a GPU holds."""
        deck = self.write("a.ini", POISSON.format(cells="17 15 13"))
        for name in ("sync_free_ilu", "sync_free_ilu:preconditioner.fill_level=2", "subdomain_ildu0", "jacobi_sweeps", "par_ilu",
                     "par_ilut"):
            preconditioner, *settings = name.split(":")
            words = (deck, "--backend", "cuda", "--set", "matrix.format=general", "--set",
                     f"preconditioner.name={preconditioner}", *(word for s in settings for word in ("--set", s)))
            with self.subTest(name):
                answer = self.run_json(0, "check", *words)
                memory = answer["memory"]
                self.assertTrue(memory["by_label"])
                for label, size in {**memory["by_label"], "left": answer["memory_left"]}.items():
                    self.assertGreaterEqual(size, 0, label)
                self.assertEqual(memory["predicted"], sum(memory["by_label"].values()))
                self.assertGreaterEqual(memory["most"], memory["predicted"])
                self.assertNotRegex(self.expect(0, "check", *words).stdout, r"(?<![\w.)-])-\s?\d")

    def test_bicgstab_outlives_its_first_shadow(self):
        """Some of these solves once ended in a breakdown, because r_0 became orthogonal to a residual."""
        for cells in ("45 43 41", "45 43 42", "41 43 45"):
            deck = self.write("a.ini", POISSON.format(cells=cells))
            for preconditioner in ("none", "jacobi", "struct_ilu"):
                with self.subTest(cells=cells, preconditioner=preconditioner):
                    done = self.run_json(0, "run", deck, "--backend", "cuda", "--fresh", "--set", "solver.name=bicgstab",
                                         "--set", f"preconditioner.name={preconditioner}")
                    self.assertEqual(done["solves"][0]["stop_reason"], "converged_rtol")

    def test_a_comparison_of_several_layouts(self):
        cells = self.write("a.ini", POISSON.format(cells=20))
        neumann = ("--set", "problem.discretisation=cell", "--set", "problem.boundary_condition=neumann")
        for deck, *settings in ((cells,), (cells, *neumann), (self.write("t.ini", TRANSPORT.format(cells=16, steps=1)),)):
            with self.subTest(settings=settings):
                answer = json.loads(self.expect(0, "compare", deck, "--backend", "cuda", "--preconditioners",
                                                "struct_ilu,jacobi_sweeps,par_ilu,jacobi,none", "--solvers", "fgmres",
                                                "--reps", "2", *settings, "--json", "-", "--quiet").stdout)
                for row in answer["candidates"]:
                    self.assertTrue(row["converged"], row)
                    self.assertTrue(row["repeatable"], row)
                    self.assertIsNone(row["preconditioner_share"])
                    self.assertLessEqual(abs(row["memory"]["peak"] - row["memory"]["predicted"]),
                                         0.05 * row["memory"]["peak"])

    def test_bench_has_every_piece_and_preconditioner(self):
        cuda = ("--device", "cuda")
        for case in self.bench("kernels", *cuda, "--ablate", "--cases", "star7:1:24:sym,diamond13:1:17,box27:4:9")["cases"]:
            names = {variant["name"] for variant in case["variants"]}
            self.assertTrue({"other layout", "by level"} <= names)
            for variant in case["variants"]:
                self.assertNotIn("refused", variant)
        built = self.bench("kernels", *cuda, "--build-up", "--cases", "star7:1:24,star13:2:17,box27:4:9")["cases"]
        self.assertEqual([len(case["built_up"]) for case in built], [4, 5, 5])
        for case in built:
            self.assertNotIn("cusparse", case)
            for step in case["built_up"]:
                self.assertNotIn("refused", step)
        tuned = self.bench("kernels", *cuda, "--tunings", "factor tiles", "--cases", "star7:4:12")["cases"][0]["variants"]
        self.assertEqual([variant["name"].rsplit(" ", 3)[0] for variant in tuned], ["factor tiles"] * 5)
        self.expect(2, "bench", "kernels", *cuda, "--tunings", "tilse", says="'tilse'")
        boxes = self.bench("preconditioners", *cuda, "--tunings", "64 workers", "--cases", "star7:1:24",
                      "--preconditioners", "subdomain_ildu0")["systems"][0]["preconditioners"]
        self.assertEqual([row["preconditioner"] for row in boxes],
                         ["subdomain_ildu0", "subdomain_ildu0, 64 workers", "subdomain_ildu0, 64 workers, rings of 16 KiB"])
        for system in self.bench("preconditioners", *cuda, "--cases", "star7:1:24:sym,box27:4:9")["systems"]:
            rows = {row["preconditioner"]: row for row in system["preconditioners"]}
            for name in ("struct_ilu", "jacobi_sweeps", "par_ilu", "multicolor", "subdomain_ildu0", "jacobi", "cusparse_ilu", "none"):
                self.assertNotIn("refused", rows[name])
                self.assertGreater(rows[name]["cusparse_over_this"], 0.0)

    def test_bench_compiles_the_kernels_of_all_variants_first(self):
        with tempfile.TemporaryDirectory() as cache:
            done = subprocess.run([PROGRAM, "bench", "kernels", "--device", "cuda", "--cases", "star7:1:24:sym,diamond13:1:17,box27:4:9",
                                   "--ablate", "--build-up", "--tunings", "stages,factor", "--repeats", "1", "--json", "-"], text=True,
                                  check=True, env={**os.environ, "HYPERPLANE_KERNEL_CACHE": cache}, capture_output=True)
        self.assertNotIn("after the clocks had started", done.stderr)
        found = json.loads(done.stdout)
        self.assertGreater(found["compile_seconds"], 0.0)
        for case in found["cases"]:
            alike = [variant for variant in case["variants"] if "same_as" in variant]
            self.assertTrue(alike)
            for variant in alike:
                self.assertEqual(variant["kernels"], {})

    def test_bench_and_compare_tell_the_seconds_of_the_compiler(self):
        """Those of the first call, which keeps the kernels: in the second one there are none."""
        self.write("plain.ini", POISSON.format(cells="17 15 13") + "[device]\nbackend = cuda\n")
        few = ("--repeats", "1")
        for words in (("bench", "preconditioners", "--device", "cuda", "--cases", "star7:1:16", "--preconditioners", "struct_ilu", *few),
                      ("bench", "solve", "plain.ini", *few),
                      ("compare", "plain.ini", "--preconditioners", "struct_ilu,jacobi", "--reps", "1", "--fresh", "--quiet")):
            with self.subTest(words[:2]), tempfile.TemporaryDirectory() as cache:
                first, second = (json.loads(subprocess.run(
                    [PROGRAM, *words, "--json", "-"], cwd=self.folder, env={**os.environ, "HYPERPLANE_KERNEL_CACHE": cache}, check=True,
                    capture_output=True, text=True).stdout)["compile_seconds"] for _ in range(2))
                self.assertGreater(first, 0.0)
                self.assertEqual(second, 0.0)

    def test_a_first_set_up_of_bench_has_no_compiler_in_it(self):
        with tempfile.TemporaryDirectory() as cache:
            done = subprocess.run([PROGRAM, "bench", "preconditioners", "--device", "cuda", "--cases", "box27:8:12",
                                   "--preconditioners", "par_ilu", "--repeats", "1", "--json", "-"], text=True, check=True,
                                  env={**os.environ, "HYPERPLANE_KERNEL_CACHE": cache}, capture_output=True)
        row = json.loads(done.stdout)["systems"][0]["preconditioners"][0]
        self.assertGreater(row["first_setup"], 0.0)
        self.assertLess(row["first_setup"], 2.0)  # these kernels take the compiler some 10 s

    def test_bench_solve_accounts_for_the_time_of_a_solve(self):
        deck = self.write("a.ini", POISSON.format(cells=64))
        for row in self.bench("solve", deck, "--backend", "cuda")["solves"]:
            parts = row["spmv"] + row["preconditioner_apply"] + row["other"] + row["ends"]
            self.assertGreater(row["other_over_limit"], 0.0)
            self.assertLessEqual(abs(parts - row["solve"]["median"]), 0.5 * row["solve"]["median"])
            dots = 1 if row["preconditioner"] == "struct_ilu" else 2
            self.assertAlmostEqual(row["other_bytes"] / row["other_fewest_bytes"], (8 + 2 * dots) / 8)

    def test_bench_compares_vectors_with_cublas(self):
        found = json.loads(self.expect(0, "bench", "vectors", "--device", "cuda", "--unknowns", "4099,300007",
                                       "--repeats", "2", "--json", "-").stdout)
        self.assertEqual(len(found["operations"]), 18)
        for row in found["operations"]:
            self.assertLess(row["difference"], 1e-12)
            self.assertGreater(row["cublas_over_this"], 0.0)

    def test_out_of_memory(self):
        deck = self.write("a.ini", POISSON.format(cells=64) + "[device]\nbackend = cuda\nmemory_limit = 8\n")
        self.expect(6, "run", deck, says=["out of device memory", "matrix", "total"])
        deck = self.write("b.ini", POISSON.format(cells=1280) + "[device]\nbackend = cuda\n")
        self.expect(6, "check", deck)

    def test_the_record_names_the_device(self):
        deck = self.write("a.ini", POISSON.format(cells=16) + "[output]\nfields = true\n")
        self.expect(0, "run", deck, "--backend", "cuda")
        environment = self.record("a.h5")["environment"]
        self.assertEqual(environment["backend"], "cuda")
        for key in ("gpu", "gpu_memory", "gpu_compute_capability", "cuda_driver"):
            self.assertTrue(environment[key], key)
        self.assertTrue((self.folder / "a.vtkhdf").exists())

    def test_a_run_goes_on_on_the_other_backend(self):
        deck = self.write("a.ini", TRANSPORT.format(cells=24, steps=40) + "[output]\ncheckpoint_every = 1\n")
        for first, then in (("cuda", "cpu"), ("cpu", "cuda")):
            whole = self.run_json(0, "run", deck, "--backend", first, "--fresh", "--set", "output.file=whole.h5")
            killed = self.run_program("run", deck, "--quiet", "--fresh", "--backend", first,
                                      stop_at=f"100:{int(signal.SIGKILL)}")
            self.assertEqual(killed.returncode, -signal.SIGKILL)
            rest = self.run_json(0, "run", deck, "--backend", then, "--restart")
            self.assertTrue(rest["resumed"])
            here, there = whole["solves"][-1], rest["solves"][-1]
            self.assertEqual(here["step"], there["step"])
            self.assertLessEqual(abs(here["b_norm"] - there["b_norm"]), 1e-7 * here["b_norm"])

    def test_the_times_of_a_run_have_no_compiler_in_them(self):
        # A set-up of several milliseconds, beside which a run's own noise is small.
        deck = self.write("a.ini", POISSON.format(cells=288) + "[preconditioner]\nname = struct_ilu\nfill_level = 1\n")

        def seconds(cache):
            done = subprocess.run([PROGRAM, "run", deck, "--backend", "cuda", "--fresh", "--json"], cwd=self.folder,
                                  env={**os.environ, "HYPERPLANE_KERNEL_CACHE": str(self.folder / cache)},
                                  capture_output=True, text=True, check=True)
            self.assertNotIn("after the clocks had started", done.stderr)
            return {part: clock["seconds"] for part, clock in json.loads(done.stdout)["timers"].items()}

        # The fastest of three runs is compared, each with a cache of its own.
        caches = ("kernels1", "kernels2", "kernels3")
        firsts, laters = [seconds(cache) for cache in caches], [seconds(cache) for cache in caches]
        compiled = min(first["compile"] for first in firsts)
        self.assertGreater(compiled, 0.0)
        for part in ("setup", "solve"):
            first, second = (min(run[part] for run in runs) for runs in (firsts, laters))
            self.assertGreater(second, 0.004, part)
            self.assertLess(first, 1.1 * second + 0.001, part)  # 1 ms: a run's own noise
        for later in laters:
            self.assertNotIn("compile", later)

    def test_the_times_of_a_profile(self):
        """The marks in the graphs change no bit, and their times add up to those of the solve."""
        deck = self.write("a.ini", POISSON.format(cells="97 95 93"))
        for solver, preconditioner in (("cg", "struct_ilu"), ("cg", "multigrid"), ("cg", "subdomain_ildu0"),
                                       ("gmres", "multicolor"), ("bicgstab", "jacobi"), ("pipelined_cg", "struct_ilu")):
            with self.subTest(solver=solver, preconditioner=preconditioner):
                words = ("run", deck, "--backend", "cuda", "--fresh", "--set", f"solver.name={solver}", "--set",
                         f"preconditioner.name={preconditioner}")
                plain = self.run_json(0, *words)
                profiled = self.run_json(0, *words, "--set", "output.profile=true")
                for key in ("iterations", "recurrence_residual", "true_residual"):
                    self.assertEqual(plain["solves"][0][key], profiled["solves"][0][key])
                info = json.loads(self.expect(0, "info", "a.h5", "--json").stdout)
                rows = {row["name"]: row for row in info["profile"]}
                for name in ("solve/spmv", "solve/preconditioner"):
                    self.assertGreaterEqual(rows[name]["calls"], profiled["iterations"], name)
                    self.assertGreater(rows[name]["seconds"], 0.0)
                parts = sum(row["seconds"] for name, row in rows.items() if name.count("/") == 1 and name[:6] == "solve/")
                self.assertLessEqual(parts, 1.02 * rows["solve"]["seconds"])
                self.assertGreater(parts, 0.5 * rows["solve"]["seconds"])
                # The last event may wait for other processes that use the GPU.
                self.assertLessEqual(rows["solve"]["seconds"], 1.5 * profiled["solves"][0]["solve_seconds"] + 1e-2)
                json.loads((self.folder / "a.profile.json").read_text())

    def test_slurm_is_asked_for_the_hosts_memory_alone(self):
        for backend in ("auto", "cuda", "cpu"):
            study = self.write("s.ini", POISSON.format(cells=64) + f"[device]\nbackend = {backend}\n"
                               "[sweep]\nsolver.rtol = 1e-4, 1e-6\n")
            script = self.expect(0, "study", "submit", study, "--print").stdout
            self.assertEqual("#SBATCH --mem=" in script, backend == "cpu", script)

    def test_self_test(self):
        self.expect(0, "selftest", "--backend", "cuda")


def why_no_gpu():
    listed = subprocess.run([PROGRAM, "list", "devices", "--json"], stdout=subprocess.PIPE, text=True, check=True)
    reason = json.loads(listed.stdout)["devices"].get("cuda")
    return f"skipped: cuda is {reason}" if reason else ""


if __name__ == "__main__":
    main_unless(why_no_gpu())
