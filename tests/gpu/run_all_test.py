# SPDX-License-Identifier: BSD-3-Clause
"""tests/gpu/run_all.sh on a build folder whose only tests are those of harness/probe.cpp. $PROBE_PROGRAM is that binary."""

import collections
import json
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import threading
import time
import unittest
import unittest.mock

HERE = pathlib.Path(__file__).resolve().parent
sys.path.insert(0, str(HERE))
sys.path.insert(1, str(HERE.parent / "apps"))
os.environ.setdefault("HYPERPLANE", "")  # the program's tests look for it when they are read
import catalogue  # noqa: E402
import device_hosts_test as hosts  # noqa: E402
import device_processes_test as processes  # noqa: E402
import device_ranks_general_test as ranks_general  # noqa: E402
import device_ranks_test as ranks  # noqa: E402
import run_all  # noqa: E402
import runner  # noqa: E402
from sharing import may_share  # noqa: E402


class Catalogue(unittest.TestCase):
    def test_the_programs_tests_are_called_by_their_own_class(self):
        for module in (hosts, processes, ranks, ranks_general):
            found = unittest.defaultTestLoader.loadTestsFromModule(module)
            there = {".".join(test.id().split(".")[-2:]) for suite in found for test in suite}
            self.assertEqual(set(catalogue.unittests(pathlib.Path(module.__file__))), there)
            self.assertGreater(len(there), 5, module)
        for file in catalogue.PROGRAM_TESTS + catalogue.PYTHON_TESTS:
            names = catalogue.unittests(file)
            self.assertEqual(len(names), len(set(names)))
            self.assertGreater(len(names), 4, file)

    def test_it_has_every_test_that_cmake_labels_gpu(self):
        lists = {file.parent.name: file.read_text() for file in HERE.parent.glob("*/CMakeLists.txt")}
        labelled = {(room, name) for room, text in lists.items()
                    for names, properties in re.findall(r"set_tests_properties\(([^()]*?)\bPROPERTIES\b([^()]*)\)", text)
                    if re.search(r"\bLABELS \"?(?:\w+;)?gpu\b", properties) for name in names.split()}
        self.assertGreater(len(labelled), 4)
        files = {f"{file.parent.name}/{file.name}" for file in catalogue.PROGRAM_TESTS + catalogue.PYTHON_TESTS}
        self.assertEqual({f"{room}/{name.partition('.')[2]}_test.py" for room, name in labelled}, files)
        self.assertEqual(files, {f"{file.parent.name}/{file.name}" for file in HERE.parent.glob("*/*device*_test.py")})
        self.assertEqual({room for room, text in lists.items() if re.search(r"^ *add_device_ranks_of_hosts\(", text, re.M)},
                         set(catalogue.ROOMS_OF_HOSTS))
        function = (HERE.parent / "harness/device_shards.cmake").read_text()
        self.assertIn(f'--gtest_filter={catalogue.OF_HOSTS}"', function)
        self.assertIn(f"foreach(how {' '.join(catalogue.BETWEEN_HOSTS)})", function)
        # Nothing else in CMake gives a test this label.
        text = "".join(lists.values()) + "".join(file.read_text() for file in HERE.parent.glob("harness/*.cmake"))
        self.assertEqual(len(re.findall(r"LABELS \"?(?:\w+;)?gpu\b", text)), len({room for room, _ in labelled}) + 2)

    def test_ranks_run_once_more_as_ranks_of_hosts(self):
        with unittest.mock.patch.object(catalogue, "listed", return_value=["RanksOnDevice.Sum"]):
            tests = catalogue.of_hosts("core", "core_tests", {})
        self.assertEqual([test.key for test in tests], ["core.hosts.messages RanksOnDevice.Sum", "core.hosts.nccl RanksOnDevice.Sum"])
        self.assertEqual([test.uses_all_gpus for test in tests], [False, True])
        self.assertFalse(any(map(may_share, tests)))
        self.assertEqual(catalogue.Chunk(tests[1:]).command(),
                         ["env", "HYPERPLANE_TEST_BETWEEN_HOSTS=nccl", "core_tests", "--gtest_filter=RanksOnDevice.Sum"])

    def test_one_gpu_has_no_ranks_with_nccl(self):
        self.assertEqual([run_all.between_hosts(cards) for cards in (0, 1, 2)],
                         [("messages", "nccl"), ("messages",), ("messages", "nccl")])

    def test_chunks_that_cannot_share_run_beside_those_that_can(self):
        """A lane of many chunks and one that runs one at a time beside it, and two when it is the last."""
        running, most, began = collections.Counter(), collections.Counter(), []
        lock = threading.Lock()

        def run(chunk, variables, deadline, test_seconds):
            lane = variables["LANE"]
            with lock:
                running[lane] += 1
                most[lane] = max(most[lane], running[lane])
                began.append(dict(running) | {"lane": lane})
            time.sleep(0.1 if lane == "many" else 0.3)
            with lock:
                running[lane] -= 1
            return {test: runner.Outcome("passed", 0.1, "") for test in chunk.tests}, None

        def lane(name, count, *numbers):
            tests = [catalogue.Test("core", f"{name}.{at}", ("core_tests",)) for at in range(count)]
            return run_all.Lane([catalogue.Chunk([test]) for test in tests], *numbers[:1], {"LANE": name}, *numbers[1:])

        results = unittest.mock.Mock()
        given = unittest.mock.Mock(test_seconds=10)
        lanes = [lane("few", 8, 1, 2), lane("many", 9, 4)]
        with unittest.mock.patch.object(run_all, "run_chunk", run), unittest.mock.patch.object(run_all, "gpus", return_value=[]):
            run_all.run_together(lanes, 4, time.monotonic() + 60, given, results)
        self.assertEqual(results.add.call_count, 17)
        self.assertEqual((most["few"], most["many"]), (2, 3))
        last_of_many = max(at for at, one in enumerate(began) if one["lane"] == "many")
        self.assertTrue(all(one.get("few", 0) < 2 for one in began[:last_of_many]))

    def test_only_what_skips_txt_names_may_be_skipped(self):
        self.assertTrue(catalogue.may_skip("program GpuHosts.test_memory", "mpirun is not installed (openmpi-bin)"))
        self.assertFalse(catalogue.may_skip("program GpuHosts.test_memory", "skipped: cuda is not here"))
        self.assertFalse(catalogue.may_skip("program Device.test_memory", "mpirun is not installed (openmpi-bin)"))
        self.assertTrue(all(len(pair) == 2 and all(pair) for pair in catalogue.allowed_skips()))

    def test_every_problem_on_ranks_runs_on_gpus(self):
        ran = {name for names in (ranks.POISSONS, ranks.POISSONS_BY_OTHERS, ranks.OTHERS, ranks.MIXTURES, ranks.FLOWS,
                                  ranks.CAVITIES, ranks.PERIODIC, ranks.REUSED) for name in names}
        self.assertEqual({ranks.BASES[name] for name in ran}, set(ranks.BASES.values()))

    def test_tests_that_are_known_to_be_slow_come_first_and_alone(self):
        def named(*names):
            return [catalogue.Test("precond", name, ("precond_tests",)) for name in names]
        quick = named(*(f"All/QuickOnDevice.Works/{i}" for i in range(60)))
        slow = named("All/MultigridSmoothersOnDevice.GiveTheHostsCycles/fgbilu_3", "All/TunedSubdomainsOnDevice.GiveTheSameBits/star7_dof3")
        chunks = catalogue.chunks_of(quick[:30] + slow[::-1] + quick[30:], {})
        self.assertEqual([chunk.tests for chunk in chunks[:2]], [[slow[0]], [slow[1]]])
        measured = catalogue.chunks_of(quick + slow, {slow[1].key: 60.0})
        self.assertEqual(measured[0].tests, [slow[1]], "a time of an earlier run counts more than slow.txt")

    def test_those_with_the_same_parameters_share_a_process(self):
        names = [f"All/SomeOnDevice.{name}/{case}" for name in ("Equals", "Repeats") for case in range(100)]
        chunks = catalogue.chunks_of([catalogue.Test("precond", name, ("precond_tests",)) for name in names], {})
        self.assertGreater(len(chunks), 2)
        for chunk in chunks:
            ran = [test.name.split(".")[1].split("/") for test in chunk.tests]
            self.assertEqual({case for name, case in ran if name == "Equals"}, {case for name, case in ran if name == "Repeats"})

    def test_tests_known_to_be_slow_exist(self):
        sources = "".join(file.read_text() for file in HERE.parent.glob("*/*_test.*"))
        for pattern, seconds in catalogue.slow_tests():
            suite = pattern.split(".")[0].removeprefix("*/")
            self.assertRegex(sources, rf"\b{suite}\b", f"{pattern} of slow.txt")
            self.assertGreater(seconds, 0)


