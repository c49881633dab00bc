# SPDX-License-Identifier: BSD-3-Clause
"""The scripts of docs/results that measure: measure.sh with a program that only notes how it was called."""

import json
import os
import pathlib
import re
import subprocess
import tempfile
import unittest

ROOT = pathlib.Path(__file__).resolve().parents[2]
SCRIPT = ROOT / "docs/results/measure.sh"
PROGRAM = """#!/bin/bash
if [ "$1" = info ]; then echo '{"git_sha": "SHA"}'; exit; fi
if [ "$1" = run ]; then
    echo "$*" >>"${0%/*}/runs"
    echo '{"parts": [{"git_sha": "SHA", "host": "h", "started": "now"}], "device": "cuda, a GPU", "iterations": 7,
           "costs": {"compile_seconds": 2, "setup_seconds": 3, "solve_seconds": 4}}'
    exit
fi
echo "$*" >>"${0%/*}/calls"
echo "$CUDA_VISIBLE_DEVICES" >>"${0%/*}/cards"
while read -r what value; do
    [ "$what" != Cpus_allowed_list: ] || echo "$CUDA_VISIBLE_DEVICES $value" >>"${0%/*}/processors"
done </proc/$$/status
for ((tries = 0; tries < 600 && $(sort -u "${0%/*}/cards" | wc -l) < ${MEASURE_TEST_CARDS:-1}; ++tries)); do sleep 0.1; done
while [ $# -gt 0 ]; do [ "$1" != --json ] || echo '{}' >"$2"; shift; done
echo done
"""


