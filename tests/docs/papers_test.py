# SPDX-License-Identifier: BSD-3-Clause
"""docs/papers.md: its commands name verbs, decks, keys, systems, preconditioners, scripts and tests that exist, and its figures
are those of the files that it names. Nothing is timed."""

import functools
import json
import re
import shlex
import subprocess
import unittest

import paper_figures
from document import ROOT, DocumentTest, read

TEXT = read("papers.md")
COMMAND = re.compile(r"`((?:run|check|compare|bench|list|help|report) [^`]*|\./test\.sh [^`]*|docs/results/[\w.]+\.sh [^`]*)`")
SYSTEM = re.compile(r"(\w+):\d+:\d+(?::sym)?")
RESULT = re.compile(r"(?:results/)?([\w*-]+/)?([\w*-]+\.(?:json|txt))")
WITHOUT_FILES = 2  # rows with figures that are operations or bytes, written as powers of n
FOLDERS = ("h200", "general")  # those that the page's table of results names


def cells(line):
    return [cell.strip() for cell in line.strip("|").split("|")]


def rows():
    """The rows of the papers' tables: six cells each, the fourth of which is our figure."""
    return [found for line in TEXT.splitlines() if line.startswith("|") and len(found := cells(line)) == 6]


class Papers(DocumentTest):
    @functools.lru_cache(maxsize=None)
    def ask(self, command):
        """The output of a command of the program that must succeed."""
        done = self.shell(f"hyperplane {command}")
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stderr}")
        return done.stdout

    def words(self, command):
        """Its words as a shell expands them, less what chooses a GPU: no command needs one to be looked at."""
        words = self.shell(f"printf '%s\\n' {command}").stdout.splitlines()
        for option, value in (("--backend", "cuda"), ("--device", "cuda")):
            if option in words and words[words.index(option) + 1] == value:
                del words[words.index(option) : words.index(option) + 2]
        return words

    def values(self, words, option):
        return [words[at + 1] for at, word in enumerate(words) if word == option]

    def check_script(self, words):
        """The script exists, and --only matches measurements, all of whose names begin with its pattern."""
        script = ROOT / words[0]
        self.assertTrue(script.exists(), "no such script")
        text = script.read_text(encoding="utf-8")
        for word in words[1:]:
            if word.startswith("--"):
                self.assertRegex(text, rf"(?m)^ *{word}\)")
        for pattern in self.values(words, "--only"):
            listed = subprocess.run([script, "--list"], capture_output=True, text=True, check=True).stdout
            found = [name for line in listed.splitlines() if re.search(pattern, name := line.split()[0])]
            self.assertTrue(found, f"no measurement is called {pattern}")
            for name in found:
                self.assertTrue(name.startswith(pattern.removeprefix("^")), f"{pattern} also measures {name}")

    def test_tables_are_whole(self):
        for line in TEXT.splitlines():
            if line.startswith("|"):
                self.assertIn(len(cells(line)), (2, 6), line)

    def test_results_exist(self):
        """A file that the page names is in one of the folders of its table of results, or in the folder written before its name."""
        for folder in FOLDERS:
            self.assertIn(f"](results/{folder}", TEXT)
        found = [name for quoted in re.findall(r"`([^`\s]+)`", TEXT) if (name := RESULT.fullmatch(quoted))]
        self.assertGreater(len(found), 80)
        for name in found:
            folders = [name[1].rstrip("/")] if name[1] else FOLDERS
            paths = [path for folder in folders for path in (ROOT / "docs/results" / folder).glob(name[2])]
            self.assertTrue(paths, name[0])
            for path in paths:
                if path.suffix == ".json":
                    self.assertIn(json.loads(path.read_text(encoding="utf-8"))["git_sha"][:7], TEXT, name[0])

    def test_figures_are_those_of_the_files(self):
        expected = paper_figures.figures()
        for begin, values in expected.items():
            with self.subTest(row=begin):
                (ours,) = [row[3] for row in rows() if row[0].startswith(begin)]
                figures = paper_figures.figures_in(ours)
                self.assertEqual(len(figures), len(values), f"{figures}, but there are {values}")
                for figure, value in zip(figures, values):
                    if value is not None:
                        self.assertTrue(paper_figures.is_rounded(figure, value), f"{figure} is {value:.5g} in the file: {ours}")

    def test_every_row_that_names_a_file_of_results_is_computed(self):
        named = [row[0] for row in rows() if re.search(r"`[\w*-]+\.(?:json|txt)`", row[3])]
        left = [title for title in named if not any(title.startswith(begin) for begin in paper_figures.figures())]
        self.assertEqual(len(left), WITHOUT_FILES, left)

    def test_figures_are_found_in_a_cell_and_rounded(self):
        found = paper_figures.figures_in("star7:1:128 and box27, 65^3: 0.73 ms, cuSPARSE 1,610, 2, IC(0) 4.5e-5 (`levels.json`, [log](a2.md))")
        self.assertEqual(found, ["0.73", "1,610", "2", "4.5e-5"])
        for figure, value, is_so in (("5.04", 5.1255, False), ("5.13", 5.1255, True), ("2540", 2560.08, False), ("2560", 2560.08, True),
                                     ("120", 115.7, True), ("120", 114.9, False), ("10", 12, False), ("1,610", 1611, True)):
            self.assertEqual(paper_figures.is_rounded(figure, value), is_so, figure)

    def test_commands(self):
        stencils, preconditioners = self.ask("list stencils"), self.ask("list preconditioners")
        commands = sorted(set(COMMAND.findall(TEXT)))
        self.assertGreater(len(commands), 40)
        for command in commands:
            with self.subTest(command=command):
                words = self.words(command)
                if words[0].startswith("docs/results/"):
                    self.check_script(words)
                    continue
                if words[0] == "./test.sh":
                    room, _, part = words[2].partition(".")
                    self.assertTrue(list((ROOT / "tests" / room).glob(f"{part}*_test.cpp")), "no such test")
                    continue
                if words[0] in ("list", "help"):
                    self.ask(command)
                    continue
                options = self.ask(f"{words[0]} --help")
                for word in words:
                    if word.startswith("--"):
                        self.assertRegex(options, rf"{word}(?![\w-])")
                for word in ",".join(self.values(words, "--cases")).split(","):
                    system = SYSTEM.fullmatch(word)
                    self.assertIn(f"  {system[1]} " if system else word, stencils if system else options + " ")
                for candidate in filter(None, ",".join(self.values(words, "--preconditioners")).split(",")):
                    name, *settings = candidate.split(":")
                    self.assertIn(f"  {name} ", preconditioners)
                    for setting in settings:
                        key, value = setting.split("=")
                        self.assertRegex(self.ask(f"help {name}"),
                                         rf"(?m)^  {key} = (?!one of)|^  {key} = one of .*\b{value}\b")
                sets = "".join(f" --set {shlex.quote(value)}" for value in self.values(words, "--set"))
                for deck in (word for word in words if word.endswith(".ini")):
                    self.ask(f"check {deck} --backend cpu{sets} --set 'grid.cells=16 16 16'")


if __name__ == "__main__":
    unittest.main()
