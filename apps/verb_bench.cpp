// hyperplane bench [kernels|solve DECK...]

#include <fmt/chrono.h>
#include <fmt/format.h>

#include <cmath>
#include <ctime>
#include <nlohmann/json.hpp>

#include "apps/bench_kernels.hpp"
#include "apps/bench_solve.hpp"
#include "apps/build_info.hpp"
#include "apps/environment.hpp"
#include "apps/verbs.hpp"
#include "apps/verdict.hpp"
#include "core/error.hpp"

namespace hyperplane {
namespace {

constexpr const char* default_cases =
    "star7:1:96:sym, star7:1:96, star13:1:96, diamond13:1:96, diamond25:1:80, box27:1:80, star7:4:48, box27:4:32, "
    "star7:8:32";

nlohmann::json heading(const std::string& kind, const Context& context) {
    return {{"kind", kind},
            {"version", build_info().version},
            {"git_sha", build_info().git_sha},
            {"date", fmt::format("{:%Y-%m-%dT%H:%M:%SZ}", fmt::gmtime(std::time(nullptr)))},
            {"host", host_name()},
            {"device", processor_name()},
            {"threads", context.threads()}};
}

nlohmann::json to_json(const Timing& timing) {
    return {{"median", timing.median}, {"least", timing.least}, {"most", timing.most}};
}

int bench_kernel_cases(const Invocation& invocation, const Context& context, int repeats) {
    const std::string layout_name = invocation.value("layout", "natural");
    if (layout_name != "natural" && layout_name != "hyperplane")
        throw UsageError(fmt::format("--layout: '{}' is none of natural | hyperplane", layout_name));
    const LayoutKind layout = layout_name == "natural" ? LayoutKind::natural : LayoutKind::hyperplane;
    const auto cases = parse_bench_cases(invocation.value("cases", default_cases));

    nlohmann::json json = heading("kernels", context);
    const double rate = copy_rate(context, repeats);
    json["copy_rate"] = rate;
    json["layout"] = layout_name;
    json["cases"] = nlohmann::json::array();
    const bool quiet = invocation.value("json") == "-";
    if (!quiet) {
        fmt::print("{}, {} thread{}, {} layout; a copy moves {:.1f} GB/s, read plus write: the limit\n",
                   processor_name(), context.threads(), context.threads() == 1 ? "" : "s", layout_name, rate * 1e-9);
        fmt::print("{:<18} {:<10} {:>10} {:>8} {:>9} {:>9} {:>11} {:>9}\n", "case", "kernel", "ms", "spread", "GB/s",
                   "Gflop/s", "time/limit", "us/level");
    }
    std::map<std::string, std::pair<double, int>> means;  // sum of logarithms, count
    for (const BenchCase& setting : cases) {
        const BenchResult result = bench_kernels(context, setting, layout, repeats);
        nlohmann::json entry = {
            {"stencil", setting.stencil.name()}, {"dof", setting.dof},          {"n", setting.n},
            {"symmetric", setting.symmetric},    {"unknowns", result.unknowns}, {"levels", result.levels}};
        for (const KernelResult& kernel : result.kernels) {
            const double seconds = kernel.seconds.median, over = seconds / (kernel.bytes / rate);
            const double spread = (kernel.seconds.most - kernel.seconds.least) / seconds;
            means[kernel.kernel].first += std::log(over);
            means[kernel.kernel].second += 1;
            entry["kernels"][kernel.kernel] = {{"seconds", to_json(kernel.seconds)},
                                               {"bytes", kernel.bytes},
                                               {"flops", kernel.flops},
                                               {"time_over_limit", over},
                                               {"largest_error", kernel.largest_error}};
            if (!quiet)
                fmt::print("{:<18} {:<10} {:>10.3f} {:>7.0f}% {:>9.1f} {:>9.2f} {:>11.2f} {:>9.2f}\n", setting.name(),
                           kernel.kernel, seconds * 1e3, spread * 100, kernel.bytes / seconds * 1e-9,
                           kernel.flops / seconds * 1e-9, over, seconds * 1e6 / result.levels);
        }
        json["cases"].push_back(entry);
    }
    for (const auto& [kernel, mean] : means) {
        const double over = std::exp(mean.first / mean.second);
        json["geometric_mean_time_over_limit"][kernel] = over;
        if (!quiet) fmt::print("geometric mean of time/limit, {:<10} {:.2f}\n", kernel, over);
    }
    if (invocation.has("json")) write_json(invocation.value("json"), json);
    return int(ExitCode::ok);
}

int bench_solves(const Invocation& invocation, int repeats) {
    if (invocation.arguments.size() < 2) throw UsageError("bench solve: name one or more decks");
    nlohmann::json json;
    const bool quiet = invocation.value("json") == "-";
    if (!quiet)
        fmt::print("{:<28} {:<14} {:>5} {:>10} {:>9} {:>10} {:>9} {:>9} {:>10}\n", "deck", "stopped", "its",
                   "factor ms", "SpMV ms", "precond ms", "other ms", "ms/it", "total ms");
    ExitCode code = ExitCode::ok;
    for (std::size_t at = 1; at < invocation.arguments.size(); ++at) {
        const std::string& deck = invocation.arguments[at];
        const Case a_case = build_case(read_deck(deck), deck_overrides(invocation));
        if (json.empty()) json = heading("solve", a_case.context);
        const SolveBench bench = bench_solve(a_case, repeats);
        const SolveReport& report = bench.report;
        if (!converged(report.reason)) code = exit_code(report.reason);
        const double per_iteration = report.iterations > 0 ? bench.solve.median / double(report.iterations) : 0.0;
        const double total = bench.setup.median + bench.solve.median;
        json["solves"].push_back({{"deck", deck},
                                  {"solver", a_case.name("solver")},
                                  {"preconditioner", a_case.name("preconditioner")},
                                  {"stop_reason", to_string(report.reason)},
                                  {"iterations", report.iterations},
                                  {"relative_residual", report.b_norm > 0 ? report.true_residual / report.b_norm : 0.0},
                                  {"factorise", to_json(bench.setup)},
                                  {"solve", to_json(bench.solve)},
                                  {"spmv", bench.spmv},
                                  {"preconditioner_apply", bench.preconditioner},
                                  {"other", bench.other},
                                  {"per_iteration", per_iteration},
                                  {"total", total}});
        if (!quiet)
            fmt::print("{:<28} {:<14} {:>5} {:>10.2f} {:>9.2f} {:>10.2f} {:>9.2f} {:>9.3f} {:>10.2f}\n", deck,
                       to_string(report.reason), report.iterations, bench.setup.median * 1e3, bench.spmv * 1e3,
                       bench.preconditioner * 1e3, bench.other * 1e3, per_iteration * 1e3, total * 1e3);
    }
    if (invocation.has("json")) write_json(invocation.value("json"), json);
    return int(code);
}

}  // namespace

int bench_verb(const Invocation& invocation) {
    const std::string kind = invocation.arguments.empty() ? "kernels" : invocation.arguments.front();
    const int repeats = parse_count("repeats", invocation.value("repeats", "9"), 1);
    if (kind == "solve") return bench_solves(invocation, repeats);
    if (kind != "kernels" || invocation.arguments.size() > 1)
        throw UsageError("bench: expected `bench kernels` or `bench solve DECK...`");
    const int threads = invocation.has("threads") ? parse_count("threads", invocation.value("threads"), 1) : 0;
    return bench_kernel_cases(invocation, Context::cpu(threads), repeats);
}

}  // namespace hyperplane
