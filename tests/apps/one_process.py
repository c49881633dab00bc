# SPDX-License-Identifier: BSD-3-Clause
"""Command lines of the program one after the other in one process, $HYPERPLANE_IN_ONE_PROCESS (in_one_process.cpp).

A start of the program on a GPU takes a second, and three to five beside the other tests of tests/gpu/run_all.sh, which sets
this variable; on a CPU it takes two thirds of a small run. ctest sets the variable for the tests that CMakeLists.txt lists. Without
it each command line is a process of the program itself.
"""

import atexit
import contextlib
import json
import os
import pathlib
import select
import subprocess
import tempfile

VARIABLE = "HYPERPLANE_IN_ONE_PROCESS"
# The others start processes of their own, or differ from one process to the next on purpose.
VERBS = ("bench", "check", "compare", "diff", "export", "info", "list", "run", "selftest")
# After these exit codes the next command line has a new process: 0 and 2 (refused), and 3 (not converged), leave it as it was.
GOES_ON_AFTER = (0, 2, 3)


class OneProcess:
    """The process, which begins when it is first asked."""

    def __init__(self, program):
        self.program, self.process = program, None
        self.scratch = tempfile.TemporaryDirectory()
        atexit.register(self.scratch.cleanup)
        atexit.register(self.end)

    def end(self):
        """Ends the process, if there is one, and returns its exit code."""
        if not self.process:
            return None
        process, self.process = self.process, None
        with contextlib.suppress(BrokenPipeError):
            process.stdin.close()
        process.stdout.close()
        try:
            return process.wait(timeout=10)
        except subprocess.TimeoutExpired:
            process.kill()
            return process.wait()

    def run(self, words, folder, timeout):
        """What subprocess.run returns. Raises TimeoutExpired, as it does."""
        if not self.process:
            self.process = subprocess.Popen([self.program], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True, bufsize=1)
        files = {stream: pathlib.Path(self.scratch.name) / stream for stream in ("stdout", "stderr")}
        for file in files.values():
            file.write_bytes(b"")
        asked = {"folder": str(folder), "words": list(map(str, words)), **{stream: str(file) for stream, file in files.items()}}
        with contextlib.suppress(BrokenPipeError):  # then there is no answer
            self.process.stdin.write(json.dumps(asked) + "\n")
        if not select.select([self.process.stdout], [], [], timeout)[0]:
            self.process.kill()
            self.end()
            raise subprocess.TimeoutExpired(words, timeout)
        answer = self.process.stdout.readline()
        code = int(answer) if answer else self.end()
        if code not in GOES_ON_AFTER:
            self.end()
        printed = [file.read_text() for file in files.values()]
        return subprocess.CompletedProcess([self.program, *words], code, *printed)


_process = OneProcess(os.environ[VARIABLE]) if os.environ.get(VARIABLE) else None


def in_one_process(words, folder, timeout):
    """What subprocess.run returns for these words of the program, or None if they are for a process of their own."""
    return _process.run(words, folder, timeout) if _process and words and words[0] in VERBS else None
