// SPDX-License-Identifier: BSD-3-Clause
// bench solve DECK...: the table of whole solves (apps/bench/solve.hpp), on one rank or on several.
#pragma once

#include "apps/base/invocation.hpp"
#include "apps/run/launch.hpp"

namespace hyperplane {

/// Times the solves of the decks that the command line names, prints the table and writes the JSON that is asked for;
/// returns the exit status. Ranks are the `launched` processes, or as many threads as device.ranks or --ranks ask for;
/// times are those of the slowest rank, bytes and rates those of all, and a line says what each rank reaches.
int bench_solves(const Invocation& invocation, int repeats, const RankOrNone& launched);

}  // namespace hyperplane
