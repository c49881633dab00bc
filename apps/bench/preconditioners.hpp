// SPDX-License-Identifier: BSD-3-Clause
// Times of set-up and application of preconditioners for one matrix: of all that are registered, or of those named.
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
#include "core/interfaces/problem.hpp"
#include "core/matrix/pattern_statistics.hpp"
#include "core/matrix/struct_matrix.hpp"

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

/// The pattern of a general matrix, with its rows in the order in which it is solved, and what came before the set-up.
struct GeneralMatrixFacts {
    PatternStatistics pattern;
    std::optional<PatternStatistics> given;  ///< before its rows were ordered, if they were
    int dof = 1;
    bool symmetric = false;                ///< the matrix, not its pattern alone
    std::vector<Preparation> preparation;  ///< reading and ordering
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

/// A matrix for which preconditioners are made, in the index space that each of them prefers.
class PreconditionedSystem {
public:
    /// A preconditioner that has not been set up, the index space of its matrix, and whether it leaves out what couples
    /// the ranks of the run.
    struct Made {
        std::unique_ptr<Preconditioner> m;
        IndexSpace space;
        bool drops_couplings;
    };

    PreconditionedSystem(std::string name, const Context& context) : name_(std::move(name)), context_(context) {}
    virtual ~PreconditionedSystem() = default;
    const std::string& name() const { return name_; }
    const Context& context() const { return context_; }
    /// Throws OutOfMemory, with a table, if there is no room for the matrix and the vectors of a bench, of which
    /// nothing has been allocated yet. All ranks must call it.
    virtual void require_room() const {}
    /// Throws UsageError or DeviceError if the preconditioner does not support this matrix, and OutOfMemory if there is
    /// no room for both.
    virtual Made make(const Candidate& candidate, const Parameters& parameters) = 0;
    /// Another preconditioner, made as the last one was.
    virtual std::unique_ptr<Preconditioner> make_again() = 0;
    /// The matrix in an index space. The matrix returned before is released if it is in another one.
    virtual const SystemMatrix& matrix(const IndexSpace& space) = 0;
    virtual int dof() const = 0;
    /// Unknowns of all ranks.
    virtual Index unknowns() const = 0;
    /// Describes a general matrix, that of all ranks, after a preconditioner has been made. A matrix on a grid has
    /// none.
    virtual std::optional<GeneralMatrixFacts> general_facts() const { return {}; }
    /// This system on one rank, with which the results of several ranks are compared; null if it is on one already.
    virtual std::unique_ptr<PreconditionedSystem> on_one_rank() const { return nullptr; }
    /// The value of preconditioner.shift = auto.
    virtual double suggested_shift() const { return 0.0; }

private:
    std::string name_;
    Context context_;
};

/// The random matrix of a bench case.
std::unique_ptr<PreconditionedSystem> random_system(const Context& context, const BenchCase& setting);
/// The matrix of a deck's first linear system. `parameters` are those of the deck with its own components. With `rank`
/// that of one of several ranks, whose grid is cut where all `candidates` allow it.
std::unique_ptr<PreconditionedSystem> deck_system(const Deck& deck, const Parameters& parameters,
                                                  const std::shared_ptr<Communicator>& rank = nullptr,
                                                  const std::vector<Candidate>& candidates = {});

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
