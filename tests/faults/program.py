# SPDX-License-Identifier: BSD-3-Clause
"""The program under test in a scratch folder, and what its end says."""

import os
import subprocess

PROGRAM = os.environ["HYPERPLANE"]
SECONDS = 120  # a command that takes longer hangs

MEANING = {0: "ok", 2: "usage refused", 3: "not converged", 4: "diverged", 5: "pivot", 6: "out of memory",
           7: "file refused", 8: "says that cases are missing", 9: "no device", 75: "stopped, state kept"}
DECK = "[problem]\nname = convection_diffusion\n[grid]\ncells = 9\n[time]\ncfl = 5\nsteps = 6\n[solver]\nname = gmres\n"


class Program:
    def __init__(self, folder):
        self.folder = folder

    def run(self, *words, stop_at=None, limit=None):
        """Exit status and what was said; None for a command that hangs."""
        environment = {**os.environ, "HYPERPLANE_STOP_AT": stop_at} if stop_at else None
        try:
            done = subprocess.run([PROGRAM, *words], cwd=self.folder, stdout=subprocess.PIPE, stderr=subprocess.PIPE,
                                  timeout=SECONDS, env=environment, preexec_fn=limit)
        except subprocess.TimeoutExpired:
            return None, b""
        return done.returncode, done.stderr + done.stdout

    def write(self, name, text):
        (self.folder / name).write_text(text)
        return name

    def judge(self, words, allowed, **options):
        """The outcome's name, and a complaint unless it is one of those allowed and says what is wrong."""
        status, said = self.run(*words, **options)
        name = "hangs" if status is None else MEANING.get(status, f"status {status}")
        if status not in allowed:
            return name, f"{words} ended with {name}: {said[-300:]!r}"
        if b"HDF5-DIAG" in said or b"Traceback" in said or b"terminate called" in said:
            return name, f"{words} said {said[-300:]!r}"
        if status not in (0, 75) and not said.strip():
            return name, f"{words} said nothing"
        return name, None
