# SPDX-License-Identifier: BSD-3-Clause
"""Which tests there are, and the processes that run them (tests/gpu/run_all.sh).

A chunk is what one process runs: the tests of a suite with the same parameters, which share their kernels, and then those
with the next parameters, so that few processes compile the same kernel. Tests known (slow.txt) or likely to be slow have a process each and come first.
"""

import ast
import dataclasses
import fnmatch
import pathlib
import re
import shutil
import subprocess
import sys

from sharing import may_share

HERE = pathlib.Path(__file__).resolve().parent
PROGRAM_TESTS = [HERE.parent / "apps" / f"device{kind}_test.py" for kind in ("", "_ranks", "_ranks_general", "_processes", "_hosts")]
PYTHON_TESTS = [HERE.parent / "library/python_device_test.py"]  # of the module of Python
OF_HOSTS = "*Ranks*OnDevice*:*OnDevice*Ranks*"  # once more as ranks of several hosts, in the rooms that have such tests
ROOMS_OF_HOSTS = ("core", "precond")
BETWEEN_HOSTS = ("messages", "nccl")
TOOLS = ("memcheck", "racecheck", "synccheck")

LARGEST_CHUNK = 48
CHUNK_SECONDS = 20.0  # length of a chunk of tests whose times are known
LONG_CHUNK_SECONDS = 40.0  # of one that may not share a GPU: there a process begins in three to five seconds in place of one
SLOW_SECONDS = 5.0


@dataclasses.dataclass(frozen=True)
class Test:
    room: str
    name: str  # in GoogleTest or in unittest
    program: tuple  # the command without the filter
    tool: str = ""  # of compute-sanitizer

    @property
    def key(self):
        return " ".join(filter(None, (self.tool, self.room, self.name)))

    @property
    def is_gtest(self):
        return self.room != "program"

    @property
    def uses_all_gpus(self):
        """NCCL takes a GPU for each rank."""
        return self.room.endswith(".hosts.nccl") or (not self.is_gtest and self.name.startswith(("GpuRanks", "GpuProcesses", "GpuHosts")))

    @property
    def measures(self):
        """Whether it judges times and so needs the GPU for itself: test_..._the_time_... and the_times."""
        return not self.is_gtest and "the_time" in self.name


@dataclasses.dataclass
class Chunk:
    tests: list

    def command(self):
        first = self.tests[0]
        if not first.is_gtest:
            return [*first.program, "--verbose", first.name]
        return [*first.program, "--gtest_filter=" + ":".join(test.name for test in self.tests)]


def listed(binary, pattern, variables):
    """Names of the tests that match, in the order they run in."""
    done = subprocess.run([binary, "--gtest_list_tests", f"--gtest_filter={pattern}"], env=variables,
                          capture_output=True, text=True)
    if done.returncode != 0:
        sys.exit(f"{binary} cannot list its tests (code {done.returncode}):\n{done.stdout}{done.stderr}")
    names, suite = [], ""
    for line in done.stdout.splitlines():
        line = line.split("#")[0].rstrip()
        if line.endswith(".") and not line.startswith(" "):
            suite = line
        elif line.startswith("  ") and suite:
            names.append(suite + line.strip())
    return names


def binaries(build):
    found = {file.parent.name: file for file in sorted(build.glob("tests/*/*_tests"))
             if file.name == f"{file.parent.name}_tests"}
    if not found:
        sys.exit(f"{build}/tests has no binaries of tests")
    return found


def tests_of(build, rooms, pattern, variables, between=BETWEEN_HOSTS):
    """All tests for a GPU, of the given rooms or of all rooms; those of ranks of hosts for each of `between`."""
    tests = []
    for room, binary in binaries(build).items():
        if not rooms or room in rooms:
            tests += [Test(room, name, (str(binary),)) for name in listed(binary, pattern, variables)]
            if pattern == "*OnDevice*" and room in ROOMS_OF_HOSTS:
                tests += of_hosts(room, binary, variables, between)
    if pattern == "*OnDevice*" and (not rooms or "program" in rooms) and (build / "apps/hyperplane").exists():
        files = PROGRAM_TESTS + (PYTHON_TESTS if list((build / "python").glob("hyperplane/*.so")) else [])
        tests += [Test("program", name, (sys.executable, "-B", str(file))) for file in files for name in unittests(file)]
    return tests


def of_hosts(room, binary, variables, between=BETWEEN_HOSTS):
    """The tests of ranks as ranks of several hosts: device.ROOM.hosts.messages and .nccl of ctest."""
    names = listed(binary, OF_HOSTS, variables)
    return [Test(f"{room}.hosts.{how}", name, ("env", f"HYPERPLANE_TEST_BETWEEN_HOSTS={how}", str(binary)))
            for how in between for name in names]


