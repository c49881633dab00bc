// SPDX-License-Identifier: BSD-3-Clause
// The deck and the overrides that a command line names.
#pragma once

#include <string>
#include <vector>

#include "apps/base/invocation.hpp"
#include "io/deck.hpp"

namespace hyperplane {

/// The keys "section.key" that a word without a section may mean: "rtol", "solver" or, from another program, "tol".
std::vector<std::string> keys_meant(const std::string& word);

/// Throws a UsageError that names the section if a word of --set has a key without one, or a section without a key.
void check_section(const std::string& text);

/// The overrides "section.key=value" of --set, --threads, --ranks and --backend. Throws UsageError where one of the
/// latter contradicts what --set says of its key.
std::vector<std::string> deck_overrides(const Invocation& invocation);

/// Reads a deck from its file. Throws FileError, and Error (checkpointed) if a signal to stop comes while the file is a
/// FIFO that has nothing to give yet.
Deck read_deck_or_stop(const std::string& path);

/// Reads a deck from its file, as read_deck_or_stop does, or from a record. A record gives the resolved deck of that
/// run, and the new run's record will be NAME_again.h5 unless --set says otherwise. Throws FileError.
Deck read_deck_or_record(const std::string& path);

/// For verbs that compute without a record of a run: refuses keys of [output] and [expect] among the overrides, and
/// device.ranks for verbs that compute on one rank, says in the log which of them a deck gives, and removes them from
/// it.
void leave_out_keys_of_runs(Deck& deck, const std::vector<std::string>& overrides, const std::string& verb,
                            bool takes_ranks = false);

/// The folder of the files that a deck names; empty for the working folder.
std::string folder_of(const Deck& deck);
std::string absolute_folder_of(const Deck& deck);

}  // namespace hyperplane
