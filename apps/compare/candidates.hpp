// SPDX-License-Identifier: BSD-3-Clause
// The candidates of a comparison: pairs of a solver and a preconditioner, each with parameters of its own.
//
//   "struct_ilu,struct_ilu:fill_level=1,par_ilu:sweeps=10"      name[:key=value]..., separated by commas
//
// A candidate takes every key of the deck and of --set that its components have; keys of other components are left out,
// so one deck serves all candidates. Keys that have no meaning for a candidate are left out, too: lower_sweeps, written
// for jacobi_sweeps, if solves are exact, or mode = block_async if the modes are sync and async. The candidate's own
// text overrides both.
#pragma once

#include <string>
#include <vector>

#include "io/deck.hpp"

namespace hyperplane {

/// One component as the user named it.
struct Choice {
    std::string name;                   ///< the name in the registry, not an alias
    std::string text;                   ///< name and parameters as given: "struct_ilu:fill_level=1"
    std::vector<DeckEntry> parameters;  ///< the parameters given here
    bool after_failure = false;         ///< tried where a set-up of `name` alone has failed for a symmetric matrix
    bool last_resort = false;           ///< tried where none of the candidates before it has converged
};

struct Candidate {
    std::string name;  ///< "cg+struct_ilu:fill_level=1"
    Choice solver, preconditioner;
    Parameters parameters;               ///< resolved
    std::vector<std::string> overrides;  ///< "section.key=value": those of --set that apply, and its own
};

/// The lists that the user gave. If one is empty, that component is the deck's.
struct CandidateLists {
    std::string solvers, preconditioners;
    bool all = false;       ///< an empty list stands for all registered components instead
    bool variants = false;  ///< and for the variants, their own and of solvers, that rows of preconditioners name
};

struct Candidates {
    std::vector<Candidate> list;  ///< sorted by preconditioner
    Parameters deck;              ///< the deck resolved with its own components
    std::size_t own = 0;          ///< number of the candidate that is the deck's own pair; list.size() if none is
};

/// Resolves the deck for every pair. Throws one UsageError with all errors: unknown components and parameters, wrong
/// values, parameters that belong to the stop criterion, a candidate named twice, an override that applies to no
/// candidate.
Candidates read_candidates(const Deck& deck, const std::vector<std::string>& overrides, const CandidateLists& lists);

}  // namespace hyperplane
