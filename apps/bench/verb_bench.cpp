// SPDX-License-Identifier: BSD-3-Clause
// hyperplane bench [kernels|preconditioners [DECK...]|solve DECK...|assembly DECK...|products DECK...|multigrid
// DECK...|sweeps DECK...|vectors|hpcg]

#include <fmt/format.h>

#include <algorithm>
#include <cstdio>
#include <map>
#include <mutex>
#include <nlohmann/json.hpp>

#include "apps/base/backend.hpp"
#include "apps/base/environment.hpp"
#include "apps/base/json_text.hpp"
#include "apps/bench/assembly.hpp"
#include "apps/bench/decks.hpp"
#include "apps/bench/heading.hpp"
#include "apps/bench/hpcg.hpp"
#include "apps/bench/kernel_table.hpp"
#include "apps/bench/kernels.hpp"
#include "apps/bench/multigrid.hpp"
#include "apps/bench/preconditioner_table.hpp"
#include "apps/bench/products.hpp"
#include "apps/bench/solve_table.hpp"
#include "apps/bench/sweeps.hpp"
#include "apps/bench/vectors.hpp"
#include "apps/command/verbs.hpp"
#include "apps/deck/named_deck.hpp"
#include "apps/run/build_case.hpp"
#include "apps/run/kernels.hpp"
#include "apps/run/launch.hpp"
#include "apps/run/verdict.hpp"
#include "core/error.hpp"
#include "core/ranks/cuts.hpp"
#include "precond/registry.hpp"

