// SPDX-License-Identifier: BSD-3-Clause
// PETSc on the program's own Poisson system, for docs/performance.md: what SpMV, ILU(0) and ICC(0) applies,
// CG + ICC(0) and GMRES(30) + ILU(0) cost there, on one process or several (block Jacobi between them).
//
//   [mpirun -n 2] petsc_poisson [-points 96] [-system manuexp|ones] [-repeats 11] [-rtol 1e-8] [-json]
//
// Both systems have points^3 rows on the unit cube, 6 and -1; a neighbour on the boundary has no entry.
//   manuexp: problem.name = poisson with bc_rows = keep. Boundary points are rows too, identity ones. Right-hand
//            side -F(u0), where u0 is the boundary data and zero inside: h^2 f and the boundary neighbours' u, zero
//            in boundary rows; u = -x exp(y+z), f = 2 x exp(y+z) (Bueler, c/ch6/fish.c)
//   ones:    interior points only; right-hand side 1
// CSR holds no entry that is zero, so PETSc moves fewer entries than a stencil would.
#include <petscksp.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

static const char help[] = "Times PETSc's SpMV, ILU(0), ICC(0), CG and GMRES on the 7-point Poisson system.\n";

struct Options {
    PetscInt points = 96, repeats = 11;
    PetscReal rtol = 1e-8;
    PetscBool json = PETSC_FALSE;
    char system[16] = "manuexp";
};

struct System {
    Mat a;
    Vec b, x;
};

struct Timing {
    double median, best;  // seconds
};

struct Solve {
    double setup, total;  // seconds, best repeat
    PetscInt iterations;
    double true_residual;  // ||b - A x|| / ||b||
};

/// Median and minimum of `repeats` timed calls after one untimed; each time is the slowest process's.
static PetscErrorCode measure(PetscInt repeats, const std::function<PetscErrorCode()>& work, Timing& timing) {
    PetscFunctionBeginUser;
    std::vector<double> seconds;
    for (PetscInt i = 0; i <= repeats; ++i) {
        PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
        double t = -MPI_Wtime();
        PetscCall(work());
        t += MPI_Wtime();
        PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &t, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
        if (i > 0) seconds.push_back(t);
    }
    std::sort(seconds.begin(), seconds.end());
    timing = {seconds[seconds.size() / 2], seconds.front()};
    PetscFunctionReturn(0);
}

static PetscErrorCode assemble(const Options& options, System& s) {
    PetscFunctionBeginUser;
    const PetscInt n = options.points, rows = n * n * n, stride[3] = {1, n, n * n};
    const double h = 1.0 / double(n - 1);
    const bool ones = std::string(options.system) == "ones";
    PetscCheck(ones || std::string(options.system) == "manuexp", PETSC_COMM_WORLD, PETSC_ERR_USER_INPUT,
               "-system is manuexp or ones, not %s", options.system);
    PetscCall(MatCreateAIJ(PETSC_COMM_WORLD, PETSC_DECIDE, PETSC_DECIDE, rows, rows, 7, nullptr, 3, nullptr, &s.a));
    PetscCall(MatCreateVecs(s.a, &s.x, &s.b));
    PetscInt begin, end;
    PetscCall(MatGetOwnershipRange(s.a, &begin, &end));
    for (PetscInt row = begin; row < end; ++row) {
        const PetscInt p[3] = {row % n, row / n % n, row / (n * n)};
        const auto inside = [n, ones](PetscInt i) { return ones ? i >= 0 && i < n : i > 0 && i < n - 1; };
        const bool interior = inside(p[0]) && inside(p[1]) && inside(p[2]);
        std::vector<PetscInt> columns{row};
        std::vector<PetscScalar> values{interior ? 6.0 : 1.0};
        double rhs = 0.0;
        if (interior) rhs = ones ? 1.0 : h * h * 2.0 * p[0] * h * std::exp((p[1] + p[2]) * h);
        for (int d = 0; interior && d < 3; ++d) {
            for (int side : {-1, 1}) {
                PetscInt q[3] = {p[0], p[1], p[2]};
                q[d] += side;
                if (inside(q[d])) {
                    columns.push_back(row + side * stride[d]);
                    values.push_back(-1.0);
                } else if (!ones) {
                    rhs += -q[0] * h * std::exp((q[1] + q[2]) * h);
                }
            }
        }
        PetscCall(MatSetValues(s.a, 1, &row, PetscInt(columns.size()), columns.data(), values.data(), INSERT_VALUES));
        PetscCall(VecSetValue(s.b, row, rhs, INSERT_VALUES));
    }
    PetscCall(MatAssemblyBegin(s.a, MAT_FINAL_ASSEMBLY));
    PetscCall(MatAssemblyEnd(s.a, MAT_FINAL_ASSEMBLY));
    PetscCall(MatSetOption(s.a, MAT_SYMMETRIC, PETSC_TRUE));
    PetscCall(VecAssemblyBegin(s.b));
    PetscCall(VecAssemblyEnd(s.b));
    PetscFunctionReturn(0);
}

