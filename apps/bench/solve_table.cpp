// SPDX-License-Identifier: BSD-3-Clause
#include "apps/bench/solve_table.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <cstdio>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>
#include <numeric>
#include <vector>

#include "apps/bench/decks.hpp"
#include "apps/bench/heading.hpp"
#include "apps/bench/kernel_table.hpp"
#include "apps/bench/kernels.hpp"
#include "apps/bench/solve.hpp"
#include "apps/deck/named_deck.hpp"
#include "apps/run/build_case.hpp"
#include "apps/run/launch.hpp"
#include "apps/run/preparation.hpp"
#include "apps/run/verdict.hpp"
#include "core/error.hpp"
#include "core/ranks/cuts.hpp"

namespace hyperplane {
namespace {

/// Reading, ordering and the parts of a set-up of a general matrix, and how many iterations they take.
void show_preparation(const SolveBench& bench) {
    std::string parts = preparation_text(bench.before);
    if (const std::string setup = setup_parts_text(bench.before); !setup.empty())
        parts += fmt::format("{}set-up: {}", parts.empty() ? "" : "; ", setup);
    if (!parts.empty()) fmt::print("{:<28} before the solve: {}\n", "", parts);
    if (const std::string many = long_preparation_text(bench.before, bench.per_iteration()); !many.empty())
        fmt::print("{:<28} {}\n", "", many);
}

/// Prints a line of the table of solves and returns its JSON; `rate` is that of a copy, in bytes a second.
nlohmann::json add_solve(const std::string& deck, const Case& a_case, const SolveBench& bench, double rate,
                         bool print) {
    const SolveReport& report = bench.report;
    const double per_iteration = bench.per_iteration();
    const double limit = bench.other_bytes / rate, fewest = bench.fewest_bytes / rate;
    const std::string& preconditioner = a_case.name("preconditioner");
    nlohmann::json json{{"deck", deck},
                        {"solver", a_case.name("solver")},
                        {"preconditioner", preconditioner},
                        {"stop_reason", to_string(report.reason)},
                        {"iterations", report.iterations},
                        {"relative_residual", report.b_norm > 0 ? report.true_residual / report.b_norm : 0.0},
                        {"factorise", to_json(bench.factorise.again)},
                        {"first_setup", bench.first_setup},
                        {"whole_setup", to_json(bench.whole_setup)},
                        {"solve", to_json(bench.solve)},
                        {"spmv", bench.spmv},
                        {"preconditioner_apply", bench.preconditioner},
                        {"other", bench.other},
                        {"ends", bench.ends},
                        {"other_bytes", bench.other_bytes},
                        {"other_over_limit", limit > 0 ? bench.other / limit : 0.0},
                        {"other_fewest_bytes", bench.fewest_bytes},
                        {"other_over_fewest", fewest > 0 ? bench.other / fewest : 0.0},
                        {"per_iteration", per_iteration},
                        {"total", bench.total()}};
    if (preconditioner == "cusparse_ilu") {
        json["format"] = a_case.parameters.text("preconditioner", "format");
        json["analysis"] = bench.factorise.analysis;
        json["work_bytes"] = bench.factorise.work_bytes;
        json["product_format"] = bench.product_format;
        json["conversions"] = bench.conversions;
    }
    for (const TimerRow& row : bench.before) json["before"][row.name] = row.seconds;
    const auto preparation = preparation_in_iterations(bench.before, per_iteration);
    if (preparation) json["preparation_in_iterations"] = *preparation;
    if (print)
        fmt::print(
            "{:<28} {:<12} {:<14} {:>5} {:>9.2f} {:>10.2f} {:>10.2f} {:>9.2f} {:>10.2f} {:>9.2f} {:>6.2f} {:>6.2f} "
            "{:>8.2f} "
            "{:>9.3f} "
            "{:>10.2f}\n",
            deck, preconditioner, to_string(report.reason), report.iterations, bench.first_setup * 1e3,
            bench.whole_setup.median * 1e3, bench.factorise.again.median * 1e3, bench.spmv * 1e3,
            bench.preconditioner * 1e3, bench.other * 1e3, limit > 0 ? bench.other / limit : 0.0,
            fewest > 0 ? bench.other / fewest : 0.0, bench.ends * 1e3, per_iteration * 1e3, bench.total() * 1e3);
    if (print && preparation) show_preparation(bench);
    std::fflush(stdout);
    return json;
}

/// The deck without a shift of zero, since cusparse_ilu does not have that key.
Deck without_empty_shift(Deck deck) {
    std::erase_if(deck.entries, [](const DeckEntry& entry) {
        return entry.section == "preconditioner" && entry.key == "shift" && entry.value == "0";
    });
    return deck;
}

constexpr BenchNeeds needs_of_solve{.preconditioner = true, .solver = true, .vectors = 2};

/// Adds times of cuSPARSE for the same system, in the formats that make sense; `ours` is the total time of struct_ilu.
void add_baselines(const Invocation& invocation, const std::string& deck, int dof, double ours, int repeats,
                   double rate, bool print, nlohmann::json& solves) {
    for (const char* format : {"csr", "bsr"}) {
        if (dof == 1 && std::string(format) == "bsr") continue;
        try {
            std::vector<std::string> overrides = deck_overrides(invocation);
            overrides.push_back("preconditioner.name=cusparse_ilu");
            overrides.push_back(std::string("preconditioner.format=") + format);
            Case a_case = build_case(without_empty_shift(read_deck(deck)), overrides);
            require_memory("solve", a_case, needs_of_solve);
            const SolveBench bench = bench_solve(a_case, repeats);
            nlohmann::json json = add_solve(deck, a_case, bench, rate, print);
            json["total_over_struct_ilu"] = bench.total() / ours;
            solves.push_back(json);
            if (print)
                fmt::print(
                    "{:<28} cuSPARSE {} (products {}) takes {:.2f} times as long; not counted: analysis {:.1f} ms, "
                    "reordering of vectors {:.1f} ms; buffers {:.2f} GiB\n",
                    "", format, bench.product_format, bench.total() / ours, bench.factorise.analysis * 1e3,
                    bench.conversions * 1e3, double(bench.factorise.work_bytes) / (1 << 30));
        } catch (const Error& error) {
            solves.push_back(
                {{"deck", deck}, {"preconditioner", "cusparse_ilu"}, {"format", format}, {"refused", error.what()}});
            if (print) fmt::print("{:<28} cuSPARSE {}: not possible: {}\n", "", format, error.what());
        }
    }
}

/// Rates of copies on each rank, measured at the same time; together they are the limit.
struct CopyRates {
    std::vector<double> of_ranks;

