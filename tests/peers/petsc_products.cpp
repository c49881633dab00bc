// SPDX-License-Identifier: BSD-3-Clause
// PETSc's products y = A x of a general matrix, on one process or several, for compare_products.py.
//
//     [mpirun -n 2] petsc_products FILE TYPE BLOCK
//
// FILE is a PETSc binary file, TYPE aij or baij, BLOCK the block size; x and what is printed are those of products.cpp.
// A time is that of the slowest process.
#include <petscmat.h>
#include <unistd.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <limits>
#include <string>

/// The number that the first process reads. The others sleep until it is known, since they would take the time of what
/// is measured in turns with them.
static PetscErrorCode next(int& products) {
    PetscFunctionBeginUser;
    int rank = 0, done = 0;
    PetscCallMPI(MPI_Comm_rank(PETSC_COMM_WORLD, &rank));
    products = 0;
    if (rank == 0 && std::scanf("%d", &products) != 1) products = 0;
    MPI_Request request;
    PetscCallMPI(MPI_Ibcast(&products, 1, MPI_INT, 0, PETSC_COMM_WORLD, &request));
    while (!done) {
        PetscCallMPI(MPI_Test(&request, &done, MPI_STATUS_IGNORE));
        if (!done) usleep(1000);
    }
    PetscFunctionReturn(0);
}

static PetscErrorCode answer(char** words) {
    PetscFunctionBeginUser;
    const bool blocks = std::string(words[2]) == "baij";
    PetscViewer file;
    PetscCall(PetscViewerBinaryOpen(PETSC_COMM_WORLD, words[1], FILE_MODE_READ, &file));
    Mat a;
    PetscCall(MatCreate(PETSC_COMM_WORLD, &a));
    PetscCall(MatSetType(a, blocks ? MATBAIJ : MATAIJ));
    PetscCall(MatSetBlockSize(a, std::atoi(words[3])));
    PetscCall(MatLoad(a, file));
    PetscCall(PetscViewerDestroy(&file));
    Vec x, y;
    PetscCall(MatCreateVecs(a, &x, &y));
    PetscInt first, last, rows;
    PetscCall(VecGetOwnershipRange(x, &first, &last));
    for (PetscInt i = first; i < last; ++i) PetscCall(VecSetValue(x, i, 1.0 + double(i % 7) / 8.0, INSERT_VALUES));
    PetscCall(VecAssemblyBegin(x));
    PetscCall(VecAssemblyEnd(x));
    PetscCall(MatMult(a, x, y));
    PetscReal norm;
    PetscCall(VecNorm(y, NORM_2, &norm));
    PetscCall(MatGetSize(a, &rows, nullptr));
    MatInfo info;
    PetscCall(MatGetInfo(a, MAT_GLOBAL_SUM, &info));
    PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%lld %.0f %.17g\n", (long long)rows, info.nz_used, norm));
    std::fflush(stdout);
    for (int products = 0;;) {
        PetscCall(next(products));
        if (products == 0) break;
        double least = std::numeric_limits<double>::infinity();
        for (int at = 0; at < products; ++at) {
            PetscCallMPI(MPI_Barrier(PETSC_COMM_WORLD));
            double seconds = -MPI_Wtime();
            PetscCall(MatMult(a, x, y));
            seconds += MPI_Wtime();
            PetscCallMPI(MPI_Allreduce(MPI_IN_PLACE, &seconds, 1, MPI_DOUBLE, MPI_MAX, PETSC_COMM_WORLD));
            least = std::min(least, seconds);
        }
        PetscCall(PetscPrintf(PETSC_COMM_WORLD, "%.9g\n", least));
        std::fflush(stdout);
    }
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&y));
    PetscCall(MatDestroy(&a));
    PetscFunctionReturn(0);
}

int main(int count, char** words) {
    if (count != 4) {
        std::fprintf(stderr, "usage: petsc_products FILE aij|baij BLOCK\n");
        return 2;
    }
    PetscCall(PetscInitialize(&count, &words, nullptr, "Times PETSc's products.\n"));
    PetscCall(answer(words));
    PetscCall(PetscFinalize());
    return 0;
}