class RunAll(unittest.TestCase):
    def setUp(self):
        self.scratch = tempfile.TemporaryDirectory()
        self.addCleanup(self.scratch.cleanup)
        self.folder = pathlib.Path(self.scratch.name)
        (self.folder / "build/tests/probe").mkdir(parents=True)
        (self.folder / "build/tests/probe/probe_tests").symlink_to(os.environ["PROBE_PROGRAM"])
        self.results = self.folder / "results/tests"

    def run_all(self, probe, *words, out=None, commit="abc", cards="-1", scripts=None):
        variables = {**os.environ, "PROBE": probe, "CUDA_VISIBLE_DEVICES": cards}
        words = [*words, *(["--copy-to", out] if out else [])]
        return subprocess.run([(scripts or HERE) / "run_all.sh", "--build", self.folder / "build", "--results", self.folder / "results",
                               "--jobs", "2", "--commit", commit, *words], env=variables, capture_output=True, text=True)

    def expect(self, code, row, done):
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        self.assertIn(f"| probe | {row} |", done.stdout)
        self.assertEqual(done.stdout.strip(), (self.results / "summary.md").read_text().strip())

    def state(self, test):
        return json.loads((self.results / "state.json").read_text())["tests"]["probe ProbeOnDevice." + test]

    def test_tests_that_pass_are_counted(self):
        done = self.run_all("pass pass")
        self.expect(0, "2 | 2 | 0 | 0 | 0", done)
        self.assertIn("# GPU tests of commit abc, build", done.stdout)
        self.assertIn("s probe ProbeOnDevice.First", done.stdout)

    def test_a_failure_and_a_skipped_test_are_reported_in_full(self):
        done = self.run_all("skip fail")
        self.expect(1, "1 | 0 | 1 | 1 | 0", done)
        self.assertIn("### probe ProbeOnDevice.Second", done.stdout)
        self.assertIn('"pass"', self.state("Second")["text"])
        self.assertIn("- 1: as $PROBE asks", done.stdout)

    def test_a_skipped_test_is_no_success_but_where_it_is_allowed(self):
        done = self.run_all("skip pass")
        self.expect(1, "1 | 1 | 0 | 1 | 0", done)
        self.assertIn("not in skips.txt, and so no success\n\n- probe ProbeOnDevice.First: ", done.stdout)
        scripts = self.folder / "gpu"
        shutil.copytree(HERE, scripts)
        (scripts / "skips.txt").write_text("# why\nprobe *First | as $PROBE asks\n")
        done = self.run_all("skip pass", "--fresh", scripts=scripts)
        self.expect(0, "1 | 1 | 0 | 1 | 0", done)
        self.assertNotIn("skips.txt", done.stdout)
        self.expect(1, "1 | 1 | 0 | 1 | 0", self.run_all("pass skip", "--fresh", scripts=scripts))

    def test_a_skip_within_a_script_is_told(self):
        script = self.folder / "a_test.py"
        script.write_text("import unittest\nclass A(unittest.TestCase):\n    def test_a(self):\n        self.skipTest('no such thing')\n"
                          "    def test_b(self):\n        pass\nunittest.main()\n")
        for name, state in (("A.test_a", "skipped"), ("A.test_b", "passed")):
            test = catalogue.Test("program", name, (sys.executable, "-B", str(script)))
            outcomes, _ = runner.run_chunk(catalogue.Chunk([test]), dict(os.environ), time.monotonic() + 60, 60)
            self.assertEqual(outcomes[test].state, state, outcomes[test].text)
        self.assertEqual(runner.run_chunk(catalogue.Chunk([catalogue.Test("program", "A.test_a", test.program)]), dict(os.environ),
                                          time.monotonic() + 60, 60)[0].popitem()[1].text.splitlines()[-1], "skipped: 'no such thing'")

    def test_nothing_but_skipped_tests_is_no_success(self):
        self.expect(1, "0 | 0 | 0 | 2 | 0", self.run_all("skip skip"))

    def test_a_crash_is_reported_and_the_others_go_on(self):
        self.expect(1, "2 | 1 | 1 | 0 | 0", self.run_all("crash pass"))
        self.assertIn("signal 6", self.state("First")["text"])

    def test_tests_behind_a_crash_in_the_same_process_go_on(self):
        # Known to be quick, the two share a process.
        self.run_all("pass pass")
        self.expect(1, "2 | 1 | 1 | 0 | 0", self.run_all("crash pass", "--fresh"))
        self.assertEqual(len(list((self.results / "logs").iterdir())), 2)

    def test_a_test_without_end_fails(self):
        self.expect(1, "2 | 1 | 1 | 0 | 0", self.run_all("hang pass", "--test-seconds", "4"))
        self.assertIn("did not end within 4 s", self.state("First")["text"])

    def test_processes_share_the_gpus(self):
        program = self.folder / "build/tests/probe/probe_tests"
        program.unlink()
        program.write_text(f'#!/bin/bash\necho "$CUDA_VISIBLE_DEVICES" >>{self.folder}/seen\nexec {os.environ["PROBE_PROGRAM"]} "$@"\n')
        program.chmod(0o755)
        self.expect(0, "2 | 2 | 0 | 0 | 0", self.run_all("pass pass", cards="5,7"))
        listed, *ran = (self.folder / "seen").read_text().split()
        self.assertEqual(listed, "5,7")
        self.assertEqual(sorted(ran), ["5", "7"])

    def with_service(self, *words, shared="pass fail"):
        """With a multi-process service that notes what it is asked. Where it is used, the two tests end as `shared` says."""
        program, control = self.folder / "build/tests/probe/probe_tests", self.folder / "bin/nvidia-cuda-mps-control"
        control.parent.mkdir(exist_ok=True)
        noted = f"{self.folder}/noted"
        control.write_text(f'#!/bin/bash\nif [ "$1" = -d ]; then echo "begun $CUDA_VISIBLE_DEVICES"; else cat; fi >>{noted}\n')
        program.unlink(missing_ok=True)
        program.write_text(f'#!/bin/bash\n[ ! -d "$CUDA_MPS_PIPE_DIRECTORY" ] || export PROBE="{shared}"\n'
                           f'exec {os.environ["PROBE_PROGRAM"]} "$@"\n')
        for file in (control, program):
            file.chmod(0o755)
        with unittest.mock.patch.dict(os.environ, {"PATH": f"{control.parent}:{os.environ['PATH']}"}):
            done = self.run_all("pass pass", *words)
        return done, (self.folder / "noted").read_text() if (self.folder / "noted").exists() else ""

    def test_what_fails_while_processes_share_a_gpu_runs_again_alone(self):
        done, noted = self.with_service()
        self.expect(0, "2 | 2 | 0 | 0 | 0", done)
        self.assertEqual(noted, "begun \nquit\n", "begun with all GPUs, and ended")
        self.assertIn("2 processes, by MPS, ended", done.stdout)
        self.assertIn("run again without it\n\n- probe ProbeOnDevice.Second: ", done.stdout)

    def test_what_is_skipped_while_processes_share_a_gpu_runs_again_alone(self):
        done, _ = self.with_service(shared="skip pass")
        self.expect(0, "2 | 2 | 0 | 0 | 0", done)

    def test_ranks_and_what_is_killed_share_no_gpu(self):
        names = ("All/GlobalRanksOnDevice.HaveTheBits/one", "GpuRanks.test_multigrid", "GpuProcesses.test_jacobi",
                 "Device.test_a_run_goes_on_on_the_other_backend", "All/SweptTrianglesOnDevice.SolveAs/one")
        tests = [catalogue.Test("room", name, ("program",)) for name in names]
        self.assertEqual([may_share(test) for test in tests], [False, False, False, False, True])
        for chunk in catalogue.chunks_of(tests, {test.key: 0.1 for test in tests}):
            self.assertEqual(len({may_share(test) for test in chunk.tests}), 1)

    def test_processes_share_nothing_where_that_is_asked(self):
        done, noted = self.with_service("--no-mps")
        self.expect(0, "2 | 2 | 0 | 0 | 0", done)
        self.assertEqual(noted, "")
        self.assertNotIn("MPS", done.stdout)

    def test_the_next_call_finishes_what_one_did_not(self):
        out = self.folder / "out"
        self.expect(75, "1 | 1 | 0 | 0 | 1", self.run_all("hang pass", "--minutes", "0.1", out=out))
        self.assertEqual({file.name for file in (out / "gpu-results-tests").iterdir()},
                         {"summary.md", "state.json", "logs.tar.gz"})
        self.expect(0, "2 | 2 | 0 | 0 | 0", self.run_all("pass fail"))  # Second has passed and is not run again
        self.expect(0, "2 | 2 | 0 | 0 | 0", self.run_all("fail fail"))
        self.expect(1, "2 | 0 | 2 | 0 | 0", self.run_all("fail fail", "--fresh"))

    def test_results_of_two_builds_are_not_mixed(self):
        self.run_all("pass pass")
        done = self.run_all("pass pass", commit="def")
        self.assertNotEqual(done.returncode, 0)
        self.assertIn("--fresh begins anew", done.stderr)

    def sanitize(self, summary):
        """With a compute-sanitizer that runs its program and prints `summary`, on a copy of the scripts."""
        scripts = self.folder / "gpu"
        shutil.copytree(HERE, scripts, dirs_exist_ok=True)
        (scripts / "sanitize.txt").write_text("probe *First memcheck,racecheck  # a comment\nprobe *Second memcheck\n")
        (self.folder / "bin").mkdir(exist_ok=True)
        tool = self.folder / "bin/compute-sanitizer"
        tool.write_text(f'#!/bin/sh\ntool=$2\nshift 4\n"$@" || exit $?\n{summary}\n')
        tool.chmod(0o755)
        variables = {**os.environ, "PROBE": "pass pass", "PATH": f"{self.folder}/bin:{os.environ['PATH']}"}
        return subprocess.run([scripts / "run_all.sh", "sanitize", "--build", self.folder / "build", "--results",
                               self.folder / "results", "--jobs", "2", "--commit", "abc", "--fresh"], env=variables,
                              capture_output=True, text=True)

    def test_sanitizers_decide_by_their_summary(self):
        memcheck, racecheck = 'echo "ERROR SUMMARY: {} errors"', 'echo "RACECHECK SUMMARY: 3 hazards displayed ({} errors, 3 warnings)"'
        either = f'if [ $tool = racecheck ]; then {racecheck}; else {memcheck}; fi'
        done = self.sanitize(either.format(0, 0))
        self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
        self.assertIn("| memcheck probe | 2 | 2 |", done.stdout)
        self.assertIn("| racecheck probe | 1 | 1 |", done.stdout)
        done = self.sanitize(either.format(2, 0) + "\nexit 99")
        self.assertEqual(done.returncode, 1)
        self.assertIn("| racecheck probe | 1 | 0 | 1 |", done.stdout)
        self.assertIn("| memcheck probe | 2 | 2 |", done.stdout)
        done = self.sanitize("true")
        self.assertEqual(done.returncode, 1)
        self.assertIn("printed no summary", done.stdout)


if __name__ == "__main__":
    unittest.main()
