# SPDX-License-Identifier: BSD-3-Clause
"""The recipes in packaging/, as far as they can be judged without Spack, ReFrame and Ramble: their Python runs against
stand-ins that only record what is declared; what they name exists; their commands are run, and their expressions read the
figures of merit that the program prints."""

import importlib.util
import os
import pathlib
import re
import shutil
import subprocess
import sys
import tempfile
import types
import unittest
from unittest import mock

ROOT = pathlib.Path(__file__).resolve().parents[2]
PACKAGING = ROOT / "packaging"
STUDY = """[problem]
name = poisson
[grid]
cells = 8
[solver]
name = cg
[sweep]
preconditioner.name = jacobi, none
"""


def module(name, **contents):
    made = types.ModuleType(name)
    made.__dict__.update(contents)
    return made


def load(path, modules):
    """The module of a recipe, which imports these stand-ins."""
    with mock.patch.dict(sys.modules, modules):
        spec = importlib.util.spec_from_file_location("recipe", path)
        recipe = importlib.util.module_from_spec(spec)
        spec.loader.exec_module(recipe)
    return recipe


class Declarations:
    """A stand-in whose functions record their arguments: calls[name] = [(positional, named)]."""

    def __init__(self, *names):
        self.calls = {name: [] for name in names}
        self.functions = {name: self.function(name) for name in names}

    def function(self, name):
        return lambda *positional, **named: self.calls[name].append((positional, named))

    def first_arguments(self, name):
        return [positional[0] for positional, _ in self.calls[name]]


class Spack(unittest.TestCase):
    def setUp(self):
        self.declared = Declarations("license", "version", "variant", "depends_on", "conflicts", "generator")
        package = type("CMakePackage", (), {})
        cuda = type("CudaPackage", (), {})
        spack = module("spack.package", CMakePackage=package, CudaPackage=cuda, **self.declared.functions)
        self.recipe = load(PACKAGING / "spack/packages/hyperplane/package.py",
                           {"spack": module("spack"), "spack.package": spack}).Hyperplane

    def arguments(self, variants):
        made = self.recipe()
        made.spec = mock.Mock(satisfies=lambda word: word in variants)
        made.define = lambda name, value: f"-D{name}={value}"
        made.define_from_variant = lambda name, variant: f"-D{name}={'ON' if '+' + variant in variants else 'OFF'}"
        return made.cmake_args()

    def test_options_exist(self):
        text = (ROOT / "CMakeLists.txt").read_text()
        known = set(re.findall(r"^(?:option|set)\((HYPERPLANE_\w+)", text, re.M))
        for variants in ([], ["+cuda", "+native"]):
            for argument in self.arguments(variants):
                self.assertIn(re.match(r"-D(\w+)=", argument)[1], known)
        self.assertIn("-DHYPERPLANE_CUDA=ON", self.arguments(["+cuda"]))
        self.assertIn("-DHYPERPLANE_CUDA=OFF", self.arguments([]))
        self.assertIn("-DHYPERPLANE_NATIVE=OFF", self.arguments([]))

    def test_every_library_is_a_dependency(self):
        names = {"OpenMP": None, "GTest": None, "HDF5": "hdf5", "Boost": "boost", "ZLIB": "zlib-api",
                 "nlohmann_json": "nlohmann-json", "fmt": "fmt", "spdlog": "spdlog", "CUDAToolkit": "cuda",
                 "MPI": "mpi", "Python": "python", "pybind11": "py-pybind11"}
        dependencies = {re.match(r"[\w-]+", spec)[0] for spec in self.declared.first_arguments("depends_on")}
        for room in ("", "apps", "core", "io", "precond", "problems", "solvers", "apps/library", "python"):
            for name in re.findall(r"find_package\((\w+)", (ROOT / room / "CMakeLists.txt").read_text()):
                self.assertIn(name, names, "a library that the recipe's test does not know")
                if names[name]:
                    self.assertIn(names[name], dependencies)

    def test_sources_and_targets(self):
        self.assertEqual(self.recipe.git, ROOT.as_uri())
        text = (ROOT / "cmake/install.cmake").read_text()
        for target in self.recipe.build_targets:
            self.assertIn(f"add_custom_target({target} ", text)