namespace hyperplane {
namespace {

constexpr const char* default_cases =
    "star7:1:96:sym, star7:1:96, star13:1:96, diamond13:1:96, diamond25:1:80, box27:1:80, star7:4:48, box27:4:32, "
    "star7:8:32";

LayoutKind read_layout(const Invocation& invocation, Backend backend) {
    const std::string name = invocation.value("layout", backend == Backend::cuda ? "hyperplane" : "natural");
    if (name != "natural" && name != "hyperplane")
        throw UsageError(fmt::format("--layout: '{}' is none of natural | hyperplane", name));
    return name == "natural" ? LayoutKind::natural : LayoutKind::hyperplane;
}

/// Throws UsageError unless some tuning's name contains the words of --tunings (`some`), and on a CPU.
void check_tunings(const Context& context, const std::string& words, bool some) {
    if (context.backend() == Backend::cpu)
        throw UsageError(
            "--tunings: only kernels on a GPU have tunings; give --device cuda, or a deck and --backend cuda");
    if (words.empty() || !some)
        throw UsageError(fmt::format("--tunings: no tuning has '{}' in its name; all stands for every tuning", words));
}

/// Throws OutOfMemory for the first case whose matrix, with x and y, does not fit.
void require_room_for_cases(const Context& context, const std::vector<BenchCase>& cases) {
    for (const BenchCase& one : cases) {
        const int blocks = one.symmetric ? one.stencil.lower_size() + 1 : one.stencil.size();
        const double rows = std::pow(double(one.n), 3) * one.dof;
        require_memory(context, fmt::format("bench: {}: matrix and vectors", one.name()),
                       rows * (blocks * one.dof + 2) * sizeof(double), "take a case of fewer points");
    }
}

int bench_kernel_cases(const Invocation& invocation, int repeats) {
    const Context context = read_device(invocation);
    BenchOptions options;
    options.layout = read_layout(invocation, context.backend());
    options.repeats = repeats;
    options.ablate = invocation.has("ablate");
    options.build_up = invocation.has("build-up");
    if (options.build_up && context.backend() == Backend::cpu)
        throw UsageError("--build-up: the pieces of the StructILU paper are those of a GPU; give --device cuda");
    options.tunings = invocation.value("tunings");
    if (invocation.has("tunings")) check_tunings(context, options.tunings, !tunings(options.tunings).empty());
    const auto cases = parse_bench_cases(invocation.value("cases", default_cases));
    require_room_for_cases(context, cases);

    nlohmann::json json = heading("kernels", context);
    const rtc::Compilation compiled = prepare_kernels(context, cases, options);
    const double rate = copy_rate(context, repeats);
    add_clocks(json, context);
    json["copy_rate"] = rate;
    json["layout"] = to_string(options.layout);
    json["repeats"] = repeats;
    const bool print = invocation.value("json") != "-";
    if (print) {
        fmt::print("{}, {} layout; a copy moves {:.1f} GB/s, read plus write: the limit\n", describe(context),
                   to_string(options.layout), rate * 1e-9);
        if (compiled.compiled > 0)
            fmt::print("{} kernel programs compiled in {:.1f} s\n", compiled.compiled, compiled.seconds);
    }
    KernelTable table(rate, print);
    table.head();
    for (const BenchCase& setting : cases) {
        table.add(bench_kernels(context, setting, options));
        std::fflush(stdout);
        add_clocks(json, context);
    }
    table.finish(json);
    warn_of_unprepared_kernels();
    write_bench_json(invocation, json);
    return int(ExitCode::ok);
}

/// Prints the lines of a deck in the table of assemblies and returns their JSON; `rate` is that of a copy, in bytes a
/// second.
nlohmann::json add_assembly(const std::string& deck, const Case& a_case, const AssemblyBench& bench, double rate,
                            bool print) {
    const SystemShape& shape = a_case.shape();
    nlohmann::json json{{"deck", deck},
                        {"problem", a_case.name("problem")},
                        {"format", shape.pattern ? "general" : "structured"},
                        {"stencil", shape.stencil.name()},
                        {"dof", shape.dof},
                        {"points", shape.grid.points()},
                        {"layout", a_case.space.name()},
                        {"against_differences", bench.against_differences}};
    for (const AssemblyPart& part : bench.parts) {
        const double seconds = part.seconds.median, over = seconds * rate / part.bytes;
        json["parts"].push_back({{"name", part.name},
                                 {"seconds", to_json(part.seconds)},
                                 {"bytes", part.bytes},
                                 {"time_over_limit", over}});
        if (print)
            fmt::print("{:<40} {:<22} {:>10.3f} {:>7.0f}% {:>10.3f} {:>9.1f} {:>11.2f}\n", deck, part.name,
                       seconds * 1e3, part.seconds.spread() * 100, part.bytes * 1e-9, part.bytes / seconds * 1e-9,
                       over);
    }
    if (print) fmt::print("{:<40} matrix against differences of F {:.1e}\n", "", bench.against_differences);
    std::fflush(stdout);
    return json;
}

int bench_assemblies(const Invocation& invocation, int repeats) {
    return bench_decks(
        invocation, "assembly", repeats, {.preconditioner = false, .solver = false, .vectors = 5},
        [](const std::string& machine, double gigabytes) {
            return fmt::format(
                "{}; a copy moves {:.1f} GB/s, read plus write: the limit\n{:<40} {:<22} {:>10} {:>8} {:>10} {:>9} "
                "{:>11}\n",
                machine, gigabytes, "deck", "part", "ms", "spread", "GB", "GB/s", "time/limit");
        },
        [&](const std::string& deck, const Case& a_case, double rate, bool print) {
            return add_assembly(deck, a_case, bench_assembly(a_case, repeats), rate, print);
        });
}

/// The candidates that are asked for; if none is named, all, and for systems of several unknowns cuSPARSE's blocks,
/// too.
class AskedFor {
public:
    AskedFor(const Invocation& invocation, const Deck& deck, const std::vector<std::string>& overrides)
        : names_(invocation.value("preconditioners")),
          candidates_(read_candidates(deck, overrides, {"fgmres", names_, names_.empty()})) {
        if (names_.empty()) blocks_ = read_candidates(deck, {}, {"fgmres", "cusparse_ilu:format=bsr", false}).list;
    }
    std::vector<Candidate> of(int dof) const {
        std::vector<Candidate> list = candidates_.list;
        if (dof > 1) list.insert(list.end(), blocks_.begin(), blocks_.end());
        return list;
    }
    const std::vector<Candidate>& all() const { return candidates_.list; }
    const Parameters& deck() const { return candidates_.deck; }

private:
    std::string names_;
    Candidates candidates_;
    std::vector<Candidate> blocks_;
};

/// The candidates for bench cases, which have no deck: a deck is made to resolve them, with a solver that supports all
/// preconditioners.
AskedFor candidates_of_cases(const Invocation& invocation) {
    if (invocation.has("backend"))
        throw UsageError("bench preconditioners: --backend is for decks; give --device for cases");
    for (const std::string& text : invocation.values("set"))
        if (const DeckEntry entry = parse_override(text); entry.section != "preconditioner")
            throw UsageError(
                fmt::format("--set {}: cases have keys of [preconditioner] alone, none of [{}]; name a deck instead",
                            text, entry.section));
    const Deck deck = parse_deck("[problem]\nname = poisson\n[grid]\ncells = 8\n[solver]\nname = fgmres\n", "bench");
    return {invocation, deck, invocation.values("set")};
}

AskedFor candidates_of_deck(const Invocation& invocation, const Deck& deck) {
    refuse_device(invocation, "preconditioners");
    return {invocation, deck, deck_overrides(invocation)};
}

/// Times the preconditioners of one system after the other, and makes one table of them, which the first rank has.
class BenchOfPreconditioners {
public:
    BenchOfPreconditioners(const Invocation& invocation, int repeats)
        : invocation_(invocation), repeats_(repeats), print_(invocation.value("json") != "-") {}

