// SPDX-License-Identifier: BSD-3-Clause
// The interface of a problem: residual and Jacobian of a PDE on a grid, with or without a time step.
#pragma once

#include <array>
#include <limits>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/interfaces/field.hpp"
#include "core/matrix/block_pattern.hpp"
#include "core/matrix/system_matrix.hpp"

namespace hyperplane {

struct RowMatching;  // core/graph/row_matching.hpp

/// How a problem depends on time, as chosen in its deck.
enum class Regime {
    steady,            ///< F(u) = 0, no time derivative
    transient,         ///< time steps that follow the solution in time
    pseudo_transient,  ///< time steps towards a steady state; accuracy in time does not matter
};

/// Shape of a problem's systems; known before anything is allocated.
struct SystemShape {
    Grid grid;
    Stencil stencil;
    int dof = 1;
    bool symmetric = false;                       ///< the Jacobian equals its transpose to the last bit
    bool constant_null_space = false;             ///< A 1 = 0; the mean of b and of every Krylov vector is removed
    bool separate_preconditioner_matrix = false;  ///< Pmat differs from Amat
    bool linear = true;                           ///< one Newton step solves the problem
    int planes_read = 0;  ///< along z on either side, by the residual, if more than the stencil has
    Regime regime = Regime::steady;
    std::vector<std::string> components = {};  ///< the names of the dof unknowns
    /// Of a general matrix, readable by the host; null for a structured one. A problem without a grid has
    /// Grid::of_rows.
    std::shared_ptr<const BlockPattern> pattern = nullptr;
    std::string unsymmetric_entry =
        {};  ///< of a matrix from a file: one that differs from its mirror image, for messages

    /// The order in which the block rows are solved; null for the given one.
    const RowOrder* order() const { return pattern ? pattern->order().get() : nullptr; }
    /// Of the pattern as it is solved with, and as it was given if that is another order; nothing for a structured
    /// matrix.
    std::optional<PatternStatistics> statistics() const {
        return pattern ? std::optional(pattern->statistics()) : std::nullopt;
    }
    std::optional<PatternStatistics> given_statistics() const {
        return order() ? std::optional(order()->before) : std::nullopt;
    }
    MatrixShape matrix() const {
        if (pattern) return {pattern, dof, symmetric};
        return {grid, stencil, dof, symmetric, planes_read};
    }
};

/// The time step that is being solved. A default-constructed one stands for a steady problem.
///
/// The time derivative u_t is approximated by rate[0] u + rate[1] old + rate[2] older. A problem with a time scheme of
/// its own uses dt, old and older instead.
struct TimeLevel {
    Index step = 0;     ///< number of the step, from 1
    double time = 0.0;  ///< the time at the end of the step
    double dt = std::numeric_limits<double>::infinity();
    std::array<double, 3> rate{0.0, 0.0, 0.0};
    bool pseudo = false;            ///< whether it is a step of Regime::pseudo_transient
    const Vector* old = nullptr;    ///< the state at the beginning of the step; null if steady
    const Vector* older = nullptr;  ///< the state one step before that; null if rate[2] = 0
};

/// A step of implicit Euler from `old`: rate = (1, -1, 0) / dt.
inline TimeLevel implicit_euler(Index step, double time, double dt, const Vector& old) {
    return {.step = step, .time = time, .dt = dt, .rate = {1.0 / dt, -1.0 / dt, 0.0}, .old = &old};
}

/// A step of BDF2 after a step of length dt_before, with w = dt / dt_before (Hairer, Norsett, Wanner, section III.5):
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

/// A scalar that is recorded at every step: energy, mass, ...
struct Diagnostic {
    std::string name;  ///< one word: the name of the dataset in the record
    double value;
    std::string description;  ///< a phrase with the formula
    std::string unit = "1";
};

/// A part of what a problem did before it had its first system, such as "reading" a file.
struct Preparation {
    std::string name;
    double seconds;
};
/// The timer in which its time is recorded.
inline constexpr const char* preparation_timers = "preparation/";
inline std::string timer_of(const Preparation& part) {
    return preparation_timers + part.name;
}

/// A value that physics forbids: a negative density, NaN, ...
struct BadState {
    Int3 point;
    std::string quantity;  ///< "density"
    double value;
};

/// The Courant number of the first pseudo-transient step, and the largest that later steps may reach.
struct CflRange {
    double first = 1.0, last = 1.0;
};

/// F(u) = 0, solved by Newton's method A du = -F(u), u += du. Linear problems take one step.
///
/// States lie in the memory of the context that the problem was constructed with, and all work is done on its backend.
/// Functions that return a number reduce there (core/vector/point_values.hpp), in memory that the problem allocates
/// when it is constructed.
class Problem {
public:
    explicit Problem(SystemShape shape) : shape_(std::move(shape)) {}
    virtual ~Problem() = default;