    double all() const { return std::accumulate(of_ranks.begin(), of_ranks.end(), 0.0); }
};

/// How many unknowns the iterations of a solve passed over in a second, on each rank and in all.
void add_rates(const Case& a_case, const SolveBench& bench, const std::vector<double>& unknowns, bool print,
               nlohmann::json& json) {
    const double iterations = bench.solve_seconds() > 0.0 ? double(bench.report.iterations) / bench.solve_seconds() : 0;
    std::vector<double> rates;
    for (const double of_rank : unknowns) rates.push_back(of_rank * iterations);
    const double all = std::accumulate(rates.begin(), rates.end(), 0.0);
    json["ranks"] = unknowns.size();
    json["unknown_iterations_a_second"] = all;
    json["unknown_iterations_a_second_of_ranks"] = rates;
    if (!print) return;
    for (double& rate : rates) rate *= 1e-6;
    fmt::print("{:<28} {}: unknowns times iterations a second: {:.1f} million in all, {:.1f} of the ranks\n", "",
               a_case.device, all * 1e-6, fmt::join(rates, ", "));
}

/// The table and its JSON. Of several ranks the first one writes both.
class SolveTable {
public:
    SolveTable(const Invocation& invocation, int repeats, const RankOrNone& launched)
        : invocation_(invocation),
          repeats_(repeats),
          launched_(launched),
          print_(is_first_process(launched) && invocation.value("json") != "-") {}

