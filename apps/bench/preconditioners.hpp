// SPDX-License-Identifier: BSD-3-Clause
// Times of set-up and application of preconditioners for one matrix: of all that are registered, or of those named.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/bench/cases.hpp"
#include "apps/bench/preconditioned_system.hpp"
#include "apps/bench/setup.hpp"
#include "core/device/rtc.hpp"
#include "core/interfaces/preconditioner.hpp"
#include "precond/registry.hpp"

namespace hyperplane {

struct PreconditionerResult {
    std::string name;     ///< the name that the user gave: "par_ilu:sweeps=3"
    std::string refused;  ///< why it could not be timed; empty if it was
    bool baseline = false;
    std::string layout;
    double first_setup = 0.0;  ///< seconds, with allocation of memory, and of tunings with compilation of kernels
    std::optional<Timing> whole_setup;     ///< of a general matrix: seconds of a set-up by a new preconditioner
    double symbolic = 0.0, numeric = 0.0;  ///< seconds of its parts, medians; 0: it tells no such part
    SetupTimes setup;
    SetupReport report;
    ApplicationCheck check;
    Timing apply;                 ///< seconds
    std::optional<Timing> lower;  ///< of the lower solve alone, where there is one
    double bytes = 0.0;           ///< fewest bytes that one application must move
    Index held = 0;               ///< bytes of memory besides the matrix
    SweepCounts sweeps;
    double setup_sweep = 0.0;  ///< seconds of one sweep of the set-up, if it consists of sweeps
};

struct PreconditionersResult {
    std::string system;
    Index unknowns = 0;
    int dof = 1;
    std::optional<GeneralMatrixFacts> general;  ///< none on a grid, and until a preconditioner has been made
    std::vector<PreconditionerResult> rows;

    /// Seconds of the fastest application by cuSPARSE; none if it was not timed.
    std::optional<double> best_baseline() const;
};

/// Returns the programs that NVRTC compiles for the candidates of each case, whose dof chooses them. Candidates that
/// cannot be set up for a case are left out. This needs no GPU; the list is empty if the program was built without
/// CUDA.
rtc::Programs programs_of_cases(const Context& context, const std::vector<BenchCase>& cases,
                                const std::function<std::vector<Candidate>(int dof)>& candidates);
/// Compiles these programs in parallel. It does nothing on a CPU.
void prepare_kernels(const Context& context, const std::vector<BenchCase>& cases,
                     const std::function<std::vector<Candidate>(int dof)>& candidates);

/// The tunings of a row whose names contain `words`; "all" stands for all tunings, "" for none.
std::vector<NamedTuning> chosen_tunings(const PreconditionerRow& row, const std::string& words);

/// Sets up each candidate, those of cuSPARSE first, applies it to a random vector, checks the result
/// (Preconditioner::check_application; throws Error(expectation)), and times both; then once more with each tuning of
/// its row whose name contains `tunings`. A candidate that fails becomes a row with its reason. `done` is called after
/// each row. On several ranks all must call it: they begin each call together and the slowest one's time counts, bytes
/// of an application are those of all ranks, and the result is compared with that of one rank, which on CPUs has the
/// same bits.
void bench_preconditioners(PreconditionedSystem& system, const std::vector<Candidate>& candidates,
                           const std::string& tunings, int repeats,
                           const std::function<void(const PreconditionersResult&)>& done);

}  // namespace hyperplane
