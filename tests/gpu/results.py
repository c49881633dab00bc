# SPDX-License-Identifier: BSD-3-Clause
"""The results of the tests, kept from call to call, and the page that shows them (tests/gpu/run_all.sh)."""

import collections
import json
import os
import pathlib
import platform
import shutil
import subprocess
import sys
import tarfile
import time

from catalogue import may_skip


def gpu():
    """Name and driver of the GPU, as far as nvidia-smi prints them."""
    try:
        done = subprocess.run(["nvidia-smi", "--query-gpu=name,driver_version", "--format=csv,noheader"],
                              capture_output=True, text=True)
        return done.stdout.strip().replace("\n", "; ") or "unknown"
    except OSError:
        return "unknown: no nvidia-smi"


class Results:
    """state.json: the outcome of each test that has ended, by its key."""

    def __init__(self, folder, commit, fresh):
        self.folder, self.file, self.expected = folder, folder / "state.json", {}
        (folder / "logs").mkdir(parents=True, exist_ok=True)
        self.state = json.loads(self.file.read_text()) if self.file.exists() else {}
        self.seconds = {key: outcome["seconds"] for key, outcome in self.state.get("tests", {}).items()}
        if fresh or not self.state:
            for log in (folder / "logs").iterdir():
                log.unlink()
            self.state = {"commit": commit, "machines": [], "calls": [], "tests": {}}
        if self.state["commit"] != commit:
            sys.exit(f"{self.file} is of commit {self.state['commit']}, the build of {commit}. --fresh begins anew.")
        machine = f"{gpu()}; {platform.node()}, {os.cpu_count()} processors"
        if machine not in self.state["machines"]:
            self.state["machines"].append(machine)

    def expect(self, tests):
        self.expected = {test.key: test for test in tests}

    def has(self, test):
        return test.key in self.state["tests"]

    def has_failed(self, test):
        return self.has(test) and self.state["tests"][test.key]["state"] == "failed"

    def has_skipped(self, test):
        return self.has(test) and self.state["tests"][test.key]["state"] == "skipped"

    def shared(self, is_shared):
        """Whether processes of this call share the GPUs by the multi-process service."""
        self.state["shared"] = is_shared

    def left_out(self, note):
        """Says of tests why this machine does not run them."""
        self.state["left_out"] = note

    def run_again(self, tests):
        """These failed or were skipped while they shared a GPU, and are left."""
        for test in tests:
            self.state.setdefault("again", {})[test.key] = self.state["tests"].pop(test.key)["text"]
        self.save()

    def add(self, chunk, outcomes):
        number = len(list((self.folder / "logs").iterdir())) + 1
        (self.folder / "logs" / f"{number:04}_{chunk.tests[0].room}.log").write_text(
            " ".join(chunk.command()) + "\n" + chunk.log + "\n")
        for test, outcome in outcomes.items():
            self.state["tests"][test.key] = {"room": " ".join(filter(None, (test.tool, test.room))), **vars(outcome)}
        self.save()

    def save(self):
        part = self.file.with_suffix(".part")
        part.write_text(json.dumps(self.state, indent=1))
        part.replace(self.file)

    def call_ended(self, seconds, jobs):
        self.state["calls"].append({"ended": time.strftime("%Y-%m-%dT%H:%M:%SZ", time.gmtime()),
                                    "seconds": round(seconds, 1), "jobs": jobs, "shared": self.state["shared"]})
        self.save()

    def of_state(self, state):
        return [(key, outcome) for key, outcome in self.state["tests"].items()
                if outcome["state"] == state and key in self.expected]

    def passed(self):
        return self.of_state("passed")

    def failed(self):
        return self.of_state("failed")

    def skipped_without_leave(self):
        """Those that skips.txt does not name."""
        return [(key, outcome) for key, outcome in self.of_state("skipped") if not may_skip(key, outcome["text"])]

    def left(self):
        return [key for key in self.expected if key not in self.state["tests"]]

    def table(self):
        """Rows of room, run, passed, failed, skipped, left, seconds of all its tests."""
        rows = collections.defaultdict(collections.Counter)
        for key, test in self.expected.items():
            row = rows[" ".join(filter(None, (test.tool, test.room)))]
            outcome = self.state["tests"].get(key)
            row[outcome["state"] if outcome else "left"] += 1
            row["seconds"] += outcome["seconds"] if outcome else 0.0
        rows["all"] = sum(rows.values(), collections.Counter())
        return [f"| {room} | {row['passed'] + row['failed']} | {row['passed']} | {row['failed']} | {row['skipped']} | "
                f"{row['left']} | {row['seconds']:.1f} |" for room, row in rows.items()]

    def summary(self):
        """The whole page; also written to summary.md."""
        lines = [f"# GPU tests of commit {self.state['commit']}", ""]
        lines += [f"- {machine}" for machine in self.state["machines"]]
        lines += [f"- {call['seconds']} s with {call['jobs']} processes{', by MPS' if call.get('shared') else ''}, ended "
                  f"{call['ended']}" for call in self.state["calls"]]
        if note := self.state.get("left_out"):
            lines.append(f"- left out: {note}")
        lines += ["", "| | run | passed | failed | skipped | left | seconds of tests |", "|---|---|---|---|---|---|---|"]
        lines += self.table()
        if self.failed():
            lines += ["", "## Failed", ""]
            for key, outcome in self.failed():
                lines += [f"### {key}", "", "```", outcome["text"], "```", ""]
        if without_leave := self.skipped_without_leave():
            lines += ["", "## Skipped, but not in skips.txt, and so no success", ""]
            lines += [f"- {key}: {(outcome['text'].strip() or 'no reason').splitlines()[-1]}" for key, outcome in without_leave]
        if again := self.state.get("again"):
            lines += ["", "## Failed or skipped beside others by MPS, and run again without it", ""]
            lines += [f"- {key}: {text.strip().splitlines()[-1] if text.strip() else 'no output'}" for key, text in again.items()]
        reasons = collections.Counter(outcome["text"].strip().split("\n")[-1] for _, outcome in self.of_state("skipped"))
        if reasons:
            lines += ["", "## Skipped", ""] + [f"- {count}: {reason}" for reason, count in reasons.most_common()]
        slowest = sorted(((outcome["seconds"], key) for key, outcome in self.state["tests"].items()
                          if key in self.expected), reverse=True)[:20]
        lines += ["", "## Slowest", ""] + [f"- {seconds:.1f} s {key}" for seconds, key in slowest]
        text = "\n".join(lines) + "\n"
        (self.folder / "summary.md").write_text(text)
        return text

    def copy_to(self, out):
        """Packs page, state and all logs into few files."""
        if not out:
            return
        folder = pathlib.Path(out) / f"gpu-results-{self.folder.name}"
        folder.mkdir(parents=True, exist_ok=True)
        for name in ("summary.md", "state.json"):
            shutil.copy(self.folder / name, folder)
        with tarfile.open(folder / "logs.tar.gz", "w:gz") as archive:
            archive.add(self.folder / "logs", "logs")
