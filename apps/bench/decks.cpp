// SPDX-License-Identifier: BSD-3-Clause
#include "apps/bench/decks.hpp"

#include <fmt/format.h>

#include "apps/backend.hpp"
#include "apps/bench/heading.hpp"
#include "apps/bench/kernels.hpp"
#include "apps/deck/named_deck.hpp"
#include "apps/run/build_case.hpp"
#include "core/error.hpp"

namespace hyperplane {

Deck read_bench_deck(const std::string& path, const Invocation& invocation, RanksOfBench ranks) {
    Deck deck = read_deck(path);
    leave_out_keys_of_runs(deck, deck_overrides(invocation), "bench", ranks == RanksOfBench::taken);
    return deck;
}

int bench_decks(const Invocation& invocation, const std::string& kind, int repeats,
                const std::function<std::string(const std::string& machine, double gigabytes)>& title,
                const BenchDeck& bench) {
    refuse_device(invocation, kind);
    if (invocation.arguments.size() < 2) throw UsageError(fmt::format("bench {}: name one or more decks", kind));
    nlohmann::json json;
    const bool print = invocation.value("json") != "-";
    double rate = 0.0;
    for (std::size_t at = 1; at < invocation.arguments.size(); ++at) {
        const std::string& deck = invocation.arguments[at];
        const Case a_case = build_case(read_bench_deck(deck, invocation), deck_overrides(invocation));
        if (json.empty()) {
            json = heading(kind, a_case.context);
            json["copy_rate"] = rate = copy_rate(a_case.context, repeats);
            if (print) fmt::print("{}", title(describe(a_case.context), rate * 1e-9));
        }
        json["decks"].push_back(bench(deck, a_case, rate, print));
        add_clocks(json, a_case.context);
    }
    write_bench_json(invocation, json);
    return int(ExitCode::ok);
}

void refuse_device(const Invocation& invocation, const std::string& kind) {
    if (invocation.has("device"))
        throw UsageError(fmt::format("bench {}: --device is for cases; give --backend for decks", kind));
}

}  // namespace hyperplane
