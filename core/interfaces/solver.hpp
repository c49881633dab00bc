// SPDX-License-Identifier: BSD-3-Clause
// What every Krylov method offers.
#pragma once

#include <string>

#include "core/interfaces/history.hpp"
#include "core/interfaces/linear_operator.hpp"
#include "core/interfaces/solver_state.hpp"
#include "core/interfaces/stop_reason.hpp"

namespace hyperplane {

/// When a solve ends: ||b - A x|| <= max(rtol ||b||, atol), true residual.
struct StopCriteria {
    double rtol = 1e-8;
    double atol = 0.0;
    Index max_iterations = 2000;
    double divergence_tolerance = 1e5;  ///< diverged when ||r|| > this max(||b||, ||r_0||)
    Index true_residual_every = 0;      ///< also compute b - A x every so many iterations; 0: at the end
};

struct SolveReport {
    StopReason reason = StopReason::max_iterations;
    Index iterations = 0;
    double b_norm = 0.0;
    double recurrence_residual = 0.0;  ///< ||r|| as the recurrence knows it
    double true_residual = 0.0;        ///< ||b - A x||
    int restarts_from_true = 0;        ///< times the recurrence had drifted from the true residual
};

/// What an iteration does, on average.
struct IterationCost {
    double products = 1.0, applies = 1.0;                  ///< with A, of M
    double vectors = 8.0;                                  ///< read or written besides
    double dots_of_products = 0.0, dots_of_applies = 0.0;  ///< x^T y taken on the way (LinearOperator::apply_dot)
    bool residuals = false;                                ///< the products are true residuals
};

/// Solves A x = b from the x given. Work vectors are made on first use and kept.
class Solver {
public:
    explicit Solver(const StopCriteria& criteria) : criteria_(criteria) {}
    virtual ~Solver() = default;
    /// For the solves to come: Newton's method asks for more or less as it goes.
    void set_rtol(double rtol) { criteria_.rtol = rtol; }
    const StopCriteria& criteria() const { return criteria_; }
    /// With a Continuation the solve can leave its state behind when it is interrupted, or go on from one.
    virtual SolveReport solve(const LinearOperator& a, const LinearOperator& m, const Vector& b, Vector& x,
                              History& history, const Continuation& continuation = {}) = 0;
    /// Vectors held besides b and x.
    virtual Index work_vectors() const = 0;
    virtual IterationCost iteration_cost() const = 0;
    /// Iterations after which the method begins anew, each of them costing a vector or more than the one before; 0: all
    /// cost the same.
    virtual Index cycle() const { return 0; }
    /// IterationCost::vectors of one iteration, the first being 0.
    virtual double vectors_of(Index /*iteration*/) const { return iteration_cost().vectors; }
    /// Throws UsageError where the method cannot work with such a preconditioner, saying why.
    virtual void check(const std::string& preconditioner, const PreconditionerTraits& traits) const = 0;
    /// The same for the matrix of a problem; `symmetric` as SystemShape has it.
    virtual void check_operator(const std::string& /*problem*/, bool /*symmetric*/) const {}

protected:
    StopCriteria criteria_;
};

}  // namespace hyperplane