def unittests(file):
    """The names SUITE.test_NAME in a file of Python, those of a class of another file that a suite extends first."""
    tree = ast.parse(file.read_text())
    imported = {name.asname or name.name: file.with_name(f"{name.name}.py") for statement in tree.body
                if isinstance(statement, ast.Import) for name in statement.names}
    names = []
    for suite in tree.body:
        if not isinstance(suite, ast.ClassDef):
            continue
        for base in suite.bases:
            if isinstance(base, ast.Attribute) and imported[base.value.id].exists():
                of_base = [name.partition(".") for name in unittests(imported[base.value.id])]
                names += [f"{suite.name}.{test}" for class_, _, test in of_base if class_ == base.attr]
        names += [f"{suite.name}.{test.name}" for test in suite.body
                  if isinstance(test, ast.FunctionDef) and test.name.startswith("test_")]
    if not names:
        sys.exit(f"run_all.sh: {file} has no class of tests")
    return list(dict.fromkeys(names))


def allowed_skips():
    """Pairs of a pattern of keys and words of the reason, from skips.txt."""
    lines = (line.split("#")[0].strip() for line in (HERE / "skips.txt").read_text().splitlines())
    return [tuple(part.strip() for part in line.split("|")) for line in lines if line]


def may_skip(key, reason):
    return any(fnmatch.fnmatchcase(key, pattern) and words in reason for pattern, words in allowed_skips())


def sanitized(build, rooms, variables):
    """The tests of sanitize.txt, once under each of their tools."""
    sanitizer = shutil.which("compute-sanitizer") or "/usr/local/cuda/bin/compute-sanitizer"
    found, tests = binaries(build), []
    for line in (HERE / "sanitize.txt").read_text().splitlines():
        words = line.split("#")[0].split()
        if not words or (rooms and words[0] not in rooms):
            continue
        room, pattern, tools = words[0], words[1], words[2].split(",") if len(words) > 2 else TOOLS
        names = listed(found[room], pattern, variables) if room in found else []
        if not names or not set(tools) <= set(TOOLS):
            sys.exit(f"sanitize.txt: there is no such test or tool: {line}")
        for tool in tools:
            program = (sanitizer, "--tool", tool, "--error-exitcode", "99", str(found[room]))
            tests += [Test(room, name, program, tool) for name in names]
    return tests


def slow_tests():
    """Pairs of a pattern of names and the seconds that such a test takes, from slow.txt."""
    lines = (line.split("#")[0].split() for line in (HERE / "slow.txt").read_text().splitlines())
    return [(pattern, float(seconds)) for pattern, seconds in filter(None, lines)]


def by_parameters(tests):
    """The tests in their order, but those of a suite with the same parameters one after the other."""
    suites, cases = {}, {}

    def place(test):
        # PREFIX/SUITE.NAME/PARAMETERS or, without parameters, SUITE.NAME
        suite, _, name = test.name.partition(".")
        _, _, parameters = name.partition("/")
        of_suite = suites.setdefault((test.program, suite), len(suites))
        return of_suite, cases.setdefault((of_suite, parameters), len(cases))
    return sorted(tests, key=place)


def chunks_of(tests, seconds):
    """The tests as chunks, the longest first; `seconds` of earlier runs by key."""
    slow = slow_tests()

    def likely(test):
        if test.key in seconds:
            return seconds[test.key]
        known = [duration for pattern, duration in slow if fnmatch.fnmatchcase(test.name, pattern)]
        # A test without parameters has its cases inside.
        return known[0] if known and not test.tool else 10.0 if "/" not in test.name or test.tool else 0.2

    chunks, open_chunk, held = [], None, 0.0
    for test in by_parameters(tests):
        longest = CHUNK_SECONDS if may_share(test) else LONG_CHUNK_SECONDS
        alone = not test.is_gtest or likely(test) >= (SLOW_SECONDS if may_share(test) else longest / 2)
        fits = (open_chunk and open_chunk.tests[0].program == test.program and len(open_chunk.tests) < LARGEST_CHUNK
                and may_share(open_chunk.tests[0]) == may_share(test))
        if alone or not fits or held + likely(test) > longest:
            chunks.append(Chunk([test]))
            open_chunk, held = (None if alone else chunks[-1]), likely(test)
        else:
            open_chunk.tests.append(test)
            held += likely(test)
    return sorted(chunks, key=lambda chunk: -sum(map(likely, chunk.tests)))
