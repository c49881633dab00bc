# SPDX-License-Identifier: BSD-3-Clause
"""Every test that needs a GPU, run to its end, in parts for machines with a time limit (tests/gpu/run_all.sh)."""

import argparse
import contextlib
import hashlib
import os
import pathlib
import subprocess
import sys
import threading
import time

sys.path.insert(0, str(pathlib.Path(__file__).resolve().parent))
from catalogue import BETWEEN_HOSTS, Chunk, binaries, chunks_of, sanitized, tests_of  # noqa: E402
from results import Results  # noqa: E402
from runner import run_chunk  # noqa: E402
from sharing import may_share, service  # noqa: E402

ROOT = pathlib.Path(__file__).resolve().parents[2]
ALL_PASSED, SOME_FAILED, SOME_LEFT = 0, 1, 75


def arguments():
    parser = argparse.ArgumentParser(prog="run_all.sh", description=__doc__)
    parser.add_argument("mode", nargs="?", choices=("tests", "sanitize"), default="tests")
    parser.add_argument("--build", type=pathlib.Path, default=ROOT / "build/release", help="folder with tests/*/*_tests")
    parser.add_argument("--results", type=pathlib.Path, default=ROOT / "build/gpu-results",
                        help="what earlier parts finished is kept here; carry it along to go on on another machine")
    parser.add_argument("--copy-to", type=pathlib.Path, metavar="DIR", help="folder for a copy of the summary, the state and the logs")
    parser.add_argument("--jobs", type=int, default=os.cpu_count(), help="processes at a time")
    parser.add_argument("--minutes", type=float, default=8.5, help="after which this part ends")
    parser.add_argument("--test-seconds", type=float, default=240, help="after which a single test has failed")
    parser.add_argument("--only", default="", help="rooms, separated by commas: core,problems,precond,solvers,apps,program")
    parser.add_argument("--filter", default="*OnDevice*", help="GoogleTest's filter, for a part of the tests")
    parser.add_argument("--libs", type=pathlib.Path, help="folder of carried libraries, for LD_LIBRARY_PATH")
    parser.add_argument("--commit", help="what the build is of, where there is no git and no hyperplane to ask")
    parser.add_argument("--no-mps", action="store_true", help="do not share the GPUs by NVIDIA's multi-process service")
    parser.add_argument("--list", action="store_true", help="print the names of the tests and run none")
    parser.add_argument("--fresh", action="store_true", help="forget what earlier parts finished")
    return parser.parse_args()


def environment(given):
    """Many processes share the cores, so tests have one thread unless they set more, and waiting threads sleep."""
    changed = {"OMP_NUM_THREADS": "1", "OMP_WAIT_POLICY": "passive", "HYPERPLANE_KERNEL_CACHE": str(ROOT / "build/gpu-kernels"),
               "HYPERPLANE": str(given.build / "apps/hyperplane"), "PYTHONDONTWRITEBYTECODE": "1"}
    if "HYPERPLANE_SHARED_DATA" not in os.environ:
        changed["HYPERPLANE_SHARED_DATA"] = str(ROOT.parent / "shared/data")
    if (one := given.build / "tests/apps/hyperplane_in_one_process").exists():  # the program's tests begin one process each
        changed["HYPERPLANE_IN_ONE_PROCESS"] = str(one)
    changed["HYPERPLANE_MODULE"] = str(given.build / "python")
    folders = [given.libs, given.build / "lib"]
    found = [str(folder.resolve()) for folder in folders if folder and folder.is_dir()]
    if found:
        changed["LD_LIBRARY_PATH"] = ":".join(found + [os.environ.get("LD_LIBRARY_PATH", "")]).rstrip(":")
    for name in ("GTEST_TOTAL_SHARDS", "GTEST_SHARD_INDEX", "GTEST_FILTER"):
        os.environ.pop(name, None)
    return {**os.environ, **changed}


def commit_of(given, variables):
    if given.commit:
        return given.commit
    try:
        listed = subprocess.run([given.build / "apps/hyperplane", "info", "build"], env=variables, capture_output=True,
                                text=True, check=True).stdout
        sha = next(line.split()[-1] for line in listed.splitlines() if "git" in line)
        if sha != "unknown":
            return sha
    except (OSError, subprocess.CalledProcessError, StopIteration):
        pass
    git = subprocess.run(["git", "-C", ROOT, "describe", "--always", "--dirty", "--abbrev=12"], capture_output=True,
                         text=True)
    return git.stdout.strip() or "unknown"


def digest_of(build):
    """Distinguishes builds of the same commit, such as those of a changed tree."""
    digest = hashlib.sha256()
    for _, binary in sorted(binaries(build).items()):
        digest.update(binary.read_bytes())
    return digest.hexdigest()[:12]


def gpus():
    """The machine's GPUs, or those of CUDA_VISIBLE_DEVICES; empty if there is none to be found."""
    if "CUDA_VISIBLE_DEVICES" in os.environ:
        return os.environ["CUDA_VISIBLE_DEVICES"].split(",")
    try:
        listed = subprocess.run(["nvidia-smi", "--query-gpu=index", "--format=csv,noheader"], capture_output=True, text=True)
    except OSError:
        return []
    return listed.stdout.split() if listed.returncode == 0 else []