    /// All ranks of the system call this.
    void time(PreconditionedSystem& system, const AskedFor& candidates) {
        const Context& context = system.context();
        const std::string tunings = invocation_.value("tunings");
        if (invocation_.has("tunings"))
            check_tunings(context, tunings, std::ranges::any_of(preconditioners(), [&](const PreconditionerRow& row) {
                              return !chosen_tunings(row, tunings).empty();
                          }));
        const bool first = is_first_rank(context);
        if (of_first_rank(context, !table_.has_value()) != 0.0) begin(context);
        bench_preconditioners(system, candidates.of(system.dof()), tunings, repeats_,
                              [&](const PreconditionersResult& so_far) {
                                  if (first) table_->add(so_far);
                              });
        if (first) add_clocks(json_, context);
    }
    void time_deck(const std::string& path, const RankOrNone& launched) {
        const Deck deck = read_bench_deck(path, invocation_, RanksOfBench::taken);
        const AskedFor candidates = candidates_of_deck(invocation_, deck);
        std::mutex building;  // problems may read files through HDF5
        on_ranks(launched, candidates.deck(), [&](const RankOrNone& rank) {
            std::unique_ptr<PreconditionedSystem> system;
            {
                const std::lock_guard lock(building);
                system = deck_system(deck, candidates.deck(), rank, candidates.all());
            }
            system->require_room();
            time(*system, candidates);
            return int(ExitCode::ok);
        });
    }
    void time_cases() {
        const AskedFor candidates = candidates_of_cases(invocation_);
        const auto cases = parse_bench_cases(invocation_.value("cases", default_cases));
        const Context context = read_device(invocation_);
        require_room_for_cases(context, cases);
        prepare_kernels(context, cases, [&](int dof) { return candidates.of(dof); });
        for (const BenchCase& setting : cases) time(*random_system(context, setting), candidates);
    }
    void finish() {
        table_->finish(json_);
        write_bench_json(invocation_, json_);
    }

private:
    /// Measures the rate of a copy, on all ranks together, and begins the table.
    void begin(const Context& context) {
        double rate = 0.0;
        for (const double of_rank : gathered(context, {copy_rate(context, repeats_)})) rate += of_rank;
        if (!is_first_rank(context)) return;
        json_ = heading("preconditioners", context);
        json_["copy_rate"] = rate;
        json_["repeats"] = repeats_;
        if (print_)
            fmt::print("{}; a copy moves {:.1f} GB/s, read plus write: the limit\n", describe(context), rate * 1e-9);
        table_.emplace(rate, print_).head();
    }

