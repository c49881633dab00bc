// SPDX-License-Identifier: BSD-3-Clause
#include "io/rival_names.hpp"

#include <algorithm>
#include <cctype>
#include <initializer_list>
#include <string_view>

namespace hyperplane {
namespace {

/// The names that PETSc, hypre, AMGX, Ginkgo, SciPy, MATLAB and people who guess have for a key or value of ours, in
/// lower case and without '_', '-' and '.'.
struct Rivals {
    const char* ours;
    std::initializer_list<std::string_view> theirs;
};

const Rivals keys[] = {
    {"solver.max_iterations",
     {"maxiter", "maxiters", "maxit", "maxits", "itmax", "niter", "niters", "iterations", "maxiteration", "kspmaxit",
      "iterationlimit", "numiterations"}},
    {"solver.rtol",
     {"tol", "tolerance", "eps", "epsilon", "reltol", "relativetolerance", "ksprtol", "residualtolerance",
      "precision"}},
    {"solver.atol", {"abstol", "absolutetolerance", "kspatol"}},
    {"solver.divergence_tolerance", {"dtol", "divtol", "kspdivtol", "kspdtol"}},
    {"solver.restart", {"gmresrestart", "kspgmresrestart", "krylovdim", "kdim", "gmresm"}},
    {"solver.name", {"ksp", "ksptype", "method", "krylov", "solvertype", "linearsolver"}},
    {"preconditioner.name", {"pc", "pctype", "precond", "preconditionertype", "prec"}},
    {"smoother.name", {"smoother", "smoothertype", "relaxation", "relaxtype"}},
    {"preconditioner.fill_level",
     {"level", "levels", "fill", "filllevels", "pcfactorlevels", "iluk", "ilulevel", "lfil", "leveloffill"}},
    {"preconditioner.shift", {"diagonalshift", "pcfactorshiftamount"}},
    {"output.file", {"filename", "outfile", "outputfile", "out", "record"}},
    {"grid.cells", {"nx", "ny", "nz", "dims", "mesh", "resolution", "npoints", "gridsize", "cell"}},
    {"time.time_step", {"dt", "timestep", "stepsize", "deltat"}},
    {"time.steps", {"nsteps", "numsteps", "nt", "ntimesteps", "maxsteps"}},
    {"time.end_time", {"tend", "tfinal", "finaltime", "stoptime", "tmax"}},
    {"device.threads", {"nthreads", "numthreads", "ncpus", "omp", "ompnumthreads", "cores"}},
    {"device.backend", {"gpus", "usegpu", "cuda"}},
};

/// Backends, preconditioners and solvers.
const Rivals values[] = {
    {"cuda", {"gpu"}},
    {"multigrid", {"amg", "mg", "gmg", "pfmg", "boomeramg", "gamg", "pyamg"}},
    {"struct_ilu", {"ilu0", "iluk", "ic", "ic0", "icc", "ichol", "incompletecholesky"}},
    {"jacobi", {"diagonal", "diag", "bjacobi", "blockjacobi", "pbjacobi"}},
    {"none", {"identity", "off", "no"}},
    {"cg", {"pcg", "conjugategradient", "conjugategradients"}},
    {"bicgstab", {"bcgs", "bicg", "bicgstabl"}},
    {"gmres", {"lgmres", "gcr"}},
};

std::string plain(std::string_view word) {
    std::string letters;
    for (char c : word)
        if (c != '_' && c != '-' && c != '.') letters += char(std::tolower(static_cast<unsigned char>(c)));
    return letters;
}

std::string find_plain(const std::string& letters) {
    for (const Rivals& row : keys)
        if (std::find(row.theirs.begin(), row.theirs.end(), letters) != row.theirs.end()) return row.ours;
    return "";
}

}  // namespace

std::string rival_value(const std::string& word, const std::vector<std::string>& choices) {
    const std::string letters = plain(word);
    for (const Rivals& row : values)
        if (std::find(row.theirs.begin(), row.theirs.end(), letters) != row.theirs.end() &&
            std::find(choices.begin(), choices.end(), row.ours) != choices.end())
            return row.ours;
    return "";
}

std::string rival_name(const std::string& word) {
    const std::string whole = find_plain(plain(word));  // "ksp.rtol"
    const std::size_t dot = word.find('.');
    return !whole.empty() || dot == word.npos ? whole : find_plain(plain(word.substr(dot + 1)));
}

}  // namespace hyperplane
