// SPDX-License-Identifier: BSD-3-Clause
// LinearSolver: solves A x = b for a matrix that another program has assembled, with any solver and preconditioner of
// Hyperplane. Public: what is declared here stays compatible within a minor version (docs/library.md).
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "hyperplane/error.hpp"
#include "hyperplane/sparse_matrix.hpp"
#include "hyperplane/stencil_matrix.hpp"

namespace hyperplane {

/// How a system is solved, and where.
struct SolverSettings {
    /// Keys of the sections [solver] and [preconditioner] of a deck, with values as in a deck, e.g.
    /// {{"solver.name", "cg"}, {"solver.rtol", "1e-10"}, {"preconditioner.name", "struct_ilu"}}. docs/deck.md and
    /// `hyperplane help KEY` describe them; keys that are not given have their defaults, preconditioner.name that of
    /// the matrix: struct_ilu of a StencilMatrix, sync_free_ilu of a SparseMatrix. The section may be left out where
    /// only one has the key: {"rtol", "1e-10"}. scaling.name scales the preconditioner of a SparseMatrix, and
    /// {"ordering.rows", "matching"} exchanges its rows for a large diagonal; b, x and residuals stay the program's.
    std::map<std::string, std::string> keys{};
    /// OpenMP threads of this process, at most 4096; 0 leaves the number to OpenMP. Results do not depend on it.
    int threads = 0;
    /// Number of the GPU to use, as `hyperplane list devices` has it; empty: the CPU.
    std::optional<int> gpu{};
    /// Called once an iteration by the thread that solves; true ends the solve with the reason "interrupted".
    std::function<bool()> interrupted{};
};

/// What came of a solve.
struct SolveResult {
    /// Whether ||b - A x|| <= max(rtol ||b||, atol), in the 2-norm, for the residual computed from x.
    bool converged = false;
    /// Why the solve ended: one of the words that a record has as stop_reason, e.g. "max_iterations".
    std::string reason;
    /// The reason as a sentence, with what to try.
    std::string explanation;
    std::int64_t iterations = 0;
    double right_hand_side = 0.0;  ///< ||b||
    double residual = 0.0;         ///< ||b - A x||
    double seconds = 0.0;          ///< wall time of the iterations, without copies of b and x
    /// ||r|| / ||b|| after each iteration, r being the residual that the method updates; the first one is that of the
    /// initial guess.
    std::vector<double> history;
};

/// A matrix with its preconditioner. All errors are thrown as hyperplane::Error (hyperplane/error.hpp), with a message
/// that says what to do; a solve that does not converge is not an error but a result.
class LinearSolver {
public:
    /// Copies the matrix and sets up the preconditioner. Throws UsageError for wrong keys, combinations that cannot
    /// work, coefficients that lead outside the grid and matrices that are not as symmetric as their shape says;
    /// SetupError for pivots that cannot be used; DeviceError; OutOfMemory.
    explicit LinearSolver(const StencilMatrix& a, const SolverSettings& settings = {});
    /// Prepares a matrix without a grid in the same way. Its values are read where they are, on a CPU or on the GPU
    /// that solves: they must exist, unchanged, as long as this object or until the next update; from the host's memory
    /// to a GPU they are copied. Rows and columns are copied. Throws UsageError also if the arrays are not as
    /// SparseMatrix describes them. Whether the matrix is symmetric, as cg needs it, follows from its values, bit for
    /// bit. With ordering.rows = matching, the solver works with a copy of the values whose rows are exchanged, as the
    /// first values say, which it makes on a CPU; SetupError is thrown if there is no diagonal without zeros.
    explicit LinearSolver(const SparseMatrix& a, const SolverSettings& settings = {});
    ~LinearSolver();
    /// An object that has been moved from can be assigned to; all other functions throw UsageError.
    LinearSolver(LinearSolver&& other) noexcept;
    LinearSolver& operator=(LinearSolver&& other) noexcept;

    /// Takes new values of a matrix of the same shape and sets up the preconditioner again. After an exception the
    /// object can be updated again, but not solve.
    void update(const StencilMatrix& a);
    /// Takes new values of a matrix of the same pattern in the same way; they may lie in the same array or in another
    /// one. What follows from the pattern alone is not computed again.
    void update(const SparseMatrix& a);

    /// Solves A x = b, beginning with the given x. Both have an element for each row, point by point in natural order,
    /// and within a point unknown by unknown. Throws UsageError if they have another length.
    ///
    /// The vectors of a SparseMatrix may also lie in the memory of the GPU that solves; none of their values then
    /// passes through the host. Arrays there are read after all work that the process has given to this GPU, and
    /// results are complete on return, so the program's own streams need not be synchronised.
    [[nodiscard]] SolveResult solve(std::span<const double> b, std::span<double> x);

    /// z = M^-1 r, one application of the preconditioner. Throws UsageError if r or z has another length than b in
    /// solve().
    void precondition(std::span<const double> r, std::span<double> z);

    double setup_seconds() const;       ///< wall time of the last set-up of the preconditioner
    std::int64_t peak_memory() const;   ///< most bytes held at once, on a GPU of its memory, without copies there
    const std::string& solver() const;  ///< solver.name
    const std::string& preconditioner() const;  ///< preconditioner.name

private:
    struct State;
    /// Throws UsageError, which names the function, if the object has been moved from.
    State& state(const char* function) const;

    std::unique_ptr<State> state_;
};

/// Number of the GPU in whose memory an address lies; empty for the host's memory.
std::optional<int> gpu_of(const void* memory);

/// The version of the library, "0.2.0".
const char* version();

}  // namespace hyperplane
