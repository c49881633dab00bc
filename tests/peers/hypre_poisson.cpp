// SPDX-License-Identifier: BSD-3-Clause
// hypre on the program's own Poisson system, for docs/performance.md: conjugate gradients preconditioned by one V-cycle
// of PFMG, hypre's multigrid for structured grids, on one process or several.
//
//   [mpirun -n 2] hypre_poisson [-points 96] [-repeats 5] [-rtol 1e-8] [-relax 2] [-rap 1] [-skip 1]
//
// The system of petsc_poisson -system ones: points^3 interior nodes of the unit cube, 6 and -1, right-hand side 1.
// hypre keeps the diagonal and three of the six neighbours, as the matrix is symmetric. -relax, -rap and -skip are
// PFMG's RelaxType (1: Jacobi, 2: symmetric red-black Gauss-Seidel), RAPType (0: Galerkin, 1: coarse operators of 7
// points) and SkipRelax. Prints JSON: the repeat that took least, set-up included.
#include <HYPRE_struct_ls.h>
#include <mpi.h>

#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <vector>

namespace {

struct Options {
    int points = 96, repeats = 5, relax = 2, rap = 1, skip = 1;
    double rtol = 1e-8;
};

struct Solve {
    double setup, total;  // seconds, those of the slowest process
    int iterations;
};

/// The planes of the cube that are this process's, and what hypre holds on them.
struct System {
    int lower[3], upper[3];
    HYPRE_StructGrid grid;
    HYPRE_StructStencil stencil;
    HYPRE_StructMatrix a;
    HYPRE_StructVector b, x;
};

int processes() {
    int count;
    MPI_Comm_size(MPI_COMM_WORLD, &count);
    return count;
}

int rank() {
    int own;
    MPI_Comm_rank(MPI_COMM_WORLD, &own);
    return own;
}

HYPRE_StructVector vector_of(const System& s, double value) {
    HYPRE_StructVector v;
    HYPRE_StructVectorCreate(MPI_COMM_WORLD, s.grid, &v);
    HYPRE_StructVectorInitialize(v);
    HYPRE_StructVectorSetConstantValues(v, value);
    HYPRE_StructVectorAssemble(v);
    return v;
}

System assemble(const Options& options) {
    System s;
    const int n = options.points;
    for (int d = 0; d < 3; ++d) s.lower[d] = 0, s.upper[d] = n - 1;
    s.lower[2] = int(long(n) * rank() / processes());
    s.upper[2] = int(long(n) * (rank() + 1) / processes()) - 1;
    HYPRE_StructGridCreate(MPI_COMM_WORLD, 3, &s.grid);
    HYPRE_StructGridSetExtents(s.grid, s.lower, s.upper);
    HYPRE_StructGridAssemble(s.grid);
    int offsets[4][3] = {{0, 0, 0}, {-1, 0, 0}, {0, -1, 0}, {0, 0, -1}};
    HYPRE_StructStencilCreate(3, 4, &s.stencil);
    for (int e = 0; e < 4; ++e) HYPRE_StructStencilSetElement(s.stencil, e, offsets[e]);
    HYPRE_StructMatrixCreate(MPI_COMM_WORLD, s.grid, s.stencil, &s.a);
    HYPRE_StructMatrixSetSymmetric(s.a, 1);
    HYPRE_StructMatrixInitialize(s.a);
    std::vector<double> values;
    for (int k = s.lower[2]; k <= s.upper[2]; ++k)
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < n; ++i)
                for (const double value : {6.0, i > 0 ? -1.0 : 0.0, j > 0 ? -1.0 : 0.0, k > 0 ? -1.0 : 0.0})
                    values.push_back(value);
    int entries[4] = {0, 1, 2, 3};
    HYPRE_StructMatrixSetBoxValues(s.a, s.lower, s.upper, 4, entries, values.data());
    HYPRE_StructMatrixAssemble(s.a);
    s.b = vector_of(s, 1.0);
    s.x = vector_of(s, 0.0);
    return s;
}

/// From x = 0; the criterion is ||r|| / ||b||, as the program's is.
Solve solve(const Options& options, const System& s) {
    HYPRE_StructVectorSetConstantValues(s.x, 0.0);
    MPI_Barrier(MPI_COMM_WORLD);
    const double begin = MPI_Wtime();
    HYPRE_StructSolver cg, pfmg;
    HYPRE_StructPFMGCreate(MPI_COMM_WORLD, &pfmg);
    HYPRE_StructPFMGSetMaxIter(pfmg, 1);
    HYPRE_StructPFMGSetTol(pfmg, 0.0);
    HYPRE_StructPFMGSetZeroGuess(pfmg);
    HYPRE_StructPFMGSetRelaxType(pfmg, options.relax);
    HYPRE_StructPFMGSetRAPType(pfmg, options.rap);
    HYPRE_StructPFMGSetSkipRelax(pfmg, options.skip);
    HYPRE_StructPCGCreate(MPI_COMM_WORLD, &cg);
    HYPRE_StructPCGSetMaxIter(cg, 1000);
    HYPRE_StructPCGSetTol(cg, options.rtol);
    HYPRE_StructPCGSetTwoNorm(cg, 1);
    HYPRE_StructPCGSetPrecond(cg, HYPRE_StructPFMGSolve, HYPRE_StructPFMGSetup, pfmg);
    HYPRE_StructPCGSetup(cg, s.a, s.b, s.x);
    const double middle = MPI_Wtime();
    HYPRE_StructPCGSolve(cg, s.a, s.b, s.x);
    double seconds[2] = {middle - begin, MPI_Wtime() - begin};
    MPI_Allreduce(MPI_IN_PLACE, seconds, 2, MPI_DOUBLE, MPI_MAX, MPI_COMM_WORLD);
    Solve solve{seconds[0], seconds[1], 0};
    HYPRE_StructPCGGetNumIterations(cg, &solve.iterations);
    HYPRE_StructPCGDestroy(cg);
    HYPRE_StructPFMGDestroy(pfmg);
    return solve;
}

