// SPDX-License-Identifier: BSD-3-Clause
// The iterations that PETSc takes for a general matrix, for docs/results/general.md: GMRES without restarts,
// preconditioned from the right by ILU(k) in the order of the rows, b = A 1, x0 = 0, to ||b - A x|| <= 1e-8 ||b|| of
// the recurrence.
//
//   petsc_general -matrix FILE [-levels 0] [-block 1]
//
// FILE: a matrix in PETSc's binary format; blocks make it BAIJ. Prints a line of JSON: iterations, KSP's reason, and
// ||b - A x|| / ||b|| by the recurrence and of the solution.
#include <petscksp.h>

static const char help[] = "Counts the iterations of PETSc's GMRES with ILU(k) on a general matrix.\n";

static PetscErrorCode read_matrix(PetscInt block, Mat& a) {
    PetscFunctionBeginUser;
    char file[PETSC_MAX_PATH_LEN] = "";
    PetscViewer viewer;
    PetscCall(PetscOptionsGetString(nullptr, nullptr, "-matrix", file, sizeof file, nullptr));
    PetscCheck(file[0], PETSC_COMM_SELF, PETSC_ERR_USER_INPUT, "-matrix names no file");
    PetscCall(PetscViewerBinaryOpen(PETSC_COMM_SELF, file, FILE_MODE_READ, &viewer));
    PetscCall(MatCreate(PETSC_COMM_SELF, &a));
    PetscCall(MatSetType(a, block > 1 ? MATSEQBAIJ : MATSEQAIJ));
    PetscCall(MatSetBlockSize(a, block));
    PetscCall(MatLoad(a, viewer));
    PetscCall(PetscViewerDestroy(&viewer));
    PetscFunctionReturn(0);
}

static PetscErrorCode make_solver(Mat a, PetscInt levels, KSP& solver) {
    PetscFunctionBeginUser;
    PC ilu;
    PetscCall(KSPCreate(PETSC_COMM_SELF, &solver));
    PetscCall(KSPSetOperators(solver, a, a));
    PetscCall(KSPSetType(solver, KSPGMRES));
    PetscCall(KSPGMRESSetRestart(solver, 1000));
    PetscCall(KSPGMRESSetCGSRefinementType(solver, KSP_GMRES_CGS_REFINE_ALWAYS));
    PetscCall(KSPSetPCSide(solver, PC_RIGHT));
    PetscCall(KSPSetNormType(solver, KSP_NORM_UNPRECONDITIONED));
    PetscCall(KSPSetTolerances(solver, 1e-8, 0.0, PETSC_DEFAULT, 1000));
    PetscCall(KSPGetPC(solver, &ilu));
    PetscCall(PCSetType(ilu, PCILU));
    PetscCall(PCFactorSetLevels(ilu, levels));
    PetscCall(PCFactorSetMatOrderingType(ilu, MATORDERINGNATURAL));
    PetscCall(PCFactorSetShiftType(ilu, MAT_SHIFT_NONE));
    PetscFunctionReturn(0);
}

static PetscErrorCode run() {
    PetscFunctionBeginUser;
    PetscInt levels = 0, block = 1, iterations;
    PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-levels", &levels, nullptr));
    PetscCall(PetscOptionsGetInt(nullptr, nullptr, "-block", &block, nullptr));
    Mat a;
    Vec x, b;
    KSP solver;
    KSPConvergedReason reason;
    PetscReal recurrence, residual, scale;
    PetscCall(read_matrix(block, a));
    PetscCall(MatCreateVecs(a, &x, &b));
    PetscCall(VecSet(x, 1.0));
    PetscCall(MatMult(a, x, b));
    PetscCall(VecSet(x, 0.0));
    PetscCall(VecNorm(b, NORM_2, &scale));
    PetscCall(make_solver(a, levels, solver));
    PetscCall(KSPSolve(solver, b, x));
    PetscCall(KSPGetIterationNumber(solver, &iterations));
    PetscCall(KSPGetConvergedReason(solver, &reason));
    PetscCall(KSPGetResidualNorm(solver, &recurrence));
    PetscCall(VecScale(b, -1.0));
    PetscCall(MatMultAdd(a, x, b, b));
    PetscCall(VecNorm(b, NORM_2, &residual));
    PetscCall(PetscPrintf(PETSC_COMM_SELF,
                          "{\"iterations\": %d, \"reason\": %d, \"recurrence\": %.3e, \"true_residual\": %.3e}\n",
                          int(iterations), int(reason), double(recurrence / scale), double(residual / scale)));
    PetscCall(KSPDestroy(&solver));
    PetscCall(VecDestroy(&x));
    PetscCall(VecDestroy(&b));
    PetscCall(MatDestroy(&a));
    PetscFunctionReturn(0);
}

int main(int argc, char** argv) {
    PetscCall(PetscInitialize(&argc, &argv, nullptr, help));
    PetscCall(run());
    PetscCall(PetscFinalize());
    return 0;
}
