# SPDX-License-Identifier: BSD-3-Clause
"""Spack's recipe. It fetches from the git checkout that it lies in; copied to another repository of recipes, it needs the
address of one in `git`."""

import pathlib

from spack.package import *

try:  # Spack 1.0 and later
    from spack_repo.builtin.build_systems.cmake import CMakePackage
    from spack_repo.builtin.build_systems.cuda import CudaPackage
except ImportError:  # 0.2x, where spack.package has both
    pass


class Hyperplane(CMakePackage, CudaPackage):
    """Solves sparse systems of PDEs on structured grids with preconditioned Krylov methods on CPUs and NVIDIA GPUs, and
    records how each solve converged and what it cost."""

    git = pathlib.Path(__file__).resolve().parents[4].as_uri()

    license("BSD-3-Clause")

    version("main", branch="main")

    variant("native", default=True, description="Compile for the target's own processor, not for any x86-64-v3")
    variant("report", default=True, description="Python with what `hyperplane report` needs")
    variant("python", default=False, description="hyperplane.solve of the Python module, for SciPy's matrices")
    variant("mpi", default=True, description="Ranks as processes under mpirun")

    depends_on("c", type="build")
    depends_on("cxx", type="build")
    depends_on("cmake@3.25:", type="build")
    depends_on("ninja", type="build")
    depends_on("hdf5@1.10:~mpi")
    depends_on("boost@1.74:+program_options")
    depends_on("fmt@9:")
    depends_on("spdlog@1.10:+fmt_external")
    depends_on("nlohmann-json@3.11:")
    depends_on("zlib-api")
    depends_on("libdeflate")
    depends_on("metis@5.1:")
    depends_on("mpi", when="+mpi")
    depends_on("cuda@12:", when="+cuda")
    depends_on("python@3.9:", type="run", when="+report")
    depends_on("py-h5py", type="run", when="+report")
    depends_on("py-matplotlib", type="run", when="+report")
    depends_on("python@3.9:", when="+python")
    depends_on("py-pybind11@2.10:", type="build", when="+python")
    depends_on("py-h5py", type="run", when="+python")
    depends_on("py-scipy", type="run", when="+python")

    conflicts("%gcc@:11", msg="needs C++20 as GCC 12 has it")

    generator("ninja")
    build_targets = ["installable"]

    def cmake_args(self):
        return [
            self.define("HYPERPLANE_CUDA", "ON" if self.spec.satisfies("+cuda") else "OFF"),
            self.define_from_variant("HYPERPLANE_NATIVE", "native"),
            self.define_from_variant("HYPERPLANE_MPI", "mpi"),
            self.define_from_variant("HYPERPLANE_PYTHON_MODULE", "python"),
        ]