    void add(const std::string& name) {
        const Deck deck = read_bench_deck(name, invocation_, RanksOfBench::taken);
        const Parameters parameters = resolved({deck, deck_overrides(invocation_)});
        const bool measure_rates =
            int(rates_.of_ranks.size()) != (launched_ ? launched_->size() : ranks_of(parameters));
        std::mutex building;  // problems may read files through HDF5
        const auto time = [&](const RankOrNone& rank) {
            Case a_case = [&] {
                const std::lock_guard lock(building);
                return build_case(deck, deck_overrides(invocation_), rank);
            }();
            require_memory("solve", a_case, needs_of_solve);
            if (measure_rates) {
                CopyRates rates{gathered(a_case.context, {copy_rate(a_case.context, repeats_)})};
                if (launched_ || is_first_rank(a_case.context)) rates_ = std::move(rates);
            }
            const SolveBench bench = bench_solve(a_case, repeats_, several_decks());
            const double mine = double(a_case.space.block_rows()) * a_case.shape().dof;
            const std::vector<double> unknowns = gathered(a_case.context, {mine});
            if (is_first_rank(a_case.context)) keep(name, a_case, bench, unknowns);
            return int(ExitCode::ok);
        };
        beside_cusparse_ = false;
        on_ranks(launched_, parameters, time);
        if (beside_cusparse_)
            add_baselines(invocation_, name, dof_, ours_, repeats_, rates_.all(), print_, json_["solves"]);
    }

    /// Writes the JSON that was asked for; returns the exit status.
    int finish() const {
        if (is_first_process(launched_)) write_bench_json(invocation_, json_);
        return int(code_);
    }

private:
    void keep(const std::string& name, const Case& a_case, const SolveBench& bench,
              const std::vector<double>& unknowns) {
        if (json_.empty()) {
            if (print_)
                fmt::print(
                    "{:<28} {:<12} {:<14} {:>5} {:>9} {:>10} {:>10} {:>9} {:>10} {:>9} {:>6} {:>6} {:>8} {:>9} "
                    "{:>10}\n",
                    "deck", "precond", "stopped", "its", "first ms", "set-up ms", "factor ms", "SpMV ms", "precond ms",
                    "other ms", "/limit", "/least", "ends ms", "ms/it", "total ms");
            json_ = heading("solve", a_case.context);
            json_["copy_rate"] = rates_.all();
        }
        if (!converged(bench.report.reason)) code_ = exit_code(bench.report.reason);
        nlohmann::json row = add_solve(name, a_case, bench, rates_.all(), print_);
        if (a_case.context.ranks()) {
            row["copy_rates_of_ranks"] = rates_.of_ranks;
            add_rates(a_case, bench, unknowns, print_, row);
        }
        add_pay_off(name, bench, row);
        json_["solves"].push_back(std::move(row));
        add_clocks(json_, a_case.context);
        ours_ = bench.total();
        dof_ = a_case.shape().dof;
        beside_cusparse_ = a_case.context.backend() == Backend::cuda && !a_case.context.ranks() &&
                           !invocation_.has("ranks") && a_case.name("preconditioner") == "struct_ilu";
    }

    bool several_decks() const { return invocation_.arguments.size() > 2; }  // the first argument is "solve"

    /// From how many solves with one set-up on the deck takes less time than the first one with the same system.
    void add_pay_off(const std::string& name, const SolveBench& bench, nlohmann::json& row) {
        if (!several_decks() || !converged(bench.report.reason)) return;
        const auto [first, is_first] = first_of_systems_.try_emplace(bench.system, First{name, bench.costs()});
        if (is_first) return;
        const auto solves = solves_to_pay_off(first->second.costs, bench.costs());
        if (!solves) return;
        row["pays_off_from_solves"] = *solves;
        if (print_ && *solves > 1)
            fmt::print("{:<28} pays off beside {} from {} solves with one set-up on\n", "", first->second.deck,
                       *solves);
    }

    /// The first deck with a system, and its costs.
    struct First {
        std::string deck;
        SetupAndSolve costs;
    };

    const Invocation& invocation_;
    int repeats_;
    RankOrNone launched_;
    bool print_;
    nlohmann::json json_;
    std::map<std::uint64_t, First> first_of_systems_;  ///< by fingerprint
    CopyRates rates_;                                  ///< of the last number of ranks
    ExitCode code_ = ExitCode::ok;
    // The members below belong to the deck that was added last.
    bool beside_cusparse_ = false;
    double ours_ = 0.0;
    int dof_ = 1;
};

}  // namespace

int bench_solves(const Invocation& invocation, int repeats, const RankOrNone& launched) {
    refuse_device(invocation, "solve");
    if (invocation.arguments.size() < 2) throw UsageError("bench solve: name one or more decks");
    SolveTable table(invocation, repeats, launched);
    for (std::size_t at = 1; at < invocation.arguments.size(); ++at) table.add(invocation.arguments[at]);
    return table.finish();
}

}  // namespace hyperplane