    const SystemShape& shape() const { return shape_; }
    virtual void initial_state(Vector& u) const = 0;
    /// Length of the time step from u, by the deck's time step or Courant number; infinity if steady.
    virtual double time_step(const Vector& /*u*/) const { return std::numeric_limits<double>::infinity(); }
    /// The Courant numbers of Regime::pseudo_transient; time_step returns the step of the first of them.
    virtual CflRange cfl_range() const { return {}; }
    /// f = F(u). u may be *level.old itself.
    virtual void residual(const Vector& u, const TimeLevel& level, Vector& f) const = 0;
    /// a = dF/du at u, in the form that `a` has; it may depend on level.old and level.older.
    virtual void jacobian(const Vector& u, const TimeLevel& level, SystemMatrix& a) const = 0;
    /// The matrix that the preconditioner is built from, if shape().separate_preconditioner_matrix.
    virtual void preconditioner_jacobian(const Vector& u, const TimeLevel& level, SystemMatrix& p) const {
        jacobian(u, level, p);
    }
    /// The shift that preconditioner.shift = auto means in this step.
    virtual double suggested_shift(const TimeLevel& /*level*/) const { return 0.0; }
    /// The largest s in (0, 1] for which u + s du is admissible.
    virtual double admissible_step(const Vector& /*u*/, const Vector& /*du*/) const { return 1.0; }
    /// The first value of u that physics forbids. The caller checks for values that are not finite.
    virtual std::optional<BadState> bad_state(const Vector& /*u*/) const { return std::nullopt; }
    /// Scalars to record at every step, with the names of diagnostic_names().
    virtual std::vector<Diagnostic> diagnostics(const Vector& /*u*/) const { return {}; }
    /// The names of the diagnostics, by which [expect] is checked before there is a state.
    virtual std::vector<std::string> diagnostic_names() const { return {}; }
    /// The Courant number of a step of length dt from u, as time.cfl means it; NaN if no velocity is known.
    virtual double courant_number(const Vector& /*u*/, double /*dt*/) const {
        return std::numeric_limits<double>::quiet_NaN();
    }
    /// What of a state is worth drawing: each unknown, or what the problem makes of them. The fields may refer to the
    /// problem and to data in the host's memory; the problem must outlive them.
    virtual std::vector<Field> fields() const {
        std::vector<Field> all;
        for (int c = 0; c < shape().dof; ++c) all.push_back(field_of_unknowns(shape().components.at(c), c));
        return all;
    }
    /// Norms of u minus the exact solution, empty if none is known; u lies in the host's memory.
    virtual std::vector<ErrorNorm> errors(const Vector& /*u*/, double /*time*/) const { return {}; }
    /// The names of these norms, by which [expect] is checked before there is a state.
    virtual std::vector<std::string> error_names() const { return {}; }
    /// The same problem with its block rows in another order, if its matrix is general and in the given order. Throws
    /// Error (internal) otherwise.
    virtual std::unique_ptr<Problem> in_order(const std::shared_ptr<const RowOrder>& /*order*/) const { not_general(); }
    /// Returns this problem with the block rows of one of several ranks alone, whose pattern is `part`, if a problem
    /// with a general matrix can be divided in this way; otherwise null. This one has all rows; `context` is the
    /// rank's.
    virtual std::unique_ptr<Problem> of_rank(const Context& /*context*/,
                                             const std::shared_ptr<const BlockPattern>& /*part*/) const {
        return nullptr;
    }
    /// What took time when the problem was constructed, if anything did.
    virtual std::vector<Preparation> preparation() const { return {}; }
    /// Warnings for the user, e.g. that the scheme oscillates with these parameters.
    virtual std::vector<std::string> warnings() const { return {}; }
    /// The rows of a general matrix in the given order that have the largest diagonal (core/graph/row_matching.hpp), if
    /// its values do not follow from a state; else null.
    virtual std::shared_ptr<const RowMatching> row_matching() const { return nullptr; }

protected:
    SystemShape shape_;  ///< as it is when the constructor ends

private:
    [[noreturn]] static void not_general() {
        throw Error(ExitCode::internal, "an order of rows was asked for where the matrix is not general");
    }
};

}  // namespace hyperplane
