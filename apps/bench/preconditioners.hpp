// SPDX-License-Identifier: BSD-3-Clause
// Times of preconditioners alone, set-up and application, on one matrix: all that are registered, or those named.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/bench/cases.hpp"
#include "apps/bench/setup.hpp"
#include "apps/compare/candidates.hpp"
#include "apps/run/case.hpp"
#include "apps/run/linear_system.hpp"

namespace hyperplane {

struct PreconditionerResult {
    std::string name;     ///< as the user named it: "par_ilu:sweeps=3"
    std::string refused;  ///< why it could not be timed; empty: it was
    bool baseline = false;
    std::string layout;
    double first_setup = 0.0;  ///< seconds, compilation of kernels and allocation of memory included
    SetupTimes setup;
    SetupReport report;
    ApplicationCheck check;
    Timing apply;        ///< seconds
    double bytes = 0.0;  ///< fewest that one application must move
    Index held = 0;      ///< bytes of memory besides the matrix
    SweepCounts sweeps;
    double setup_sweep = 0.0;  ///< seconds of one sweep of the set-up, where it is made of sweeps
};

struct PreconditionersResult {
    std::string system;
    Index unknowns = 0;
    int dof = 1;
    std::vector<PreconditionerResult> rows;

    /// Seconds of the fastest application by cuSPARSE; none where it was not timed.
    std::optional<double> best_baseline() const;
};

/// A matrix that preconditioners are made for, in the layout that each of them wants.
class PreconditionedSystem {
public:
    /// A preconditioner that is not set up yet, and its matrix's layout.
    struct Made {
        std::unique_ptr<Preconditioner> m;
        Layout layout;
    };

    PreconditionedSystem(std::string name, const Context& context) : name_(std::move(name)), context_(context) {}
    virtual ~PreconditionedSystem() = default;
    const std::string& name() const { return name_; }
    const Context& context() const { return context_; }
    /// Throws UsageError, DeviceError where the preconditioner does not take such a matrix.
    virtual Made make(const Candidate& candidate, const Parameters& parameters) = 0;
    /// Of what was made last; the matrix before it is given up.
    virtual const StructMatrix& matrix(const Layout& layout) = 0;
    /// What preconditioner.shift = auto stands for.
    virtual double suggested_shift() const { return 0.0; }

private:
    std::string name_;
    Context context_;
};

/// A bench case's random matrix.
std::unique_ptr<PreconditionedSystem> random_system(const Context& context, const BenchCase& setting);
/// The matrix of a deck's first linear system. `parameters`: the deck's, with its own components.
std::unique_ptr<PreconditionedSystem> deck_system(const Deck& deck, const Parameters& parameters);

/// The tunings of a row whose names contain `words`; "all" stands for every one, "" for none.
std::vector<NamedTuning> chosen_tunings(const PreconditionerRow& row, const std::string& words);

/// Sets each candidate up, applies it to a random vector, which must give what its factors say
/// (Preconditioner::check_application, else Error, expectation), and times both, cuSPARSE's first; then with each of
/// those tunings of its row whose names contain `tunings`. A candidate that fails is a row with its reason. `done` is
/// called after each row, the last one.
void bench_preconditioners(PreconditionedSystem& system, const std::vector<Candidate>& candidates,
                           const std::string& tunings, int repeats,
                           const std::function<void(const PreconditionersResult&)>& done);

}  // namespace hyperplane