    const Invocation& invocation_;
    int repeats_;
    bool print_;
    nlohmann::json json_;
    std::optional<PreconditionerTable> table_;  // of the first rank
};

int bench_all_preconditioners(const Invocation& invocation, int repeats, const RankOrNone& launched) {
    const std::vector<std::string> decks(invocation.arguments.begin() + 1, invocation.arguments.end());
    if (!decks.empty() && invocation.has("cases"))
        throw UsageError("bench preconditioners: name decks or --cases, not both");
    if (decks.empty() && (launched || invocation.has("ranks")))
        throw UsageError("bench preconditioners: cases run on one rank; name decks to use several");
    BenchOfPreconditioners all(invocation, repeats);
    for (const std::string& path : decks) all.time_deck(path, launched);
    if (!is_first_process(launched)) return int(ExitCode::ok);
    if (decks.empty()) all.time_cases();
    all.finish();
    return int(ExitCode::ok);
}

constexpr const char* kinds_on_ranks = "bench solve and bench preconditioners run on several";

bool on_ranks_too(const std::string& kind) {
    return kind == "solve" || kind == "preconditioners";
}

/// Options that not every kind has, and the kinds that have them; a kind refuses the others.
const std::map<std::string, std::vector<std::string>> options_of_kinds = {
    {"cases", {"kernels", "preconditioners"}},
    {"device", {"kernels", "preconditioners", "vectors", "hpcg"}},
    {"preconditioners", {"preconditioners"}},
    {"layout", {"kernels"}},
    {"ablate", {"kernels"}},
    {"build-up", {"kernels"}},
    {"tunings", {"kernels", "preconditioners"}},
    {"unknowns", {"vectors"}},
    {"sweeps", {"sweeps"}},
    {"repeats", {"kernels", "preconditioners", "solve", "assembly", "products", "multigrid", "vectors", "hpcg"}},
    {"set", {"preconditioners", "solve", "assembly", "products", "multigrid", "sweeps"}},
    {"backend", {"preconditioners", "solve", "assembly", "products", "multigrid", "sweeps"}},
};

void refuse_options_of_others(const Invocation& invocation, const std::string& kind) {
    for (const auto& [option, kinds] : options_of_kinds) {
        if (!invocation.has(option) || std::ranges::find(kinds, kind) != kinds.end()) continue;
        if (option == "device") refuse_device(invocation, kind);
        if (option == "backend") throw UsageError(fmt::format("bench {}: --backend is for decks; give --device", kind));
        throw UsageError(fmt::format("bench {}: --{} is an option of bench {} alone; leave it out", kind, option,
                                     fmt::join(kinds, ", ")));
    }
}

int bench(const Invocation& invocation, const RankOrNone& launched) {
    const std::string kind = invocation.arguments.empty() ? "kernels" : invocation.arguments.front();
    const int repeats = parse_count("repeats", invocation.value("repeats", "9"), 1);
    if (launched && !on_ranks_too(kind))
        throw UsageError(fmt::format(
            "bench {} runs on one rank, and mpirun or srun has started {} processes together; start it once ({})", kind,
            launched->size(), kinds_on_ranks));
    if (invocation.has("ranks") && !on_ranks_too(kind))
        throw UsageError(fmt::format("bench {} runs on one rank; leave --ranks out ({})", kind, kinds_on_ranks));
    refuse_options_of_others(invocation, kind);
    if (is_first_process(launched)) guard_json(invocation);
    if (kind == "solve") return bench_solves(invocation, repeats, launched);
    if (kind == "preconditioners") return bench_all_preconditioners(invocation, repeats, launched);
    if (kind == "assembly") return bench_assemblies(invocation, repeats);
    if (kind == "products") return bench_products(invocation, repeats);
    if (kind == "vectors") return bench_all_vectors(invocation, repeats);
    if (kind == "multigrid") return bench_multigrids(invocation, repeats);
    if (kind == "sweeps") return bench_all_sweeps(invocation);
    if (kind == "hpcg") return bench_hpcg_verb(invocation, repeats);
    if (kind != "kernels" || invocation.arguments.size() > 1)
        throw UsageError(
            "bench: expected `bench kernels`, `bench preconditioners [DECK...]`, `bench solve DECK...`, `bench "
            "assembly DECK...`, `bench products DECK...`, `bench multigrid DECK...`, `bench sweeps DECK...`, `bench "
            "vectors` or `bench hpcg [NX NY NZ]`");
    return bench_kernel_cases(invocation, repeats);
}

}  // namespace

int bench_verb(const Invocation& invocation) {
    return on_launched(invocation, [&](const RankOrNone& launched) { return bench(invocation, launched); });
}

}  // namespace hyperplane