class Measure(unittest.TestCase):
    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        (self.folder / "build/apps").mkdir(parents=True)
        self.build_of("0123abc")
        maker = self.folder / "build/tests/peers/large_families"
        maker.parent.mkdir(parents=True)
        maker.write_text(f'#!/bin/bash\necho "$1 $2" >>{self.folder}/made\necho matrix >"$3"\n')
        maker.chmod(0o755)

    def build_of(self, sha):
        program = self.folder / "build/apps/hyperplane"
        program.write_text(PROGRAM.replace("SHA", sha))
        program.chmod(0o755)

    def measure(self, code, *words, cards="3", together=1):
        """Runs measure.sh. No call of the program ends before as many GPUs as `together` says have begun one."""
        environment = {**os.environ, "CUDA_VISIBLE_DEVICES": cards, "MEASURE_TEST_CARDS": str(together)}
        done = subprocess.run([SCRIPT, "--build", self.folder / "build", *words, self.folder / "results"],
                              capture_output=True, text=True, env=environment)
        self.assertEqual(done.returncode, code, done.stdout + done.stderr)
        return done.stdout + done.stderr

    def listed(self):
        """Names of all measurements, and of those that are one call of the program."""
        done = subprocess.run([SCRIPT, "--list"], capture_output=True, text=True, check=True)
        names = [line.split()[0] for line in done.stdout.splitlines()]
        return names, [name for name in names if name != "first-runs.json"]

    def calls(self):
        path = self.folder / "build/apps/calls"
        return path.read_text().splitlines() if path.exists() else []

    def test_goes_on_where_it_ended(self):
        listed, calls = self.listed()
        self.assertIn("left:", self.measure(75, "--minutes", "1"))
        self.assertLess(0, len(self.calls()))
        self.assertLess(len(self.calls()), len(calls))
        self.measure(0, "--minutes", "1000")
        self.assertEqual(len(self.calls()), len(calls))  # nothing was measured twice
        names = {path.name for path in (self.folder / "results").iterdir() if not path.name.startswith(".")}
        self.assertEqual(names, {*listed, "SHA"})

    def test_takes_all_gpus_or_as_many_as_it_is_told(self):
        self.measure(0, "--minutes", "1000", cards="3,1,GPU-abc", together=3)
        self.assertEqual(len(self.calls()), len(self.listed()[1]))  # each of them once
        cards = self.folder / "build/apps/cards"
        self.assertEqual(set(cards.read_text().split()), {"3", "1", "GPU-abc"})
        cards.unlink()
        (self.folder / "results/levels.json").unlink()
        (self.folder / "results/vectors.json").unlink()
        self.measure(0, "--gpus", "1", cards="3,1")
        self.assertEqual(cards.read_text().split(), ["3", "3"])

    def test_each_gpu_has_processors_of_its_own(self):
        allowed = os.sched_getaffinity(0)
        if len(allowed) < 2:
            self.skipTest("two processors are needed")
        self.measure(0, "--minutes", "1000", "--only", "^lap", cards="4,6", together=2)
        lines = (self.folder / "build/apps/processors").read_text().splitlines()
        used = {card: {line.split()[1] for line in lines if line.startswith(card)} for card in ("4", "6")}
        for lists in used.values():
            self.assertEqual(len(lists), 1)
        numbers = [set() for _ in used]
        for found, (ranges,) in zip(numbers, used.values()):
            for part in ranges.split(","):
                found.update(range(int(part.split("-")[0]), int(part.split("-")[-1]) + 1))
        self.assertFalse(numbers[0] & numbers[1])
        self.assertEqual([len(found) for found in numbers], 2 * [len(allowed) // 2])
        self.assertLessEqual(numbers[0] | numbers[1], allowed)

    def test_settings_are_separate_words(self):
        self.measure(0, "--minutes", "1000", "--only", "^(general|variants|parts|structure|multigrid)-")
        for call in self.calls():
            for word in re.findall(r"--set ([^ ]+)", call):
                self.assertRegex(word, r"^[a-z]+\.[a-z_]+=[^=]*$", call)

    def test_makes_those_that_are_named_and_leaves_out_others(self):
        self.measure(0, "--minutes", "1000", "--only", "^(lap|levels)", "--without", "^laplacian|times")
        names = {path.name for path in (self.folder / "results").iterdir() if not path.name.startswith(".")}
        self.assertEqual(names, {"SHA", "lap.json", "lap-128.json", "lap-160.json", "levels.json"})

    def test_a_matrix_is_made_once_for_all_that_name_it(self):
        program = self.folder / "build/apps/hyperplane"
        program.write_text(PROGRAM.replace("SHA", "0123abc").replace(
            'echo "$CUDA', '[[ "$*" =~ problem.file=([^ ]*) ]] && grep -q matrix "${BASH_REMATCH[1]}" || exit 1\necho "$CUDA'))
        self.measure(0, "--minutes", "1000", "--only", "general-reservoir", cards="0,1,2")
        self.assertEqual(len(self.calls()), 3)
        self.assertEqual((self.folder / "made").read_text(), "reservoir 96\n")

    def test_commands_name_what_exists(self):
        self.measure(0, "--minutes", "1000")
        for call in self.calls():
            for word in call.split():
                if word.startswith("inputs/"):
                    self.assertTrue((ROOT / word).is_file(), word)

    def test_first_runs_have_no_kernels_and_later_ones_those_of_the_first(self):
        program = self.folder / "build/apps/hyperplane"
        program.write_text(PROGRAM.replace("SHA", "0123abc").replace(
            "    exit\n", '    mkdir -p "$HYPERPLANE_KERNEL_CACHE"; ls "$HYPERPLANE_KERNEL_CACHE" | wc -l >>"${0%/*}/kept"\n'
            '    touch "$HYPERPLANE_KERNEL_CACHE/$RANDOM$RANDOM"\n    exit\n', 1))
        self.measure(0, "--only", "first-runs")
        found = json.loads((self.folder / "results/first-runs.json").read_text())
        decks = len(found["decks"])
        self.assertLess(1, decks)
        self.assertEqual((found["git_sha"], found["device"], found["kind"]), ("0123abc", "a GPU", "first_runs"))
        self.assertEqual(found["decks"][0]["runs"], [{"compile": 2, "setup": 3, "solve": 4}] * 4)
        self.assertEqual((program.parent / "kept").read_text().split(), ["0", "1", "2", "3"] * decks)
        for call in (program.parent / "runs").read_text().splitlines():
            self.assertTrue(pathlib.Path(call.split()[1]).is_file(), call)
        program.write_text(PROGRAM.replace("SHA", "0123abc").replace("    exit\n", "    exit 8\n", 1))
        (self.folder / "results/first-runs.json").unlink()
        self.assertIn("first-runs.json: failed", self.measure(1, "--only", "first-runs"))

    def test_texts_begin_with_the_commit(self):
        self.measure(0, "--minutes", "1000", "--only", "txt$")
        texts = list((self.folder / "results").glob("*.txt"))
        self.assertEqual({path.name for path in texts}, {name for name in self.listed()[0] if name.endswith(".txt")})
        for path in texts:
            self.assertEqual(path.read_text(), "commit 0123abc\ndone\n")

    def test_one_commit_for_all(self):
        self.measure(0, "--only", "levels")
        self.build_of("4567def")
        self.assertIn("0123abc", self.measure(2, "--only", "levels"))
        self.build_of("4567def-dirty")
        self.assertIn("commit first", self.measure(2, "--only", "levels"))

    def test_a_failure_is_told_and_tried_again(self):
        program = self.folder / "build/apps/hyperplane"
        program.write_text(PROGRAM.replace("SHA", "0123abc").replace("echo done", "exit 3"))
        self.assertIn("levels.json: failed with exit code 3", self.measure(1, "--only", "levels"))
        self.assertFalse((self.folder / "results/levels.json").exists())
        self.assertIn("lap-times.txt: failed with exit code 3", self.measure(1, "--only", "lap-times"))
        self.build_of("0123abc")
        self.measure(0, "--only", "levels")
        self.assertTrue((self.folder / "results/levels.json").exists())
        program.write_text(PROGRAM.replace("SHA", "0123abc").replace("echo done", "exit 0"))
        self.assertIn("lap-times.txt: failed", self.measure(1, "--only", "lap-times"))  # it printed nothing
        self.assertFalse((self.folder / "results/lap-times.txt").exists())


class MeasureRanks(unittest.TestCase):
    """docs/results/measure_ranks.sh on ranks of the CPU, with the program that is $HYPERPLANE."""

    def test_times_parts_and_bits(self):
        program = pathlib.Path(os.environ["HYPERPLANE"])
        with tempfile.TemporaryDirectory() as scratch:
            build = pathlib.Path(scratch)
            (build / "apps").mkdir()
            # The sources of a program under test may have changes.
            (build / "apps/hyperplane").write_text(f"""#!/bin/bash
if [ "$1" = info ]; then echo '{{"git_sha": "0123abc"}}'; exit; fi
exec {program} "$@"
""")
            (build / "apps/hyperplane").chmod(0o755)
            done = subprocess.run([SCRIPT.with_name("measure_ranks.sh"), "--build", ".", "--backend", "cpu", "--gpus", "1 2",
                                   "--cases", "poisson:12 navier_stokes:8", "--repeats", "1", "--iterations", "5", "--bits", "3",
                                   "--preconditioners", "jacobi struct_ilu struct_ilu:rank multigrid:multicolor", build / "results"],
                                  cwd=build, capture_output=True, text=True)
            self.assertEqual(done.returncode, 0, done.stdout + done.stderr)
            self.assertIn("commit 0123abc", done.stdout)
            for line in ("poisson:12, jacobi on 2 GPUs: the bits of one", "poisson:12, struct_ilu on 2 GPUs: the bits of one",
                         "poisson:12, multigrid:multicolor on 2 GPUs: the bits of one",
                         "navier_stokes:8, struct_ilu on 2 GPUs: the bits of one"):
                self.assertIn(line, done.stdout)
            self.assertEqual(len(re.findall(r"^poisson-12 .* [12] +5 ", done.stdout, re.M)), 8)
            self.assertEqual(len(re.findall(r"^navier_stokes-8 +struct_ilu ", done.stdout, re.M)), 2)
            self.assertNotIn("exit code", done.stdout)
            self.assertNotIn("OTHER", done.stdout)


if __name__ == "__main__":
    unittest.main()
