// SPDX-License-Identifier: BSD-3-Clause
// Kinds of `bench` that measure a deck after the other.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "apps/command_line.hpp"
#include "apps/run/case.hpp"

namespace hyperplane {

/// Whether a bench has several ranks where a deck asks for them, or leaves device.ranks out.
enum class RanksOfBench { taken, left_out };

/// Reads a deck; what bench leaves out of it is refused or said. Throws UsageError, FileError.
Deck read_bench_deck(const std::string& path, const Invocation& invocation,
                     RanksOfBench ranks = RanksOfBench::left_out);

/// A function that measures one deck of `bench KIND DECK...`, prints its lines if it is told to, and returns its JSON.
/// `rate` is that of a copy, in bytes a second.
using BenchDeck = std::function<nlohmann::json(const std::string& deck, const Case& a_case, double rate, bool print)>;

/// Calls `bench` for each deck that the command line names and writes the JSON where --json wants it. `title` makes the
/// line above the first deck from the machine's name and the rate of a copy in GB/s. Returns the exit status; throws
/// UsageError if no deck is named.
int bench_decks(const Invocation& invocation, const std::string& kind, int repeats,
                const std::function<std::string(const std::string& machine, double gigabytes)>& title,
                const BenchDeck& bench);

/// Refuses --device for a kind of bench that works on decks.
void refuse_device(const Invocation& invocation, const std::string& kind);

}  // namespace hyperplane
