// SPDX-License-Identifier: BSD-3-Clause
// hyperplane bench multigrid DECK...

#include <fmt/format.h>

#include <cstdio>

#include "apps/backend.hpp"
#include "apps/bench/heading.hpp"
#include "apps/bench/kernels.hpp"
#include "apps/bench/multigrid.hpp"
#include "apps/run/verdict.hpp"
#include "core/error.hpp"

namespace hyperplane {
namespace {

/// Prints a line for each grid and returns the deck's JSON; `rate` is that of a copy, in bytes a second.
nlohmann::json add_multigrid(const std::string& deck, const MultigridBench& bench, double rate, bool print) {
    nlohmann::json json{
        {"deck", deck}, {"apply", to_json(bench.apply)}, {"setup", to_json(bench.setup.again)}, {"bytes", bench.bytes}};
    if (print)
        fmt::print("{}: a cycle takes {:.3f} ms, a set-up {:.3f} ms; {:.2f} GiB\n", deck, bench.apply.median * 1e3,
                   bench.setup.again.median * 1e3, double(bench.bytes) / (1 << 30));
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
    if (invocation.has("device")) throw UsageError("bench multigrid: --device is for cases; give --backend for decks");
    if (invocation.arguments.size() < 2) throw UsageError("bench multigrid: name one or more decks");
    nlohmann::json json;
    const bool print = invocation.value("json") != "-";
    double rate = 0.0;
    for (std::size_t at = 1; at < invocation.arguments.size(); ++at) {
        const std::string& deck = invocation.arguments[at];
        const Case a_case = build_case(read_deck(deck), deck_overrides(invocation));
        if (json.empty()) {
            json = heading("multigrid", a_case.context);
            json["copy_rate"] = rate = copy_rate(a_case.context, repeats);
            if (print)
                fmt::print("{}; in brackets: times over those of the fewest bytes at a copy's rate, {:.1f} GB/s\n",
                           describe(a_case.context), rate * 1e-9);
        }
        json["decks"].push_back(add_multigrid(deck, bench_multigrid(a_case, repeats), rate, print));
        add_clocks(json, a_case.context);
    }
    if (invocation.has("json")) write_json(invocation.value("json"), json, invocation.overwrite());
    return int(ExitCode::ok);
}

}  // namespace hyperplane