class WithProgram(unittest.TestCase):
    """Commands run where `hyperplane` is found in a prefix with a small study."""

    def setUp(self):
        scratch = tempfile.TemporaryDirectory()
        self.addCleanup(scratch.cleanup)
        self.folder = pathlib.Path(scratch.name)
        (self.folder / "bin").mkdir()
        (self.folder / "bin/hyperplane").symlink_to(os.environ["HYPERPLANE"])
        studies = self.folder / "share/hyperplane/inputs/studies"
        studies.mkdir(parents=True)
        (studies / "small.ini").write_text(STUDY)
        self.work = self.folder / "work"
        self.work.mkdir()

    def shell(self, command):
        path = f"{self.folder / 'bin'}:{os.environ['PATH']}"
        done = subprocess.run(["bash", "-euc", command], cwd=self.work, env=os.environ | {"PATH": path}, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
        self.assertEqual(done.returncode, 0, f"{command}\n{done.stdout}")
        return done.stdout


class Ramble(WithProgram):
    def setUp(self):
        super().setUp()
        names = ("tags", "software_spec", "required_package", "executable", "workload", "workload_variable",
                 "figure_of_merit", "success_criteria")
        self.declared = Declarations(*names)
        appkit = module("ramble.appkit", ExecutableApplication=object, OUTPUT_CAPTURE=mock.Mock(), when=mock.MagicMock(),
                        **self.declared.functions)
        load(PACKAGING / "ramble/applications/hyperplane/application.py",
             {"ramble": module("ramble"), "ramble.appkit": appkit})

    def test_executables_print_what_is_read(self):
        commands = {positional[0]: positional[1] for positional, _ in self.declared.calls["executable"]}
        variables = {positional[0]: named["default"] for positional, named in self.declared.calls["workload_variable"]}
        self.assertTrue((ROOT / f"inputs/studies/{variables['study']}.ini").is_file())
        variables["study"] = "small"
        printed = ""
        for name in self.declared.calls["workload"][0][1]["executables"]:
            printed += self.shell(re.sub(r"\{(\w+)\}", lambda word: variables[word[1]], commands[name]))
        lines = printed.splitlines()
        for (name, *_), named in self.declared.calls["figure_of_merit"]:
            found = [match for match in (re.match(named["fom_regex"], line) for line in lines) if match]
            self.assertEqual(len(found), 1 if name.startswith("study ") else 2, name)
            for match in found:
                float(match[named["group_name"]])
        for (name,), named in self.declared.calls["success_criteria"]:
            self.assertTrue(any(re.match(named["match"], line) for line in lines), name)

    def test_units_are_those_that_are_printed(self):
        (self.work / "small.ini").write_text(STUDY)
        printed = self.shell("hyperplane study run small.ini; hyperplane study collect small.ini --fom")
        units = {figure: unit for figure, unit in re.findall(r"^fom \S+ (\w+) = \S+ ?(\S*)$", printed, re.M)}
        for (name,), named in self.declared.calls["figure_of_merit"]:
            self.assertEqual(units[name.split()[-1]], named["units"], name)

    def test_the_experiment_is_yaml(self):
        try:
            import yaml
        except ImportError:
            self.skipTest("Python's yaml is missing (Debian: python3-yaml)")
        experiment = yaml.safe_load((PACKAGING / "ramble/ramble.yaml").read_text())["ramble"]
        workload = experiment["applications"]["hyperplane"]["workloads"]["study"]
        for variables in (made["variables"] for made in workload["experiments"].values()):
            for study in variables["study"]:
                self.assertTrue((ROOT / f"inputs/studies/{study}.ini").is_file())
        for repository in ("ramble", "spack"):
            self.assertIn("namespace", yaml.safe_load((PACKAGING / repository / "repo.yaml").read_text())["repo"])


class ReFrame(WithProgram):
    """The stand-in keeps hooks as they are and evaluates what ReFrame defers at once."""

    def setUp(self):
        super().setUp()
        same = lambda *stage: lambda function: function  # noqa: E731
        sanity = module("reframe.utility.sanity", all=all, evaluate=lambda value: value,
                        assert_found=lambda pattern, file: bool(re.search(pattern, self.read(file), re.M)),
                        extractall=lambda pattern, file, tags: [tuple(match[tag] for tag in tags) for match in
                                                                re.finditer(pattern, self.read(file), re.M)],
                        make_performance_function=lambda function, unit, value: (function(value), unit))
        builtins = module("reframe.core.builtins", run_after=same, run_before=same, sanity_function=lambda check: check,
                          variable=lambda kind, value: value)
        top = module("reframe", RunOnlyRegressionTest=object, simple_test=lambda test: test)
        modules = {"reframe": top, "reframe.core": module("reframe.core"), "reframe.core.builtins": builtins,
                   "reframe.utility": module("reframe.utility", sanity=sanity), "reframe.utility.sanity": sanity}
        self.test = load(PACKAGING / "reframe/hyperplane_study.py", modules).HyperplaneStudy()
        self.test.stagedir, self.test.stdout = str(self.work), "rfm.out"

    def read(self, file):
        return (self.work / file).read_text()

    def test_study(self):
        self.assertTrue((pathlib.Path(self.test.sourcesdir) / self.test.study).is_file())
        (self.work / "small.ini").write_text(STUDY)
        self.test.study = "small.ini"
        self.test.set_modules()
        self.test.set_command()
        command = " ".join([self.test.executable, *self.test.executable_opts])
        (self.work / "rfm.out").write_text(self.shell("\n".join([command, *self.test.postrun_cmds])))
        self.assertTrue(self.test.every_case_succeeded())
        self.test.read_figures()
        figures = self.test.perf_variables
        self.assertGreater(figures["preconditioner=jacobi.solve_seconds"][0], 0.0)
        self.assertEqual(figures["preconditioner=jacobi.solve_seconds"][1], "s")
        self.assertEqual(figures["study.cases"], (2.0, "1"))

    def test_a_failed_case_fails_it(self):
        (self.work / "rfm.out").write_text("fom study succeeded = 1\nfom study failed = 1\nfom study missing = 0\n")
        self.assertFalse(self.test.every_case_succeeded())


class Containers(unittest.TestCase):
    def test_what_they_run_exists(self):
        for recipe in ("Dockerfile", "hyperplane.def"):
            text = (PACKAGING / "containers" / recipe).read_text()
            for name in re.findall(r"/source/(\S+)", text):
                self.assertTrue(os.access(ROOT / name, os.X_OK), f"{recipe} runs {name}")

    def test_both_install_the_same(self):
        installed = [re.findall(r"no-install-recommends (.*?)(?: && \\)?$", (PACKAGING / "containers" / recipe).read_text(),
                                re.M)[0].replace("/tmp/", "").replace("/packages/", "")
                     for recipe in ("Dockerfile", "hyperplane.def")]
        self.assertEqual(installed[0], installed[1])
        recommended = re.search(r'RECOMMENDS "(.*)"', (ROOT / "cmake/package.cmake").read_text())[1].split(", ")
        self.assertEqual(set(recommended) - set(installed[0].split()), {"python3"})  # which the modules need

    @unittest.skipIf(shutil.which("shellcheck") is None, "shellcheck is missing (Debian: shellcheck)")
    def test_scripts_pass_shellcheck(self):
        scripts = sorted(PACKAGING.rglob("*.sh"))
        self.assertGreater(len(scripts), 1)
        done = subprocess.run(["shellcheck", "-x", *scripts], cwd=ROOT, capture_output=True, text=True, check=False)
        self.assertEqual(done.returncode, 0, done.stdout)


if __name__ == "__main__":
    unittest.main()