/// Makes `ksp` with ILU(0) or ICC(0), of the whole matrix on one process, of each process's block on several.
/// cg reports ||r||; gmres(30) is right-preconditioned, so both stop on the unpreconditioned residual.
static PetscErrorCode make_solver(const System& s, KSPType method, PCType factorisation, PetscReal rtol,
                                  PetscInt max_iterations, KSP& ksp) {
    PetscFunctionBeginUser;
    PetscMPIInt processes;
    PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &processes));
    PC pc;
    PetscCall(KSPCreate(PETSC_COMM_WORLD, &ksp));
    PetscCall(KSPSetOperators(ksp, s.a, s.a));
    PetscCall(KSPSetType(ksp, method));
    if (std::string(method) == KSPGMRES) {
        PetscCall(KSPGMRESSetRestart(ksp, 30));
        PetscCall(KSPSetPCSide(ksp, PC_RIGHT));
    }
    PetscCall(KSPSetNormType(ksp, KSP_NORM_UNPRECONDITIONED));
    PetscCall(KSPSetTolerances(ksp, rtol, PETSC_DEFAULT, PETSC_DEFAULT, max_iterations));
    PetscCall(KSPGetPC(ksp, &pc));
    if (processes > 1) {
        PetscCall(PCSetType(pc, PCBJACOBI));
        PetscCall(PCSetUp(pc));
        KSP* blocks;
        PetscCall(PCBJacobiGetSubKSP(pc, nullptr, nullptr, &blocks));
        PetscCall(KSPSetType(blocks[0], KSPPREONLY));
        PetscCall(KSPGetPC(blocks[0], &pc));
    }
    PetscCall(PCSetType(pc, factorisation));
    PetscFunctionReturn(0);
}

static PetscErrorCode apply_time(const System& s, PCType factorisation, PetscInt repeats, Timing& timing) {
    PetscFunctionBeginUser;
    KSP ksp;
    PC pc;
    PetscCall(make_solver(s, KSPCG, factorisation, 1e-8, 1, ksp));
    PetscCall(KSPSetUp(ksp));
    PetscCall(KSPSetUpOnBlocks(ksp));
    PetscCall(KSPGetPC(ksp, &pc));
    PetscCall(measure(
        repeats, [&] { return PCApply(pc, s.b, s.x); }, timing));
    PetscCall(KSPDestroy(&ksp));
    PetscFunctionReturn(0);
}

/// Seconds an iteration, from solves of exactly `count` iterations.
static PetscErrorCode iteration_time(const System& s, KSPType method, PCType factorisation, PetscInt count,
                                     PetscInt repeats, Timing& timing) {
    PetscFunctionBeginUser;
    KSP ksp;
    PetscCall(make_solver(s, method, factorisation, 1e-40, count, ksp));
    PetscCall(KSPSetUp(ksp));
    PetscCall(measure(
        repeats, [&] { return KSPSolve(ksp, s.b, s.x); }, timing));
    PetscInt done;
    PetscCall(KSPGetIterationNumber(ksp, &done));
    timing.median /= double(done);
    timing.best /= double(done);
    PetscCall(KSPDestroy(&ksp));
    PetscFunctionReturn(0);
}

/// A whole solve, set-up included, from x = 0; the repeat that took least.
static PetscErrorCode total_time(const System& s, PetscReal rtol, PetscInt repeats, Solve& solve) {
    PetscFunctionBeginUser;
    solve = {0.0, 1e300, 0, 0.0};
    for (PetscInt i = 0; i < repeats; ++i) {
        KSP ksp;
        PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
        const double begin = MPI_Wtime();
        PetscCall(make_solver(s, KSPCG, PCICC, rtol, 10000, ksp));
        PetscCall(KSPSetUp(ksp));
        PetscCall(KSPSetUpOnBlocks(ksp));
        const double middle = MPI_Wtime();
        PetscCall(KSPSolve(ksp, s.b, s.x));
        double times[2] = {middle - begin, MPI_Wtime() - begin};
        PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, times, 2, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
        if (times[1] < solve.total) solve = {times[0], times[1], 0, 0.0};
        PetscCall(KSPGetIterationNumber(ksp, &solve.iterations));
        PetscCall(KSPDestroy(&ksp));
    }
    Vec r;
    PetscReal r_norm, b_norm;
    PetscCall(VecDuplicate(s.b, &r));
    PetscCall(MatMult(s.a, s.x, r));
    PetscCall(VecAYPX(r, -1.0, s.b));
    PetscCall(VecNorm(r, NORM_2, &r_norm));
    PetscCall(VecNorm(s.b, NORM_2, &b_norm));
    solve.true_residual = r_norm / b_norm;
    PetscCall(VecDestroy(&r));
    PetscFunctionReturn(0);
}

