# SPDX-License-Identifier: BSD-3-Clause
"""No writer replaces a file that the program did not write, whatever kind of file has the name of its output."""

import functools
import os
import shutil
import subprocess
import unittest

from program import POISSON, ProgramTest

SWEEP = "[sweep]\ngrid.cells = 6, 8\n"
KEPT = "[problem]\nname = poisson\n; hours of work\n"


@functools.cache
def can_draw():
    return any(shutil.which(python) and subprocess.run([python, "-c", "import h5py, matplotlib"],
                                                       capture_output=True).returncode == 0
               for python in ("python3", "/usr/bin/python3"))


class Overwrite(ProgramTest):
    def setUp(self):
        super().setUp()
        self.deck = self.write("a.ini", POISSON.format(cells=6))
        self.expect(0, "run", self.deck, "--set", "output.file=record.h5", "--set", "output.fields=true")
        self.study = self.write("s.ini", POISSON.format(cells=4) + SWEEP)

    def writers(self, pictures):
        """{name: (the file that it would replace, its command)}"""
        run = ("run", self.deck, "--quiet")
        # Its results stay where `clear` removes those of self.study.
        computed = self.write("kept.ini", POISSON.format(cells=4) + SWEEP)
        self.expect(0, "study", "run", computed, "--quiet", "--force")
        compare = ("compare", self.deck, "--preconditioners", "jacobi", "--reps", "1", "--quiet")
        found = {
            "record": ("out.h5", (*run, "--set", "output.file=out.h5")),
            "record, started over": ("out.h5", (*run, "--fresh", "--set", "output.file=out.h5")),
            "unfinished record": ("out.h5.part", (*run, "--set", "output.file=out.h5")),
            "fields": ("out.vtkhdf", (*run, "--set", "output.file=out.h5", "--set", "output.fields=true")),
            "checkpoint": ("out.0.checkpoint", (*run, "--set", "output.file=out.h5", "--set",
                                                "output.checkpoint_minutes=1e-9")),
            "comparison": ("out.h5", (*compare, "-o", "out.h5")),
            "table of a comparison": ("out.json", (*compare, "--json", "out.json")),
            "timings": ("out.json", ("bench", "--cases", "star7:1:8", "--repeats", "1", "--json", "out.json")),
            "matrix": ("e/A.mtx", ("export", self.deck, "-o", "e", "--quiet")),
            "right-hand side": ("e/b.mtx", ("export", self.deck, "-o", "e", "--quiet")),
            "solution": ("e/x.mtx", ("export", self.deck, "-o", "e", "--quiet")),
            "collected study": ("out.h5", ("study", "collect", computed, "-o", "out")),
            "table of a study": ("out.csv", ("study", "collect", computed, "-o", "out")),
            "case": ("s/cells=6.h5", ("run", self.study, "--case", "0", "--fresh", "--quiet")),
            "log of a case": ("s/cells=6.log", ("study", "run", self.study, "--quiet")),
            "lock of a case": ("s/cells=6.lock", ("run", self.study, "--case", "0", "--quiet")),
        }
        if can_draw():
            # A record without fields, which take longer to draw than the rest.
            self.expect(0, "run", self.deck, "--force", "--set", "output.file=plain.h5")
            report = ("report", "plain.h5", "-o", "out.html", "--png", "out.png")
            found |= {"page": ("out.html", report), "png": ("out.png", report)}
            for kind in pictures:
                found[kind] = (f"out.{kind}", ("plot", "plain.h5", "residual", "-o", f"out.{kind}"))
        return found

    def clear(self):
        for path in self.folder.iterdir():
            if path.name.startswith(("out", "page", "s", "e")) and path.name != self.study:
                shutil.rmtree(path) if path.is_dir() and not path.is_symlink() else path.unlink()
        for name in ("s", "e"):
            (self.folder / name).mkdir()

    def for_each_writer(self, check):
        """Calls check(path, command) for each writer, after the files of earlier writers have been removed."""
        for name, (file, command) in self.writers(pictures=()).items():
            with self.subTest(name):
                self.clear()
                check(self.folder / file, command)

    def for_each_command(self, check, pictures=()):
        """As for_each_writer, check(paths, command) with all files that a command replaces, since to draw takes seconds."""
        commands = {}
        for name, (file, command) in self.writers(pictures).items():
            commands.setdefault(command, {})[name] = self.folder / file
        for command, paths in commands.items():
            with self.subTest(", ".join(paths)):
                self.clear()
                check(list(paths.values()), command)

    def refused(self, command, path, says=("--force",)):
        done = self.run_program(*command)
        self.assertIn(done.returncode, (7, 8), f"{command}\n{done.stdout}\n{done.stderr}")  # 8: a case of a study
        log = done.stderr
        if done.returncode == 8:
            self.assertFalse(path.parent.joinpath("cells=6.h5").exists())
        for text in [path.name, *says]:
            self.assertIn(text, log)

    def test_what_others_wrote_is_kept_unless_forced(self):
        def check(paths, command):
            for path in paths:
                path.write_text(KEPT)
                self.refused(command, path)
                self.assertEqual(path.read_text(), KEPT)
                path.unlink()
            for path in paths:
                path.write_text(KEPT)
            self.expect(0, *command, "--force")
            for path in paths:
                if path.exists():
                    self.assertNotEqual(path.read_bytes(), KEPT.encode())

        self.for_each_command(check)

    def test_files_of_another_kind_are_kept(self):
        record, fields = (self.folder / "record.h5").read_bytes(), (self.folder / "record.vtkhdf").read_bytes()

        def check(path, command):
            other = fields if path.suffix in (".h5", ".part") and "collect" not in command else record
            path.write_bytes(other)
            self.refused(command, path)
            self.assertEqual(path.read_bytes(), other)

        self.for_each_writer(check)

    def test_a_link_is_followed_and_what_it_names_is_kept(self):
        def check(path, command):
            target = self.folder / "elsewhere.ini"
            target.write_text(KEPT)
            path.symlink_to(target)
            self.refused(command, path)
            self.assertTrue(path.is_symlink())
            self.assertEqual(target.read_text(), KEPT)

        self.for_each_writer(check)

    def test_no_device_is_ever_written(self):
        def check(path, command):
            path.symlink_to("/dev/null")
            for words in (command, (*command, "--force")):
                self.refused(words, path, says=("device",))
            self.assertTrue(path.is_symlink())
            path.unlink()
            os.mkfifo(path)
            self.refused((*command, "--force"), path, says=("FIFO",))

        self.for_each_writer(check)

    def test_own_files_are_replaced_and_links_to_them_stay(self):
        def check(paths, command):
            self.expect(0, *command)
            paths = [path for path in paths if path.exists()]  # some are removed if the command has succeeded
            first = {path: path.stat().st_mtime_ns for path in paths}
            if command[0] != "plot":  # a drawing in another format is written as a .png is
                self.expect(0, *command)
            paths = [path for path in paths if path.suffix != ".log" and ("--case" not in command or "--fresh" in command)]
            targets = {}
            for path in paths:
                if command[0] != "plot":
                    self.assertNotEqual(path.stat().st_mtime_ns, first[path])
                targets[path] = path.rename(self.folder / ("elsewhere_" + path.name))
                path.symlink_to(targets[path])
            if not targets:
                return
            self.expect(0, *command)
            for path, target in targets.items():
                self.assertTrue(path.is_symlink())
                self.assertNotEqual(target.stat().st_mtime_ns, first[path])

        self.for_each_command(check, ("svg", "pdf"))

    def test_an_empty_file_has_nothing_to_lose(self):
        def check(paths, command):
            for path in paths:
                path.touch()
            self.expect(0, *command)

        self.for_each_command(check)

    def test_what_is_not_ours_is_not_taken_away(self):
        (self.folder / "out.0.checkpoint").write_text(KEPT)
        self.expect(0, "run", self.deck, "--set", "output.file=out.h5")
        self.assertEqual((self.folder / "out.0.checkpoint").read_text(), KEPT)

    def test_a_record_set_aside_takes_no_foreign_place(self):
        self.expect(0, "study", "run", self.study)
        self.write("s.ini", POISSON.format(cells=4) + "rtol = 1e-3\n" + SWEEP)
        kept = self.folder / "s/cells=6.before.h5"
        kept.write_text(KEPT)
        self.expect(8, "study", "run", self.study, "--edited", says=["cells=6.before.h5", "move it away", "--force", "1 case to run"])
        self.assertEqual(kept.read_text(), KEPT)
        self.expect(0, "study", "run", self.study, "--edited", "--force")
        self.assertNotEqual(kept.read_bytes(), KEPT.encode())

    def test_the_script_of_a_study(self):
        script = self.folder / "s/submit.sh"
        script.parent.mkdir()
        script.write_text(KEPT)
        self.expect(7, "study", "submit", self.study, says=["submit.sh", "--force"])
        self.assertEqual(script.read_text(), KEPT)

    def test_nothing_is_computed_before_the_names_are_known_to_be_free(self):
        big = self.write("big.ini", POISSON.format(cells=100))
        for file, command in {
                "big.vtkhdf": ("run", big, "--set", "output.fields=true"),
                "x.mtx": ("export", big),
                "big_compare.h5": ("compare", big, "--auto", "--json", "big.json"),
                "big.json": ("bench", "--cases", "star7:1:200", "--json", "big.json")}.items():
            path = self.folder / file
            path.write_text(KEPT)
            done = self.expect(7, *command, says="--force")
            self.assertNotIn("iteration", done.stdout + done.stderr)


if __name__ == "__main__":
    unittest.main()
