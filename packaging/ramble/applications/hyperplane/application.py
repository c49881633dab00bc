# SPDX-License-Identifier: BSD-3-Clause
"""Ramble's application: a study is run, and its figures of merit are read from what is printed. Benchpark takes it, too."""

from ramble.appkit import *

# A figure of merit is a line "fom CASE FIGURE = VALUE UNIT" (docs/study.md).
UNITS = {
    "unknowns": "",
    "iterations": "",
    "relative_residual": "",
    "setup_seconds": "s",
    "solve_seconds": "s",
    "seconds_per_iteration": "s",
    "memory_peak": "B",
}


class Hyperplane(ExecutableApplication):
    """Solves sparse systems of PDEs on structured grids with preconditioned Krylov methods, case by case of a study."""

    name = "hyperplane"

    tags("krylov", "preconditioner", "sparse-solver", "structured-grid")

    with when("package_manager_family=spack"):
        software_spec("hyperplane", pkg_spec="hyperplane@main")

    required_package("hyperplane", package_manager="spack")

    # The decks lie beside the program: PREFIX/bin/hyperplane, PREFIX/share/hyperplane/inputs.
    executable(
        "deck",
        'cp "$(dirname "$(command -v hyperplane)")/../share/hyperplane/inputs/studies/{study}.ini" .',
        use_mpi=False,
    )
    executable("run", "hyperplane study run {study}.ini --jobs {jobs}", use_mpi=False, output_capture=OUTPUT_CAPTURE.ALL)
    executable("collect", "hyperplane study collect {study}.ini --fom", use_mpi=False, output_capture=OUTPUT_CAPTURE.ALL)

    workload("study", executables=["deck", "run", "collect"])

    workload_variable(
        "study",
        default="preconditioners",
        description="Which of the installed studies: preconditioners or storage",
        workloads=["study"],
    )
    workload_variable("jobs", default="1", description="Cases at a time, each a process", workloads=["study"])

    for figure, units in UNITS.items():
        figure_of_merit(
            "{case} " + figure,
            fom_regex=rf"^fom (?P<case>\S+) {figure} = (?P<value>\S+)",
            group_name="value",
            units=units,
        )
    for total in ("cases", "succeeded", "failed", "missing"):
        figure_of_merit(
            f"study {total}", fom_regex=rf"^fom study {total} = (?P<value>\d+)", group_name="value", units=""
        )

    success_criteria("some case succeeded", mode="string", match=r"^fom study succeeded = [1-9]")
    success_criteria("no case failed", mode="string", match=r"^fom study failed = 0$")
    success_criteria("no case is missing", mode="string", match=r"^fom study missing = 0$")