static PetscErrorCode print_timing(const Options& options, const char* key, const char* words, Timing t) {
    PetscFunctionBeginUser;
    const char* form = options.json ? ", \"%s\": {\"median\": %.4f, \"best\": %.4f}" : "%-32s %9.3f %9.3f\n";
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, form, options.json ? key : words, 1e3 * t.median, 1e3 * t.best));
    PetscFunctionReturn(0);
}

static PetscErrorCode run(const Options& options) {
    PetscFunctionBeginUser;
    System s;
    PetscCall(assemble(options, s));
    MatInfo info;
    PetscMPIInt processes;
    PetscCall(MatGetInfo(s.a, MAT_GLOBAL_SUM, &info));
    PetscCallMPI(MPI_Comm_size(PETSC_COMM_WORLD, &processes));
    const double rows = std::pow(double(options.points), 3);

    Timing spmv, ilu, icc, cg, gmres;
    Solve solve;
    PetscCall(measure(
        options.repeats, [&] { return MatMult(s.a, s.b, s.x); }, spmv));
    PetscCall(apply_time(s, PCILU, options.repeats, ilu));
    PetscCall(apply_time(s, PCICC, options.repeats, icc));
    PetscCall(iteration_time(s, KSPCG, PCICC, 40, options.repeats, cg));
    PetscCall(iteration_time(s, KSPGMRES, PCILU, 60, std::max<PetscInt>(3, options.repeats / 3), gmres));
    PetscCall(total_time(s, options.rtol, std::max<PetscInt>(3, options.repeats / 2), solve));
    // Values 8 B, columns 4 B an entry; row pointers 4 B; x read and y written once, 8 B each.
    const double spmv_bytes = 12.0 * info.nz_used + rows * (4.0 + 8.0 + 8.0);

    PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                          options.json
                              ? "{\"petsc\": \"%d.%d.%d\", \"processes\": %d, \"points\": %d, \"system\": \"%s\""
                              : "PETSc %d.%d.%d, %d process(es), %d^3 points, %s\n",
                          PETSC_VERSION_MAJOR, PETSC_VERSION_MINOR, PETSC_VERSION_SUBMINOR, int(processes),
                          int(options.points), options.system));
    if (!options.json) PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%-32s %9s %9s\n", "milliseconds", "median", "best"));
    PetscCall(print_timing(options, "spmv_ms", "SpMV", spmv));
    PetscCall(print_timing(options, "ilu0_apply_ms", "ILU(0) apply", ilu));
    PetscCall(print_timing(options, "icc0_apply_ms", "ICC(0) apply", icc));
    PetscCall(print_timing(options, "cg_icc0_iteration_ms", "CG + ICC(0), an iteration", cg));
    PetscCall(print_timing(options, "gmres30_ilu0_iteration_ms", "GMRES(30) + ILU(0), an iteration", gmres));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD,
                          options.json ? ", \"spmv_gb_per_s\": %.2f, \"cg_icc0\": {\"rtol\": %.1e, \"iterations\": %d, "
                                         "\"setup_s\": %.4f, \"total_s\": %.4f, \"true_residual\": %.3e}}\n"
                                       : "SpMV at %.1f GB/s (best)\nCG + ICC(0) to rtol %.0e: %d iterations, set-up "
                                         "%.3f s, total %.3f s, ||b-Ax||/||b|| = %.3e\n",
                          spmv_bytes / spmv.best / 1e9, double(options.rtol), int(solve.iterations), solve.setup,
                          solve.total, solve.true_residual));
    PetscCall(MatDestroy(&s.a));
    PetscCall(VecDestroy(&s.b));
    PetscCall(VecDestroy(&s.x));
    PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
    PetscCall(PetscInitialize(&argc, &argv, nullptr, help));
    Options options;
    PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-points", &options.points, nullptr));
    PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-repeats", &options.repeats, nullptr));
    PetscCall(PetscOptionsGetReal(nullptr, nullptr, "-rtol", &options.rtol, nullptr));
    PetscCall(PetscOptionsGetBool(nullptr, nullptr, "-json", &options.json, nullptr));
    PetscCall(PetscOptionsGetString(nullptr, nullptr, "-system", options.system, sizeof options.system, nullptr));
    PetscCall(run(options));
    PetscCall(PetscFinalize());
    return 0;
}
