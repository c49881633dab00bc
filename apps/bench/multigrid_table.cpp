// SPDX-License-Identifier: BSD-3-Clause
// hyperplane bench multigrid DECK...

#include <fmt/format.h>

#include <cstdio>

#include "apps/bench/decks.hpp"
#include "apps/bench/multigrid.hpp"
#include "apps/run/verdict.hpp"
#include "core/counted.hpp"

namespace hyperplane {
namespace {

/// Prints a line for each grid and returns the deck's JSON; `rate` is that of a copy, in bytes a second.
nlohmann::json add_multigrid(const std::string& deck, const MultigridBench& bench, double rate, bool print) {
    nlohmann::json json{
        {"deck", deck}, {"apply", to_json(bench.apply)}, {"setup", to_json(bench.setup.again)}, {"bytes", bench.bytes}};
    if (print)
        fmt::print("{}: a cycle takes {:.3f} ms, a set-up {:.3f} ms; it holds {}\n", deck, bench.apply.median * 1e3,
                   bench.setup.again.median * 1e3, in_mib(bench.bytes));
    for (const GridTimes& grid : bench.grids) {
        const std::string extents = fmt::format("{} x {} x {}", grid.grid.nx, grid.grid.ny, grid.grid.nz);
        nlohmann::json row{{"grid", extents}, {"stencil", grid.stencil}};
        if (print) fmt::print("  {:<18} {:<10}", extents, grid.stencil);
        for (const auto& [name, parts] : {std::pair{"cycle", &grid.cycle}, {"setup", &grid.setup}})
            for (const GridPart& part : *parts) {
                row[name].push_back({{"name", part.name},
                                     {"seconds", part.seconds},
                                     {"bytes", part.bytes},
                                     {"time_over_limit", part.seconds * rate / part.bytes}});
                if (print)
                    fmt::print("  {} {:.4f} ms ({:.1f})", part.name, part.seconds * 1e3,
                               part.seconds * rate / part.bytes);
            }
        if (print) fmt::print("\n");
        json["grids"].push_back(row);
    }
    std::fflush(stdout);
    return json;
}

}  // namespace

int bench_multigrids(const Invocation& invocation, int repeats) {
    return bench_decks(
        invocation, "multigrid", repeats, {.preconditioner = true, .solver = false, .vectors = 5, .at_least = true},
        [](const std::string& machine, double gigabytes) {
            return fmt::format("{}; in brackets: times over those of the fewest bytes at a copy's rate, {:.1f} GB/s\n",
                               machine, gigabytes);
        },
        [&](const std::string& deck, const Case& a_case, double rate, bool print) {
            return add_multigrid(deck, bench_multigrid(a_case, repeats), rate, print);
        });
}

}  // namespace hyperplane
