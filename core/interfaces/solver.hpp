// SPDX-License-Identifier: BSD-3-Clause
// The interface of a Krylov method.
#pragma once

#include <string>

#include "core/interfaces/history.hpp"
#include "core/interfaces/linear_operator.hpp"
#include "core/interfaces/preconditioner.hpp"
#include "core/interfaces/solver_state.hpp"
#include "core/interfaces/stop_reason.hpp"

namespace hyperplane {

/// When a solve ends. It has converged when ||b - A x|| <= max(rtol ||b||, atol), with the true residual.
struct StopCriteria {
    double rtol = 1e-8;
    double atol = 0.0;
    Index max_iterations = 2000;
    double divergence_tolerance = 1e5;  ///< it has diverged when ||r|| > divergence_tolerance max(||b||, ||r_0||)
    Index true_residual_every = 0;      ///< also compute b - A x every so many iterations; 0: only at the end
};

struct SolveReport {
    StopReason reason = StopReason::max_iterations;
    Index iterations = 0;
    double b_norm = 0.0;
    double recurrence_residual = 0.0;  ///< ||r|| for the residual that the recurrence updates
    double true_residual = 0.0;        ///< ||b - A x||
    int restarts_from_true = 0;        ///< restarts because the recurrence had drifted from the true residual
};

/// Why the solve ended, with what its norms tell about how to go on.
std::string explain(const SolveReport& report);

/// The work of one iteration, on average.
struct IterationCost {
    double products = 1.0, applies = 1.0;                  ///< products with A, applications of M
    double vectors = 8.0;                                  ///< vectors read or written in addition
    double dots_of_products = 0.0, dots_of_applies = 0.0;  ///< how many of them are LinearOperator::apply_dot
    bool residuals = false;                                ///< whether the products are true residuals
};

/// What a method needs of its operators.
struct SolverNeeds {
    const char* solver;      ///< the method's name in a deck, for messages
    bool fixed = false;      ///< M is the same operator in every iteration
    bool symmetric = false;  ///< A and M are symmetric
};

/// Solves A x = b, starting from the given x. Work vectors are allocated at first use and kept.
class Solver {
public:
    Solver(const SolverNeeds& needs, const StopCriteria& criteria) : needs_(needs), criteria_(criteria) {}
    virtual ~Solver() = default;
    /// Sets rtol for later solves; Newton's method changes it from step to step.
    void set_rtol(double rtol) { criteria_.rtol = rtol; }
    const StopCriteria& criteria() const { return criteria_; }
    /// With a Continuation, the solve saves its state when it is interrupted, or continues from a saved state.
    virtual SolveReport solve(const LinearOperator& a, const LinearOperator& m, const Vector& b, Vector& x,
                              History& history, const Continuation& continuation = {}) = 0;
    /// Number of vectors held in addition to b and x.
    virtual Index work_vectors() const = 0;
    /// The most scalars that a solve holds in addition.
    virtual Index work_scalars() const = 0;
    virtual IterationCost iteration_cost() const = 0;
    /// Iterations between restarts, if each of them costs at least one vector more than the one before; 0 if all
    /// iterations cost the same.
    virtual Index cycle() const { return 0; }
    /// IterationCost::vectors for one iteration, counted from 0.
    virtual double vectors_of(Index /*iteration*/) const { return iteration_cost().vectors; }
    /// Throws UsageError, with the reason, if the method cannot work with a preconditioner of these traits.
    virtual void check(const std::string& preconditioner, const PreconditionerTraits& traits) const;
    /// The same for the matrix of a problem; `symmetric` is SystemShape::symmetric.
    void check_operator(const std::string& problem, bool symmetric) const;

protected:
    SolverNeeds needs_;
    StopCriteria criteria_;
};

}  // namespace hyperplane
