// SPDX-License-Identifier: BSD-3-Clause
// The matrix for which a bench makes preconditioners: a random one, or that of a deck.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "apps/bench/cases.hpp"
#include "apps/compare/candidates.hpp"
#include "core/interfaces/preconditioner.hpp"
#include "core/interfaces/problem.hpp"
#include "core/matrix/pattern_statistics.hpp"
#include "core/ranks/communicator.hpp"
#include "io/deck.hpp"

namespace hyperplane {

/// The pattern of a general matrix, with its rows in the order in which it is solved, and what came before the set-up.
struct GeneralMatrixFacts {
    PatternStatistics pattern;
    std::optional<PatternStatistics> given;  ///< before its rows were ordered, if they were
    int dof = 1;
    bool symmetric = false;                ///< the matrix, not its pattern alone
    std::vector<Preparation> preparation;  ///< reading and ordering
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

}  // namespace hyperplane
