// SPDX-License-Identifier: BSD-3-Clause
// What a comparison compares: pairs of a solver and a preconditioner, each with parameters of its own.
//
//   "struct_ilu,struct_ilu:fill_level=1,par_ilu:sweeps=10"      name[:key=value]..., separated by commas
//
// A candidate takes every key of the deck and of --set that its components have; keys of other components
// are left out, so one deck serves them all. So are keys that mean nothing here: jacobi_sweeps' lower_sweeps where
// solves are exact, or its mode = block_async where a mode is sync or async. What its own text says comes last.
#pragma once

#include <string>
#include <vector>

#include "io/deck.hpp"

namespace hyperplane {

/// One component as the user named it.
struct Choice {
    std::string name;                   ///< of the registry's row, aliases replaced
    std::string text;                   ///< name, and the parameters given here: "struct_ilu:fill_level=1"
    std::vector<DeckEntry> parameters;  ///< of its section
};

struct Candidate {
    std::string name;  ///< "cg+struct_ilu:fill_level=1"
    Choice solver, preconditioner;
    Parameters parameters;               ///< resolved
    std::vector<std::string> overrides;  ///< "section.key=value", those of --set that apply and its own
};

/// What the user asked to compare; an empty list leaves that component to the deck.
struct CandidateLists {
    std::string solvers, preconditioners;
    bool all = false;  ///< every registered solver or preconditioner in place of an empty list
};

struct Candidates {
    std::vector<Candidate> list;  ///< solvers of a preconditioner stand together
    Parameters deck;              ///< resolved with the deck's own components
    std::size_t own = 0;          ///< the candidate that is the deck's own pair; list.size(): there is none
};

/// Resolves the deck for every pair. Throws one UsageError with all errors: unknown components and
/// parameters, bad values, parameters that belong to the criterion, a candidate named twice, an override that
/// applies to none.
Candidates read_candidates(const Deck& deck, const std::vector<std::string>& overrides, const CandidateLists& lists);

}  // namespace hyperplane
