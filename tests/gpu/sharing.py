# SPDX-License-Identifier: BSD-3-Clause
"""NVIDIA's multi-process service, by which the processes of tests share a GPU (tests/gpu/run_all.sh).

Without it a GPU serves one process at a time and changes between them by time slices: small tests of eight processes
took up to 24 times as long on an H200. A fault on the GPU ends all processes that share it, so what fails beside
others runs again without the service.
"""

import contextlib
import pathlib
import shutil
import subprocess
import tempfile

CONTROL = "nvidia-cuda-mps-control"


# Kernels of ranks wait for each other. Ranks that have a GPU to themselves are all on it, but beside other processes one
# may wait for a kernel for which there is no room, until it ends with an error; so it was, too, with 20 processes that
# had a twentieth of the GPU each (CUDA_MPS_ACTIVE_THREAD_PERCENTAGE). What processes that others kill leave behind is
# not defined.
ALONE = ("Ranks", "GpuProcesses", "GpuHosts", "test_a_run_goes_on_on_the_other_backend")


def may_share(test):
    return not test.tool and not any(word in test.name for word in ALONE)


@contextlib.contextmanager
def service(variables):
    """The environment of processes that share the GPUs; None where there is no service, or where it does not begin."""
    control = shutil.which(CONTROL, path=variables.get("PATH"))
    if not control:
        yield None
        return
    with tempfile.TemporaryDirectory(prefix="mps.") as folder:
        ours = {"CUDA_MPS_PIPE_DIRECTORY": f"{folder}/pipe", "CUDA_MPS_LOG_DIRECTORY": f"{folder}/log"}
        for made in ours.values():
            pathlib.Path(made).mkdir()
        # It numbers the GPUs that it sees, and processes name them by these numbers: so it has to see all.
        daemon = {key: value for key, value in variables.items() if key != "CUDA_VISIBLE_DEVICES"} | ours
        if subprocess.run([control, "-d"], env=daemon, stdin=subprocess.DEVNULL, capture_output=True).returncode != 0:
            yield None
            return
        try:
            yield {**variables, **ours}
        finally:
            subprocess.run([control], env=daemon, input="quit\n", text=True, capture_output=True)
