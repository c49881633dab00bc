// SPDX-License-Identifier: BSD-3-Clause
// Kinds of `bench` that measure a deck after the other.
#pragma once

#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "apps/base/invocation.hpp"
#include "apps/run/case.hpp"

namespace hyperplane {

/// Whether a bench has several ranks where a deck asks for them, or leaves device.ranks out.
enum class RanksOfBench { taken, left_out };

/// Reads a deck; what bench leaves out of it is refused or said. Throws UsageError, FileError.
Deck read_bench_deck(const std::string& path, const Invocation& invocation,
                     RanksOfBench ranks = RanksOfBench::left_out);

/// The needs of a kind of bench: what it holds of a deck's case, besides the matrix and the problem's data.
struct BenchNeeds {
    bool preconditioner, solver;
    int vectors;
    bool copy = false;      ///< whether it copies, between two more vectors, as many bytes as a product moves
    bool at_least = false;  ///< whether the bench holds more than these, which is not predicted
};

/// The memory that this rank will hold.
MemoryPlan bench_plan(const Case& a_case, const BenchNeeds& needs);

/// "; it takes less with a smaller grid.cells" where there is a grid, otherwise empty.
std::string advise_on_grid(const SystemShape& shape);

/// Throws OutOfMemory, with a table, if there is no room for what `bench KIND` will hold of a case. All ranks must call
/// it, before anything is allocated.
void require_memory(const std::string& kind, const Case& a_case, const BenchNeeds& needs);

/// A function that measures one deck of `bench KIND DECK...`, prints its lines if it is told to, and returns its JSON.
/// `rate` is that of a copy, in bytes a second.
using BenchDeck = std::function<nlohmann::json(const std::string& deck, const Case& a_case, double rate, bool print)>;

/// Calls `bench` for each deck that the command line names, if the memory suffices for it, and writes the JSON where
/// --json wants it. `title` makes the line above the first deck from the machine's name and the rate of a copy in GB/s.
/// Returns the exit status; throws UsageError if no deck is named.
int bench_decks(const Invocation& invocation, const std::string& kind, int repeats, const BenchNeeds& needs,
                const std::function<std::string(const std::string& machine, double gigabytes)>& title,
                const BenchDeck& bench);

/// Refuses --device for a kind of bench that works on decks.
void refuse_device(const Invocation& invocation, const std::string& kind);

}  // namespace hyperplane
