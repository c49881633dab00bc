// SPDX-License-Identifier: BSD-3-Clause
// A preconditioner: what a Krylov method needs from it besides its application, and what its set-up reports.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "core/interfaces/linear_operator.hpp"
#include "core/vector/vector.hpp"

namespace hyperplane {

class SystemMatrix;
struct TimerRow;

/// Properties of a preconditioner that solvers may rely on.
struct PreconditionerTraits {
    bool fixed = true;  ///< every apply is the same linear operator; otherwise only fgmres and richardson accept it
    bool symmetric = false;        ///< M = M^T, needed by cg
    bool eisenstat = false;        ///< M has an Eisenstat form (LinearOperator::eisenstat)
    const char* varies = "";       ///< in a plan: what makes the bits differ from run to run, e.g. "mode = async"
    bool drops_couplings = false;  ///< in a plan: M leaves out what couples the ranks of a run, so it is not the M of
                                   ///< one rank
};

/// One pivot that a policy changed, or that could not be used.
struct PivotEvent {
    Int3 cell;
    int component;  ///< row inside the cell's block
    double value;   ///< the pivot as it was computed
};

/// The result of a set-up.
struct SetupReport {
    Index pivots_modified = 0;
    std::vector<PivotEvent> modified;  ///< the first of them, in natural order, at most max_events
    static constexpr std::size_t max_events = 16;
    double shift = 0.0;                 ///< the final alpha in A + alpha diag(A)
    double smallest_pivot_ratio = 1.0;  ///< min |pivot| / |diagonal of A|; a small one warns of instability
    Int3 smallest_pivot_cell;
    Index factor_bytes = 0;
    Index values_flushed = 0;  ///< values of the factors that became zero in reduced precision
    /// Seconds of the part that follows from the pattern, and of the part that needs the values; 0 if not told apart.
    double symbolic_seconds = 0.0, numeric_seconds = 0.0;
    /// The part of symbolic_seconds before the set-up, in which a plan found the pattern that the set-up took over.
    double planned_seconds = 0.0;
    std::string warning;  ///< which of its keys had no effect on this matrix, and why; else empty
};

/// Numbers of sweeps of a preconditioner; 0 where a part does not consist of sweeps.
struct SweepCounts {
    int apply = 0, setup = 0;        ///< in one apply, in one set-up
    Index bytes_of_setup_sweep = 0;  ///< the least that one sweep of a set-up must move
};

/// The result of checking an application z = M^-1 r.
struct ApplicationCheck {
    double error = 0.0;                             ///< of M z - r, or of z, relative to the largest value
    double bound = 0.0;                             ///< the error that rounding may cause
    std::string unchecked;                          ///< why nothing was compared; empty if it was
    bool passed() const { return error <= bound; }  // false for a NaN
};

/// The part of a set-up that must be repeated if the matrix gets new values.
struct NumericSetup {
    std::function<void()> run;
    std::function<void()> prepare = [] {};  ///< precedes each run; not timed
    double analysis = 0.0;                  ///< seconds that the rest of the set-up took
    Index work_bytes = 0;                   ///< bytes of a library's buffers
};

/// y = M^-1 x, where M approximates the matrix given to setup.
class Preconditioner : public LinearOperator {
public:
    /// Makes a preconditioner with the same factors in double precision, without setting it up.
    using MakeInDouble = std::function<std::unique_ptr<Preconditioner>()>;

    /// Builds M from `a`, which must exist until the next setup or the end of this object: M may keep references to
    /// coefficients of `a`, and these parts of M change if `a` is assembled anew without a setup. `a` need not be the
    /// operator of the system (PETSc: Amat and Pmat). Its kind is one that the preconditioner takes. Throws SetupError
    /// that names the cell if a pivot cannot be used.
    virtual SetupReport setup(const SystemMatrix& a) = 0;
    /// Says that the matrix of the last set-up was assembled anew, and that M is used for it without a set-up. What M
    /// holds as a copy on several ranks, and reads from `a` on one, is copied again. All ranks call it.
    virtual void follow_matrix() {}
    /// Sets the shift that preconditioner.shift = auto means from the next setup on; ignored if the deck gives a shift.
    virtual void suggest_shift(double /*alpha*/) {}
    virtual PreconditionerTraits traits() const = 0;
    /// Valid after a set-up.
    virtual SweepCounts sweeps() const { return {}; }
    /// The way that the last set-up has chosen for the triangular solves, if there are several: "sync_free", "levels",
    /// or on a CPU "natural_order", in which one thread has all rows; else empty.
    virtual std::string solve_way() const { return ""; }
    /// The parts of all applications since the last call, such as the grids of multigrid, in the order of the work;
    /// empty on a GPU, where the host does not wait for single parts, and where no part is timed.
    virtual std::vector<TimerRow> take_part_times();
    /// Sets the number of sweeps of later set-ups, if they consist of sweeps; for benchmarks.
    virtual void set_setup_sweeps(int /*count*/) {}

    // The rest is for benchmarks, after a set-up for `a`.

    /// Compares z = M^-1 r with the definition of M, by loops over points that share no code with apply
    /// (precond/checks/applications.hpp).
    virtual ApplicationCheck check_application(const SystemMatrix& a, const Vector& r, const Vector& z,
                                               const MakeInDouble& in_double) const;
    /// By default the whole set-up. M is valid again only after the next setup.
    virtual NumericSetup numeric_setup(const SystemMatrix& a);
    /// apply without conversions of vectors, if it has any; z may then keep other values.
    virtual void apply_unconverted(const Vector& r, Vector& z) const { apply(r, z); }
    /// The conversions of vectors alone that apply makes, if any; z has no meaning then.
    virtual void convert_vectors(const Vector& /*r*/, Vector& /*z*/) const {}
    /// Where an application is two triangular solves that are apart, does the first one, y = (I + W)^-1 r; elsewhere
    /// returns false and does nothing. Where apply converts vectors, y is not written, and r is what the last apply
    /// converted.
    virtual bool solve_lower(const Vector& /*r*/, Vector& /*y*/) const { return false; }
};

}  // namespace hyperplane
