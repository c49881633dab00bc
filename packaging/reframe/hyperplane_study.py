# SPDX-License-Identifier: BSD-3-Clause
"""A ReFrame test: runs a study of Hyperplane and reads its figures of merit.

    reframe -c packaging/reframe/hyperplane_study.py -r --performance-report
    reframe -c packaging/reframe/hyperplane_study.py -r -S study=storage.ini -S threads=16 -S module=hyperplane/0.2.0

It passes where every case of the study ended with exit code 0. For performance to be judged, too, a derived test sets
`reference`, whose names are CASE.FIGURE, e.g. "storage=single,fill_level=0,cells=64.solve_seconds".
"""

import pathlib

import reframe as rfm
import reframe.utility.sanity as sn
from reframe.core.builtins import run_after, run_before, sanity_function, variable

FIGURE = r"^fom (?P<case>\S+) (?P<figure>\w+) = (?P<value>\S+)(?: (?P<unit>\S+))?$"


@rfm.simple_test
class HyperplaneStudy(rfm.RunOnlyRegressionTest):
    """hyperplane study run, then hyperplane study collect --fom."""

    study = variable(str, value="preconditioners.ini")  # one of inputs/studies/, or a path
    threads = variable(int, value=1)  # of each case
    module = variable(str, value="")  # that has the program; empty: it is on the PATH

    descr = "cases of a study of preconditioners, with their figures of merit"
    valid_systems = ["*"]
    valid_prog_environs = ["*"]
    sourcesdir = str(pathlib.Path(__file__).resolve().parents[2] / "inputs/studies")
    executable = "hyperplane"

    @run_after("init")
    def set_modules(self):
        if self.module:
            self.modules = [self.module]

    @run_before("run")
    def set_command(self):
        self.num_cpus_per_task = self.threads
        self.env_vars = {"OMP_NUM_THREADS": str(self.threads)}
        self.executable_opts = ["study", "run", self.study]
        self.postrun_cmds = [f"hyperplane study collect {self.study} --fom"]

    @sanity_function
    def every_case_succeeded(self):
        return sn.all([
            sn.assert_found(r"^fom study succeeded = [1-9]", self.stdout),
            sn.assert_found(r"^fom study failed = 0$", self.stdout),
            sn.assert_found(r"^fom study missing = 0$", self.stdout),
        ])

    @run_before("performance")
    def read_figures(self):
        """Makes a performance variable of each figure that the study printed."""
        output = pathlib.Path(self.stagedir) / sn.evaluate(self.stdout)
        found = sn.evaluate(sn.extractall(FIGURE, str(output), ("case", "figure", "value", "unit")))
        self.perf_variables = {
            f"{case}.{figure}": sn.make_performance_function(float, unit or "1", value)
            for case, figure, value, unit in found
        }
