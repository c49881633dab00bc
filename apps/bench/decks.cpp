// SPDX-License-Identifier: BSD-3-Clause
#include "apps/bench/decks.hpp"

#include <fmt/format.h>

#include "apps/base/backend.hpp"
#include "apps/bench/heading.hpp"
#include "apps/bench/kernels.hpp"
#include "apps/deck/named_deck.hpp"
#include "apps/run/advice.hpp"
#include "apps/run/build_case.hpp"
#include "apps/run/memory_demand.hpp"
#include "core/error.hpp"

namespace hyperplane {

Deck read_bench_deck(const std::string& path, const Invocation& invocation, RanksOfBench ranks) {
    Deck deck = read_deck(path);
    leave_out_keys_of_runs(deck, deck_overrides(invocation), "bench", ranks == RanksOfBench::taken);
    return deck;
}

MemoryPlan bench_plan(const Case& a_case, const BenchNeeds& needs) {
    const MemoryPlan of_run = a_case.memory_plan(Moments::after_construction);
    const std::string preconditioner = "preconditioner " + a_case.name("preconditioner");
    MemoryPlan plan;
    const auto take = [&](const std::string& label) {
        const auto at = of_run.by_label.find(label);
        if (at == of_run.by_label.end()) return Index(0);
        plan.by_label.insert(*at);
        return at->second;
    };
    for (const char* label : {"preconditioner matrix", "sums of components", "problem data", "exchange between ranks"})
        take(label);
    const Index matrix = take("matrix"), krylov = needs.solver ? take("Krylov vectors") + take("Krylov scalars") : 0,
                vector = a_case.space.slots_in_memory() * a_case.shape().dof * Index(sizeof(double));
    plan.by_label["vectors"] = needs.vectors * vector;
    if (needs.copy) plan.by_label["vectors of a copy"] = matrix + 2 * vector;
    if (!needs.preconditioner) {
        if (const auto& kept = a_case.plan.kept; kept && a_case.context.backend() == Backend::cpu)
            plan.by_label["plan of " + preconditioner] = kept->bytes();
        return plan;
    }
    take(preconditioner);
    plan.host = of_run.host;
    plan.host_use = of_run.host_use;
    // Set-ups take place before the solver has its vectors.
    if (const Index more = a_case.plan.setup_bytes - krylov; more > 0)
        plan.by_label["set-up of " + preconditioner] = more;
    return plan;
}

std::string advise_on_grid(const SystemShape& shape) {
    return shape.grid.plain_rows ? "" : "; it takes less with a smaller grid.cells";
}

void require_memory(const std::string& kind, const Case& a_case, const BenchNeeds& needs) {
    const std::string advice = needs.solver ? advise_on_memory(a_case) : advise_on_grid(a_case.shape());
    require_memory(a_case.context,
                   {a_case.deck.file, fmt::format("bench {} needs{}", kind, needs.at_least ? " at least" : ""),
                    bench_plan(a_case, needs), advice},
                   memory_of_case(a_case.context, a_case.parameters));
}

int bench_decks(const Invocation& invocation, const std::string& kind, int repeats, const BenchNeeds& needs,
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
        require_memory(kind, a_case, needs);
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
