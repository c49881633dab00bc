// SPDX-License-Identifier: BSD-3-Clause
// What a Krylov method needs to know of a matrix and of a preconditioner.
#pragma once

#include <string>
#include <vector>

#include "core/vector/vector.hpp"

namespace hyperplane {

class StructMatrix;

/// y = A x.
class LinearOperator {
public:
    virtual ~LinearOperator() = default;
    /// x and y are distinct, of the operator's layout and dof.
    virtual void apply(const Vector& x, Vector& y) const = 0;
    /// The same, and x^T y on the way, into the memory of the vectors: some operators need no further pass for it.
    virtual void apply_dot(const Vector& x, Vector& y, double* product) const;
    /// Vectors that apply_dot reads besides what apply moves.
    virtual int vectors_of_dot() const { return 2; }
    /// r = b - A x, the true residual that decides convergence.
    virtual void residual(const Vector& b, const Vector& x, Vector& r) const;
    /// Fewest bytes one apply must move: each input read once, each output written once.
    virtual Index bytes_per_apply() const = 0;
};

/// What solvers may rely on.
struct PreconditionerTraits {
    bool fixed = true;        ///< the same linear operator in every apply; otherwise only fgmres takes it
    bool symmetric = false;   ///< M = M^T, needed by cg
    const char* varies = "";  ///< in a plan: what may give other bits in another run, as "mode = async"
};

/// One pivot that a policy changed, or that could not be used.
struct PivotEvent {
    Int3 cell;
    int component;  ///< row inside the cell's block
    double value;   ///< the pivot met
};

/// What a set-up did.
struct SetupReport {
    Index pivots_modified = 0;
    std::vector<PivotEvent> modified;  ///< the first of them, in natural order, at most max_events
    static constexpr std::size_t max_events = 16;
    double shift = 0.0;                 ///< alpha that was finally used, A + alpha diag(A)
    double smallest_pivot_ratio = 1.0;  ///< min |pivot| / |diagonal of A|; small warns of trouble
    Int3 smallest_pivot_cell;
    Index factor_bytes = 0;
    Index values_flushed = 0;  ///< values of the factors that became zero in storage of fewer bits
};

/// What a preconditioner does in sweeps; 0: nothing.
struct SweepCounts {
    int apply = 0, setup = 0;        ///< sweeps of each
    Index bytes_of_setup_sweep = 0;  ///< fewest that one of a set-up must move
};

/// y = M^-1 x, M an approximation of the matrix given to setup.
class Preconditioner : public LinearOperator {
public:
    /// Builds M from `a`, which must outlive this object or the next setup: parts of M may be parts
    /// of `a`, and follow where `a` is assembled anew without a setup. `a` need not be the operator that is solved with
    /// (PETSc: Amat and Pmat). Throws SetupError naming the cell where a pivot cannot be used.
    virtual SetupReport setup(const StructMatrix& a) = 0;
    /// What preconditioner.shift = auto stands for from the next setup on; ignored where another is asked for.
    virtual void suggest_shift(double /*alpha*/) {}
    virtual PreconditionerTraits traits() const = 0;
    /// After a set-up.
    virtual SweepCounts sweeps() const { return {}; }
    /// Of set-ups from the next one on, where they are made of sweeps; for benchmarks.
    virtual void set_setup_sweeps(int /*count*/) {}
};

}  // namespace hyperplane
