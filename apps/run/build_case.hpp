// SPDX-License-Identifier: BSD-3-Clause
// Builds cases: constructs the components that a deck names and checks them against each other.
#pragma once

#include "apps/base/backend.hpp"
#include "apps/run/case.hpp"
#include "core/interfaces/input_files.hpp"

namespace hyperplane {

/// A deck, and what the command line sets in it.
struct AskedDeck {
    Deck deck;
    std::vector<std::string> overrides;
    bool may_go_on = false;  ///< the run may go on from an earlier part's state, so initial.file may be missing
};
/// Reads the deck named first on the command line. Throws UsageError if it is a study, FileError.
AskedDeck read_asked(const Invocation& invocation);
/// The keys of a deck with their values. Throws UsageError if a key or a value is wrong.
Parameters resolved(const AskedDeck& asked);
/// The number of ranks that run a deck, device.ranks.
int ranks_of(const Parameters& parameters);

/// Reads the deck named first on the command line and builds its components, leaving out what only runs have, for
/// `verb` (leave_out_keys_of_runs). Throws one UsageError that lists every contradiction, DeviceError, FileError.
Case read_case_without_run(const Invocation& invocation, const std::string& verb);
/// Builds the components of a deck. Throws as read_case_without_run does. With `ranks` the case of one of several
/// ranks; what does not work on them is among the contradictions.
Case build_case(Deck deck, const std::vector<std::string>& overrides,
                const std::shared_ptr<Communicator>& ranks = nullptr);
/// Builds the case of a deck whose keys have been resolved.
Case build_case(AskedDeck asked, Parameters parameters, const std::shared_ptr<Communicator>& ranks,
                WithoutGpu without = WithoutGpu::refuse);

/// The parts of a deck's cases that depend neither on the solver nor on the preconditioner.
struct Foundation {
    Context context;
    std::shared_ptr<const Problem> problem;  ///< as it was constructed
    InputFiles files = {};                   ///< read what the deck names
    bool whole = false;  ///< whether each rank has constructed the whole problem, whose general matrix it takes rows of
    /// The problem in the forms and orders that cases have asked for, by the keys that decide. Cases share them.
    std::shared_ptr<std::map<std::string, std::shared_ptr<const Problem>>> forms =
        std::make_shared<std::map<std::string, std::shared_ptr<const Problem>>>();
};
/// With `ranks` the foundation belongs to one of several ranks, and the grid is cut only where the preconditioners of
/// all `cases` allow a cut.
/// Throws UsageError, DeviceError, FileError.
Foundation build_foundation(const Deck& deck, const Parameters& parameters,
                            const std::shared_ptr<Communicator>& ranks = nullptr,
                            const std::vector<const Parameters*>& cases = {});
/// The foundation of a case, for others that differ from it in solver and preconditioner alone: they share the problem
/// in its form and order, on several ranks each rank its own rows.
Foundation foundation_of(const Case& a_case);
/// Makes the case of resolved parameters for a problem that has been constructed. Throws one UsageError that lists
/// every contradiction between problem, solver and preconditioner.
Case build_case(Deck deck, const std::vector<std::string>& overrides, Parameters parameters,
                const Foundation& foundation);

}  // namespace hyperplane
