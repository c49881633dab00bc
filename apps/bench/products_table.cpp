// SPDX-License-Identifier: BSD-3-Clause
// hyperplane bench products DECK...

#include <fmt/format.h>

#include <cstdio>

#include "apps/bench/decks.hpp"
#include "apps/bench/products.hpp"
#include "apps/run/verdict.hpp"

namespace hyperplane {
namespace {

/// Prints a line for each way and returns the deck's JSON; `rate` is that of a copy, in bytes a second.
nlohmann::json add_products(const std::string& deck, const Case& a_case, const ProductsBench& bench, double rate,
                            bool print) {
    const int dof = a_case.shape().dof;
    const double each = double(bench.entries) / double(bench.rows * dof);
    nlohmann::json json{{"deck", deck},
                        {"format", a_case.shape().pattern ? "general" : "structured"},
                        {"rows", bench.rows},
                        {"dof", dof},
                        {"entries", bench.entries},
                        {"copy", to_json(bench.copy)}};
    if (print)
        fmt::print(
            "{}: {} rows of {} unknowns, {:.1f} entries a row; a copy of as many bytes as the product's takes {:.4f} "
            "ms\n",
            deck, bench.rows, dof, each, bench.copy.median * 1e3);
    for (const ProductTime& way : bench.ways) {
        if (!way.left_out.empty()) {
            json["left_out"].push_back({{"name", way.name}, {"why", way.left_out}});
            if (print) fmt::print("  {:<26} {}\n", way.name, way.left_out);
            continue;
        }
        const double seconds = way.seconds.median, over = seconds * rate / way.bytes;
        json["ways"].push_back({{"name", way.name},
                                {"seconds", to_json(way.seconds)},
                                {"bytes", way.bytes},
                                {"time_over_limit", over},
                                {"error", way.error}});
        if (print)
            fmt::print("  {:<26} {:>10.4f} {:>7.0f}% {:>10.4f} {:>9.1f} {:>11.2f} {:>9.1e}\n", way.name, seconds * 1e3,
                       way.seconds.spread() * 100, way.bytes * 1e-9, way.bytes / seconds * 1e-9, over, way.error);
    }
    std::fflush(stdout);
    return json;
}

}  // namespace

int bench_products(const Invocation& invocation, int repeats) {
    return bench_decks(
        invocation, "products", repeats, {.preconditioner = false, .solver = false, .vectors = 6, .copy = true},
        [](const std::string& machine, double gigabytes) {
            return fmt::format(
                "{}; a copy moves {:.1f} GB/s, read plus write: the limit\n  {:<26} {:>10} {:>8} {:>10} {:>9} {:>11} "
                "{:>9}\n",
                machine, gigabytes, "way", "ms", "spread", "GB", "GB/s", "time/limit", "error");
        },
        [&](const std::string& deck, const Case& a_case, double rate, bool print) {
            return add_products(deck, a_case, bench_product(a_case, repeats), rate, print);
        });
}

}  // namespace hyperplane
