# SPDX-License-Identifier: BSD-3-Clause
"""Decks, folders and records with hostile names: job scripts under bash and under a real sbatch, and plain runs."""

import concurrent.futures
import os
import pathlib
import shutil
import subprocess
import tempfile
import time
import unittest

import slurm
from program import POISSON, PROGRAM, ProgramTest, small_files

STUDY = POISSON.format(cells=4) + "[sweep]\ngrid.cells = 4\n"
NAMES = [
    "plain", "two words", " before", "after ", "apostrophe'", "'", 'quote"', '"', "both'\"", "`touch PWNED`",
    "$(touch PWNED)", "${HOME}", "$HOME", "; touch PWNED;", "& touch PWNED &", "| touch PWNED", "> PWNED", "< PWNED",
    "'; touch PWNED; '", '"; touch PWNED; "', "back\\slash", "\\", "\\n", "percent%", "%A_%a", "%%j", "hash #", "#", "!x", "~",
    "*", "?", "[a-z]", "{a,b}", "-rf", "--help", "--wrap=touch PWNED", "tab\there", "\x1b[31mred", "bell\x07",
    "\u00fcn\u00ef \u65e5\u672c", "not \udcff UTF-8", "a=b:c,d", "x" * 200,
]
BROKEN = ["line\nbreak", "a\ntouch PWNED\n", "a\n#SBATCH --wrap=touch PWNED", "a\r\nb", "a\rb"]


def make(folder, name):
    """Writes a study with this name in a folder with this name; returns its path relative to the folder."""
    place = folder / name
    place.mkdir()
    (place / (name + ".ini")).write_text(STUDY)
    return place, "./" + name + ".ini"


def call(place, *words, **options):
    return subprocess.run(words, cwd=place, capture_output=True, text=True, errors="surrogateescape", timeout=120, **options)


class Names(ProgramTest):
    def expect_unhurt(self):
        self.assertEqual([path for path in self.folder.rglob("*") if path.name == "PWNED"], [])
        self.assertFalse(os.path.exists(os.path.expanduser("~/PWNED")))


class PlainRuns(Names):
    def test_a_deck_of_any_name_runs_and_its_record_is_read(self):
        for name in NAMES + BROKEN:
            with self.subTest(name):
                place = self.folder / name
                place.mkdir()
                deck = "./" + name + ".ini"
                (place / deck).write_text(POISSON.format(cells=4))
                self.assertEqual(call(place, PROGRAM, "run", deck, "--quiet").returncode, 0)
                done = call(place, PROGRAM, "info", "./" + name + ".h5")
                self.assertEqual(done.returncode, 0, done.stderr)
        self.expect_unhurt()

    def test_the_scripts_take_no_name_for_an_option(self):
        self.write("-rf.ini", POISSON.format(cells=4) + "[output]\nfields = true\n")
        self.expect(0, "run", "--quiet", "--", "-rf.ini")
        done = self.run_program("report", "-o", "-", "--", "-rf.h5")
        if "needs Python 3 with" in done.stderr:
            self.skipTest(done.stderr)
        self.assertEqual(done.returncode, 0, done.stderr)
        self.assertRegex(done.stdout, r"^<!DOCTYPE html>(.|\n)*</html>\s*$")
        self.assertFalse((self.folder / "-").exists())
        self.expect(0, "plot", "-o", "a.png", "--", "-rf.h5")
        self.expect(7, "report", "--", "-rf.h5", limit=small_files(), says="what is drawn: File too large; the file size limit")

    def test_the_longest_names(self):
        """A record's name may be so long that names of files beside it are the longest of the file system."""
        name = "x" * (255 - len(".0.checkpoint"))
        self.write("a.ini", POISSON.format(cells=4))
        for again in range(2):
            self.expect(0, "run", "a.ini", "--set", f"output.file={name}.h5")
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.ini", name + ".h5"])
        self.expect(7, "run", "a.ini", "--set", f"output.file={name}x.h5", says="File name too long")
        self.assertEqual(sorted(os.listdir(self.folder)), ["a.ini", name + ".h5"])