def between_hosts(cards):
    """How ranks of hosts are to reach each other. NCCL takes a GPU for each rank, and where there are fewer GPUs than ranks these
    exchange messages (tests/on_ranks.hpp): on one GPU tests with NCCL would be those with messages once more."""
    return BETWEEN_HOSTS if cards != 1 else tuple(how for how in BETWEEN_HOSTS if how != "nccl")


def run_all(chunks, given, variables, results):
    """Runs chunks, `jobs` at a time, until the time is up. Those that may share the GPUs by the multi-process service are one
    lane; beside them the others, for which a GPU changes between processes by time slices, a third of the processes while both
    last and half of them then. What failed or was skipped beside others runs again without the service: after a fault of
    another process there is no GPU for some time. Tests that judge times come last, one at a time."""
    deadline = time.monotonic() + 60 * given.minutes
    together = [chunk for chunk in chunks if not chunk.tests[0].measures]
    sharing = [chunk for chunk in together if may_share(chunk.tests[0])] if given.jobs > 1 and not given.no_mps else []
    few = max(2, given.jobs // 2)
    with service(variables) if sharing else contextlib.nullcontext() as shared:
        results.shared(shared is not None)
        if shared:
            slicing = Lane([chunk for chunk in together if chunk not in sharing], max(1, given.jobs // 3), variables, alone=few)
            run_together([slicing, Lane(sharing, given.jobs, shared)], given.jobs, deadline, given, results)
    if shared:
        again = [Chunk([test]) for chunk in sharing for test in chunk.tests if results.has_failed(test) or results.has_skipped(test)]
        results.run_again([chunk.tests[0] for chunk in again])
        run_together([Lane(again, few, variables)], few, deadline, given, results)
    else:
        run_together([Lane(together, given.jobs, variables)], given.jobs, deadline, given, results)
    run_together([Lane([chunk for chunk in chunks if chunk.tests[0].measures], 1, variables)], 1, deadline, given, results)


class Lane:
    """Chunks whose processes have the same environment: at most `most` run at a time, and `alone` once no other lane has any."""

    def __init__(self, chunks, most, variables, alone=None):
        self.queue, self.most, self.variables, self.alone, self.running = list(chunks), most, variables, alone or most, 0


def run_together(lanes, jobs, deadline, given, results):
    """Runs the chunks of lanes, `jobs` at a time. After a crash the rest of a chunk is queued again."""
    lock, cards = threading.Lock(), gpus()

    def next_chunk(worker):
        """The first chunk of the first lane that may begin one, and the lane; where there are several GPUs, tests that use all
        of them are left to every fourth worker."""
        may_take_all = len(cards) < 2 or worker % 4 == 0
        for lane in lanes:
            others = any(other.queue for other in lanes if other is not lane)
            if lane.running >= (lane.most if others else lane.alone):
                continue
            at = next((at for at, chunk in enumerate(lane.queue) if may_take_all or not chunk.tests[0].uses_all_gpus), None)
            if at is not None:
                return lane, lane.queue.pop(at)
        return None, None

    def gpus_of(worker, chunk):
        """All GPUs, of which the first one differs from process to process, or that one alone: a process needs the longer
        to begin the more it sees."""
        first = (worker + worker // 4) % len(cards)
        seen = cards[first:] + cards[:first] if chunk.tests[0].uses_all_gpus else cards[first:first + 1]
        return {"CUDA_VISIBLE_DEVICES": ",".join(seen)}

    def work(worker):
        while time.monotonic() < deadline:
            with lock:
                lane, chunk = next_chunk(worker)
                if lane:
                    lane.running += 1
                elif not any(lane.queue for lane in lanes):
                    return
            if not lane:  # until a chunk of a lane that runs as many as it may has ended
                time.sleep(0.2)
                continue
            there = {**lane.variables, **(gpus_of(worker, chunk) if cards else {})}
            try:
                outcomes, left = run_chunk(chunk, there, deadline, given.test_seconds)
                with lock:
                    results.add(chunk, outcomes)
                    if left:
                        lane.queue.insert(0, left)
            finally:
                with lock:
                    lane.running -= 1

    threads = [threading.Thread(target=work, args=(worker,)) for worker in range(max(1, jobs))]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()


def main():
    given = arguments()
    given.build, given.results = given.build.resolve(), given.results.resolve() / given.mode
    variables = environment(given)
    rooms = set(filter(None, given.only.split(",")))
    if given.mode == "tests":
        between = between_hosts(len(gpus()))
        tests = tests_of(given.build, rooms, given.filter, variables, between)
    else:
        tests = sanitized(given.build, rooms, variables)
    if given.list:
        print("\n".join(test.key for test in tests))
        return ALL_PASSED
    given.results.mkdir(parents=True, exist_ok=True)
    commit = f"{commit_of(given, variables)}, build {digest_of(given.build)}"
    results = Results(given.results, commit, given.fresh)
    results.expect(tests)
    if given.mode == "tests" and between != BETWEEN_HOSTS:
        results.left_out("ranks of hosts with NCCL, which takes a GPU for each rank and so would give way to messages on one GPU")
    begin = time.monotonic()
    run_all(chunks_of([test for test in tests if not results.has(test)], results.seconds), given, variables, results)
    results.call_ended(time.monotonic() - begin, given.jobs)
    print(results.summary())
    results.copy_to(given.copy_to)
    if results.left():
        return SOME_LEFT
    return SOME_FAILED if results.failed() or results.skipped_without_leave() or not results.passed() else ALL_PASSED


if __name__ == "__main__":
    sys.exit(main())
