// SPDX-License-Identifier: BSD-3-Clause
#include "apps/bench/sweeps.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <nlohmann/json.hpp>

#include "apps/base/backend.hpp"
#include "apps/bench/decks.hpp"
#include "apps/bench/heading.hpp"
#include "apps/deck/named_deck.hpp"
#include "apps/run/build_case.hpp"
#include "apps/run/linear_system.hpp"
#include "core/error.hpp"
#include "precond/factors/ldu.hpp"
#include "precond/factors/unit_triangles.hpp"
#include "precond/triangular/jacobi/solve.hpp"

namespace hyperplane {
namespace {

bool may_sweep(const Case& a_case) {
    return a_case.parameters.has("preconditioner", "triangular_solve");
}

SweepOptions options_of(const Case& a_case) {
    if (a_case.name("preconditioner") == "jacobi_sweeps") return jacobi_options(a_case.parameters, "mode");
    if (may_sweep(a_case) && sweeps_triangles(a_case.parameters)) return triangular_solve_options(a_case.parameters);
    return {};
}

UnitTriangles triangles_of(const Case& a_case) {
    const Preconditioner* const m = a_case.preconditioner.get();
    if (const auto* const on_grid = dynamic_cast<const HasUnitTriangles*>(m)) return on_grid->unit_triangles();
    if (const auto* const has = dynamic_cast<const HasLduFactors*>(m); has && has->has_ldu()) {
        LduFactors ldu = has->ldu();
        return {std::move(ldu.lower), std::move(ldu.upper)};
    }
    const std::string& name = a_case.name("preconditioner");
    throw UsageError(fmt::format(
        "bench sweeps: preconditioner.name = {} {}", name,
        may_sweep(a_case) ? "keeps its factors in an order of its own; set preconditioner.triangular_solve = jacobi"
                          : "has no triangular factors that can be read; set preconditioner.name = jacobi_sweeps, or "
                            "another one with the key triangular_solve"));
}

std::string text_of(const SweepOptions& options) {
    if (options.mode == SweepMode::sync) return "synchronous";
    return fmt::format("block-asynchronous ({})", options.order == BlockOrder::forward    ? "forward"
                                                  : options.order == BlockOrder::backward ? "backward"
                                                  : options.order == BlockOrder::natural  ? "natural"
                                                                                          : "dependency");
}

/// The rows' order of a general matrix.
std::string order_of(const Case& a_case) {
    const RowOrder* const order = a_case.shape().order();
    return order ? order->name : "natural";
}

nlohmann::json to_json(const SweepConvergence& found) {
    return {{"levels", found.levels}, {"residual", found.residual}, {"error", found.error}};
}

void print_table(const std::string& deck, const Case& a_case, const SweepsBench& bench) {
    fmt::print("{}: {}, {} order, {} sweeps from x = 0 with b of ones\n", deck, a_case.name("preconditioner"),
               order_of(a_case), text_of(bench.options));
    fmt::print("{:>19} {:>25}\n{:>6} {:>12} {:>12} {:>12} {:>12}\n", "lower:", "upper:", "sweeps", "residual", "error",
               "residual", "error");
    const std::size_t count = std::max(bench.lower.residual.size(), bench.upper.residual.size());
    for (std::size_t at = 0; at < count; ++at) {
        std::string line = fmt::format("{:>6}", at);
        for (const SweepConvergence* found : {&bench.lower, &bench.upper})
            line += at < found->residual.size()
                        ? fmt::format(" {:>12.3e} {:>12.3e}", found->residual[at], found->error[at])
                        : fmt::format(" {:>12} {:>12}", "", "");
        fmt::print("{}\n", line.substr(0, line.find_last_not_of(' ') + 1));
    }
    fmt::print("levels: {} and {}; with as many synchronous sweeps a solve is exact\n", bench.lower.levels,
               bench.upper.levels);
    std::fflush(stdout);
}

}  // namespace

SweepsBench bench_sweeps(const Case& a_case, int most) {
    LinearSystem system = make_system(a_case);
    {
        Vector u = a_case.make_vector("state: u");
        assemble_first(a_case, u, system);
    }
    set_up(*a_case.preconditioner, system);
    const UnitTriangles triangles = triangles_of(a_case);
    SweepsBench bench;
    bench.options = options_of(a_case);
    const auto record = [&](const CsrMatrix& triangle, Side side) {
        return sweep_convergence(a_case.context, triangle, a_case.shape().dof, side, bench.options, most);
    };
    bench.lower = record(triangles.lower, Side::lower);
    bench.upper = record(triangles.upper, Side::upper);
    return bench;
}

int bench_all_sweeps(const Invocation& invocation) {
    refuse_device(invocation, "sweeps");
    if (invocation.arguments.size() < 2) throw UsageError("bench sweeps: name one or more decks");
    const int most = parse_count("sweeps", invocation.value("sweeps", "20"), 1);
    const bool print = invocation.value("json") != "-";
    nlohmann::json json;
    for (std::size_t at = 1; at < invocation.arguments.size(); ++at) {
        const std::string& deck = invocation.arguments[at];
        const Case a_case = build_case(read_bench_deck(deck, invocation), deck_overrides(invocation));
        require_memory("sweeps", a_case, {.preconditioner = true, .solver = false, .vectors = 1, .at_least = true});
        const SweepsBench bench = bench_sweeps(a_case, most);
        if (json.empty()) {
            json = heading("sweeps", a_case.context);
            if (print) fmt::print("{}\n", describe(a_case.context));
        }
        if (print) print_table(deck, a_case, bench);
        json["decks"].push_back({{"deck", deck},
                                 {"preconditioner", a_case.name("preconditioner")},
                                 {"order", order_of(a_case)},
                                 {"sweeps", text_of(bench.options)},
                                 {"lower", to_json(bench.lower)},
                                 {"upper", to_json(bench.upper)}});
    }
    write_bench_json(invocation, json);
    return int(ExitCode::ok);
}

}  // namespace hyperplane