@unittest.skipUnless(shutil.which("bash"), "bash is not installed")
class Bash(Names):
    def test_job_scripts(self):
        scripts = {}
        for name in NAMES + BROKEN:
            with self.subTest(name):
                place, study = make(self.folder, name)
                done = call(place, PROGRAM, "study", "submit", study, "--print")
                if name in BROKEN:
                    self.assertEqual(done.returncode, 2, done.stdout)
                    self.assertIn("has a line break, and sbatch reads its options line by line", done.stderr)
                    continue
                self.assertEqual(done.returncode, 0, done.stderr)
                scripts[name] = (place, study, done.stdout)
        # A script looks twice a second whether its run has ended, so several wait at the same time.
        with concurrent.futures.ThreadPoolExecutor(8) as pool:
            all_done = pool.map(lambda one: self.call_script(one[0], one[2]), scripts.values())
        for (name, (place, study, script)), done in zip(scripts.items(), all_done):
            with self.subTest(name):
                self.expect_script(script, done)
                self.assertEqual(call(place, PROGRAM, "study", "status", study).returncode, 0)
        self.expect_unhurt()

    def call_script(self, place, script):
        """Runs the script from another folder, as sbatch may do."""
        path = pathlib.Path(place) / "script.sh"
        path.write_text(script, errors="surrogateescape")
        return call("/", "bash", path, env={**os.environ, "SLURM_ARRAY_TASK_ID": "0"})

    def expect_script(self, script, done):
        self.assertEqual((done.returncode, done.stderr.count("bash")), (0, 0), done.stderr)
        for line in script.split("\n"):
            self.assertTrue(line.isprintable() or "\udcff" in line or "\t" in line or "\x1b" in line or "\x07" in line, line)

    def test_a_line_break_that_only_the_deck_has(self):
        for at, name in enumerate(BROKEN):
            with self.subTest(name):
                place = self.folder / str(at)
                place.mkdir()
                (place / (name + ".ini")).write_text(STUDY + "folder = out\n")
                done = call(place, PROGRAM, "study", "submit", "./" + name + ".ini", "--print")
                self.assertEqual(done.returncode, 0, done.stderr)
                self.assertEqual([line for line in done.stdout.split("\n") if "touch" in line and line[:2] != "# "
                                  and "job-name" not in line and "run" not in line], [])
                self.expect_script(done.stdout, self.call_script(place, done.stdout))
        self.expect_unhurt()


class Sbatch(Names):
    @classmethod
    def setUpClass(cls):
        super().setUpClass()
        if reason := slurm.missing():
            raise unittest.SkipTest(reason)
        scratch = tempfile.mkdtemp(prefix="slurm", dir="/tmp")
        cls.addClassCleanup(shutil.rmtree, scratch, True)
        cls.cluster = slurm.Cluster(scratch + "/cluster")
        cls.addClassCleanup(cls.cluster.stop)
        cls.cluster.start()

    def test_job_arrays(self):
        jobs = {}
        for name in NAMES:
            with self.subTest(name):
                place, study = make(self.folder, name)
                done = call(place, PROGRAM, "study", "submit", study, env=self.cluster.environment)
                self.assertEqual(done.returncode, 0, done.stderr)
                jobs[name] = done.stdout.split()[1].rstrip(":")
        self.assertGreaterEqual(len(jobs), 30)
        deadline = time.monotonic() + 480
        while self.cluster.call("squeue", "-h", "-o", "%i").stdout.strip():
            self.assertLess(time.monotonic(), deadline, self.cluster.logs())
            time.sleep(0.2)
        for name, job in jobs.items():
            with self.subTest(name):
                place = self.folder / name
                logs = sorted(path.name for path in (place / name).glob("slurm-*.log"))
                self.assertEqual(logs, [f"slurm-{job}_0.log"])
                done = call(place, PROGRAM, "study", "status", "./" + name + ".ini")
                self.assertEqual(done.returncode, 0, done.stdout)
        self.expect_unhurt()

    def test_options_of_a_deck_are_one_word_each(self):
        study = self.write("s.ini", STUDY + "[slurm]\naccount = a --wrap=x\ntime = 00:01:00 # not a comment\n")
        script = self.expect(0, "study", "submit", study, "--print").stdout
        self.assertIn('#SBATCH --account="a --wrap=x"\n', script)
        self.assertIn('#SBATCH --time=00:01:00\n', script)
        done = call(self.folder, PROGRAM, "study", "submit", study, env=self.cluster.environment)
        self.assertEqual(done.returncode, 0, done.stderr)
        shown = self.cluster.call("scontrol", "show", "job", done.stdout.split()[1].rstrip(":")).stdout
        self.assertIn("Account=a --wrap=x", shown)


if __name__ == "__main__":
    unittest.main()
