# SPDX-License-Identifier: BSD-3-Clause
"""docs/papers.md: its commands name verbs, decks, keys, systems, preconditioners and tests that exist. Nothing is timed."""

import functools
import re
import shlex
import unittest

from document import ROOT, DocumentTest, read

TEXT = read("papers.md")
COMMAND = re.compile(r"`((?:run|check|compare|bench|list|help|report) [^`]*|\./test\.sh [^`]*)`")
SYSTEM = re.compile(r"(\w+):\d+:\d+(?::sym)?")


def cells(line):
    return line.strip("|").split("|")


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

    def test_tables_are_whole(self):
        for line in TEXT.splitlines():
            if line.startswith("|"):
                self.assertIn(len(cells(line)), (2, 6), line)

    def test_results_exist(self):
        for name in re.findall(r"`([\w-]+\.(?:json|txt))`", TEXT):
            self.assertTrue(list((ROOT / "docs/results").glob(f"*/{name}")), name)

    def test_commands(self):
        stencils, preconditioners = self.ask("list stencils"), self.ask("list preconditioners")
        commands = sorted(set(COMMAND.findall(TEXT)))
        self.assertGreater(len(commands), 40)
        for command in commands:
            with self.subTest(command=command):
                words = self.words(command)
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
