// SPDX-License-Identifier: BSD-3-Clause
// What a PDE gives to the program: residual and Jacobian on a grid, with or without a time step.
#pragma once

#include <array>
#include <limits>
#include <optional>
#include <string>
#include <vector>

#include "core/matrix/struct_matrix.hpp"

namespace hyperplane {

/// How a problem depends on time, as its deck has it.
enum class Regime {
    steady,            ///< F(u) = 0, no time term
    transient,         ///< steps that follow the solution in time
    pseudo_transient,  ///< steps towards a steady state; how exact they are in time does not matter
};

/// Shape of a problem's systems; known before anything is allocated.
struct SystemShape {
    Grid grid;
    Stencil stencil;
    int dof = 1;
    bool symmetric = false;                       ///< the Jacobian equals its transpose to the last bit
    bool constant_null_space = false;             ///< A 1 = 0; b and every Krylov vector lose their mean
    bool separate_preconditioner_matrix = false;  ///< Pmat differs from Amat
    bool linear = true;                           ///< one Newton step solves it
    Regime regime = Regime::steady;
    std::vector<std::string> components = {};  ///< names of the unknowns, dof of them
};

/// The step being solved; as made here, none: a steady problem.
///
/// A time derivative u_t is taken as rate[0] u + rate[1] old + rate[2] older. A scheme that a problem brings itself
/// has dt, old and older to work with instead.
struct TimeLevel {
    Index step = 0;     ///< number of the step, from 1
    double time = 0.0;  ///< at the end of the step
    double dt = std::numeric_limits<double>::infinity();
    std::array<double, 3> rate{0.0, 0.0, 0.0};
    bool pseudo = false;            ///< a step of Regime::pseudo_transient
    const Vector* old = nullptr;    ///< the state at the beginning of the step; null when steady
    const Vector* older = nullptr;  ///< the state a step before that; null where rate[2] = 0
};

/// Implicit Euler from `old`: rate = (1, -1, 0) / dt.
inline TimeLevel implicit_euler(Index step, double time, double dt, const Vector& old) {
    return {.step = step, .time = time, .dt = dt, .rate = {1.0 / dt, -1.0 / dt, 0.0}, .old = &old};
}

/// BDF2 after a step of length dt_before, with w = dt / dt_before (Hairer, Norsett, Wanner, section III.5):
/// rate = ((1 + 2w) / (1 + w), -(1 + w), w^2 / (1 + w)) / dt.
inline TimeLevel bdf2(Index step, double time, double dt, double dt_before, const Vector& old, const Vector& older) {
    const double w = dt / dt_before;
    return {.step = step,
            .time = time,
            .dt = dt,
            .rate = {(1.0 + 2.0 * w) / (1.0 + w) / dt, -(1.0 + w) / dt, w * w / (1.0 + w) / dt},
            .old = &old,
            .older = &older};
}

/// A norm of the error against an exact solution.
struct ErrorNorm {
    std::string name;  ///< "max", "rms", ...
    double value;
};

/// A scalar worth a row of the record at every step: energy, mass, ...
struct Diagnostic {
    std::string name;  ///< a word: the record's dataset
    double value;
    std::string description;  ///< a phrase, with the formula
    std::string unit = "1";
};

/// A value that physics forbids: a negative density, NaN, ...
struct BadState {
    Int3 point;
    std::string quantity;  ///< "density"
    double value;
};

/// The Courant number that pseudo-transient steps begin with, and the one they may grow to.
struct CflRange {
    double first = 1.0, last = 1.0;
};

/// F(u) = 0, solved by Newton's method A du = -F(u), u += du. Linear problems take one step.
///
/// States lie on the backend of the context that the problem was made with, and so does all work. What returns a
/// number reduces there (core/vector/point_values.hpp); memory it needs is the problem's own, made with the problem.
class Problem {
public:
    virtual ~Problem() = default;

    virtual const SystemShape& shape() const = 0;
    virtual void initial_state(Vector& u) const = 0;
    /// Length of the step to take from u, by the deck's time step or Courant number; infinity when steady.
    virtual double time_step(const Vector& /*u*/) const { return std::numeric_limits<double>::infinity(); }
    /// In Regime::pseudo_transient; time_step is that of `first`.
    virtual CflRange cfl_range() const { return {}; }
    /// f = F(u). u may be *level.old itself.
    virtual void residual(const Vector& u, const TimeLevel& level, Vector& f) const = 0;
    /// a = dF/du at u, in a's layout and storage; may depend on level.old and level.older.
    virtual void jacobian(const Vector& u, const TimeLevel& level, StructMatrix& a) const = 0;
    /// The matrix the preconditioner is built from, where shape() says it is another one.
    virtual void preconditioner_jacobian(const Vector& u, const TimeLevel& level, StructMatrix& p) const {
        jacobian(u, level, p);
    }
    /// What preconditioner.shift = auto stands for in this step.
    virtual double suggested_shift(const TimeLevel& /*level*/) const { return 0.0; }
    /// The largest s in (0, 1] for which u + s du is admissible.
    virtual double admissible_step(const Vector& /*u*/, const Vector& /*du*/) const { return 1.0; }
    /// The first value of u that physics forbids. Values that are not finite need not be looked for.
    virtual std::optional<BadState> bad_state(const Vector& /*u*/) const { return std::nullopt; }
    /// The same names in the same order for every u.
    virtual std::vector<Diagnostic> diagnostics(const Vector& /*u*/) const { return {}; }
    /// Norms of u - exact where an exact solution is known, else nothing; u in the host's memory.
    virtual std::vector<ErrorNorm> errors(const Vector& /*u*/, double /*time*/) const { return {}; }
    /// Remarks worth a warning, e.g. a scheme that oscillates with these parameters.
    virtual std::vector<std::string> warnings() const { return {}; }
};

}  // namespace hyperplane