/// ||b - A x|| / ||b||, from the definition.
double true_residual(const Options& options, const System& s) {
    const int n = options.points, planes = s.upper[2] - s.lower[2] + 1;
    const std::size_t plane = std::size_t(n) * n;
    // The planes next to this process's are zero on the boundary, and else the neighbour's.
    std::vector<double> x((planes + 2) * plane, 0.0);
    HYPRE_StructVectorGetBoxValues(s.x, const_cast<int*>(s.lower), const_cast<int*>(s.upper), &x[plane]);
    const int before = rank() > 0 ? rank() - 1 : MPI_PROC_NULL;
    const int behind = rank() + 1 < processes() ? rank() + 1 : MPI_PROC_NULL;
    MPI_Sendrecv(&x[plane], int(plane), MPI_DOUBLE, before, 0, &x[(planes + 1) * plane], int(plane), MPI_DOUBLE, behind,
                 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    MPI_Sendrecv(&x[planes * plane], int(plane), MPI_DOUBLE, behind, 1, &x[0], int(plane), MPI_DOUBLE, before, 1,
                 MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    double squares = 0.0;
    for (int k = 1; k <= planes; ++k)
        for (int j = 0; j < n; ++j)
            for (int i = 0; i < n; ++i) {
                const double* const at = &x[k * plane + std::size_t(j) * n + i];
                const double sum = (i > 0 ? at[-1] : 0.0) + (i + 1 < n ? at[1] : 0.0) + (j > 0 ? at[-n] : 0.0) +
                                   (j + 1 < n ? at[n] : 0.0) + *(at - plane) + *(at + plane);
                const double r = 1.0 - (6.0 * *at - sum);
                squares += r * r;
            }
    MPI_Allreduce(MPI_IN_PLACE, &squares, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
    return std::sqrt(squares / (double(plane) * n));
}

Options read(int argc, char** argv) {
    Options options;
    for (int at = 1; at < argc; at += 2) {
        const char* const value = at + 1 < argc ? argv[at + 1] : "";
        if (!std::strcmp(argv[at], "-rtol")) {
            options.rtol = std::atof(value);
            continue;
        }
        int* const whole = !std::strcmp(argv[at], "-points")    ? &options.points
                           : !std::strcmp(argv[at], "-repeats") ? &options.repeats
                           : !std::strcmp(argv[at], "-relax")   ? &options.relax
                           : !std::strcmp(argv[at], "-rap")     ? &options.rap
                           : !std::strcmp(argv[at], "-skip")    ? &options.skip
                                                                : nullptr;
        if (!whole || !*value) {
            std::fprintf(stderr, "hypre_poisson: %s is no option with a value\n", argv[at]);
            MPI_Abort(MPI_COMM_WORLD, 2);
        }
        *whole = std::atoi(value);
    }
    return options;
}

}  // namespace

int main(int argc, char** argv) {
    MPI_Init(&argc, &argv);
    const Options options = read(argc, argv);
    const System s = assemble(options);
    Solve best{0.0, 1e300, 0};
    for (int repeat = 0; repeat < options.repeats; ++repeat)
        if (const Solve one = solve(options, s); one.total < best.total) best = one;
    const double residual = true_residual(options, s);
    if (rank() == 0)
        std::printf(
            "{\"hypre\": \"%s\", \"processes\": %d, \"points\": %d, \"cg_pfmg\": {\"rtol\": %.1e, "
            "\"iterations\": %d, \"setup_s\": %.4f, \"total_s\": %.4f, \"true_residual\": %.3e}}\n",
            HYPRE_RELEASE_VERSION, processes(), options.points, options.rtol, best.iterations, best.setup, best.total,
            residual);
    HYPRE_StructVectorDestroy(s.b);
    HYPRE_StructVectorDestroy(s.x);
    HYPRE_StructMatrixDestroy(s.a);
    HYPRE_StructStencilDestroy(s.stencil);
    HYPRE_StructGridDestroy(s.grid);
    MPI_Finalize();
    return 0;
}
