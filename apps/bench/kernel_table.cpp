// SPDX-License-Identifier: BSD-3-Clause
#include "apps/bench/kernel_table.hpp"

#include <fmt/format.h>

#include <cmath>

#include "apps/run/verdict.hpp"

namespace hyperplane {
namespace {

const KernelResult* find_kernel(const std::vector<KernelResult>& kernels, const std::string& name) {
    for (const KernelResult& kernel : kernels)
        if (kernel.kernel == name) return &kernel;
    return nullptr;
}

nlohmann::json kernels_json(const std::vector<KernelResult>& kernels) {
    nlohmann::json json = nlohmann::json::object();
    for (const KernelResult& kernel : kernels)
        json[kernel.kernel] = {{"seconds", to_json(kernel.seconds)}, {"largest_error", kernel.largest_error}};
    return json;
}

nlohmann::json to_json(const BaselineResult& baseline) {
    nlohmann::json json{{"kernels", kernels_json(baseline.kernels)},
                        {"analysis", baseline.analysis},
                        {"analyses", baseline.analyses},
                        {"conversion", baseline.conversion},
                        {"vector_conversion", baseline.vectors},
                        {"work_bytes", baseline.work_bytes}};
    if (!baseline.refused.empty()) json["refused"] = baseline.refused;
    return json;
}

nlohmann::json to_json(const VariantResult& variant) {
    nlohmann::json json{{"name", variant.name}, {"what", variant.what}, {"kernels", kernels_json(variant.kernels)}};
    if (!variant.refused.empty()) json["refused"] = variant.refused;
    if (!variant.same_as.empty()) json["same_as"] = variant.same_as;
    return json;
}

std::string first_line_of(const std::string& text) {
    return text.substr(0, text.find('\n'));
}

}  // namespace

void KernelTable::Mean::add(double value) {
    sum += std::log(value);
    ++count;
    below_one += value < 1.0;
}

double KernelTable::Mean::value() const {
    return std::exp(sum / count);
}

void KernelTable::head() const {
    if (print_)
        fmt::print("{:<18} {:<10} {:>10} {:>8} {:>9} {:>9} {:>11} {:>9} {:>9} {:>11}\n", "case", "kernel", "ms",
                   "spread", "GB/s", "Gflop/s", "time/limit", "time/own", "us/level", "cuSPARSE/ms");
}

void KernelTable::add(const BenchResult& result) {
    nlohmann::json entry = {
        {"stencil", result.setting.stencil.name()}, {"dof", result.setting.dof},   {"n", result.setting.n},
        {"symmetric", result.setting.symmetric},    {"unknowns", result.unknowns}, {"levels", result.levels}};
    for (const KernelResult& kernel : result.kernels) entry["kernels"][kernel.kernel] = add_kernel(result, kernel);
    for (const BaselineResult& baseline : result.baselines) {
        entry["cusparse"][baseline.format] = to_json(baseline);
        if (print_) show_baseline(result, baseline);
    }
    for (const VariantResult& variant : result.variants) entry["variants"].push_back(to_json(variant));
    for (const VariantResult& variant : result.built_up) entry["built_up"].push_back(to_json(variant));
    if (print_) show_variants(result, "variant", result.variants), show_variants(result, "added", result.built_up);
    cases_.push_back(entry);
}

nlohmann::json KernelTable::add_kernel(const BenchResult& result, const KernelResult& kernel) {
    const double seconds = kernel.seconds.median, over = seconds * rate_ / kernel.bytes,
                 own = seconds * rate_ / kernel.own_bytes;
    over_limit_[kernel.kernel].add(over);
    over_own_[kernel.kernel].add(own);
    nlohmann::json json{{"seconds", to_json(kernel.seconds)},
                        {"bytes", kernel.bytes},
                        {"own_bytes", kernel.own_bytes},
                        {"flops", kernel.flops},
                        {"time_over_limit", over},
                        {"time_over_own_limit", own},
                        {"microseconds_a_level", seconds * 1e6 / result.levels},
                        {"largest_error", kernel.largest_error}};
    const auto best = result.best_baseline(kernel.kernel);
    if (best) {
        against_[kernel.kernel].add(*best / seconds);
        json["cusparse_over_this"] = *best / seconds;
    }
    if (print_)
        fmt::print("{:<18} {:<10} {:>10.3f} {:>7.0f}% {:>9.1f} {:>9.2f} {:>11.2f} {:>9.2f} {:>9.2f} {:>11}\n",
                   result.setting.name(), kernel.kernel, seconds * 1e3, kernel.seconds.spread() * 100,
                   kernel.bytes / seconds * 1e-9, kernel.flops / seconds * 1e-9, over, own,
                   seconds * 1e6 / result.levels, best ? fmt::format("{:.2f}", *best / seconds) : "");
    return json;
}

void KernelTable::show_baseline(const BenchResult& result, const BaselineResult& baseline) const {
    std::string times;
    for (const KernelResult& kernel : baseline.kernels)
        times += fmt::format("{} {:.3f}, ", kernel.kernel, kernel.seconds.median * 1e3);
    if (baseline.refused.empty())
        times +=
            fmt::format("analysis {:.0f}, rows {:.1f}, vectors {:.3f}, buffers {:.2f} GiB", baseline.analysis * 1e3,
                        baseline.conversion * 1e3, baseline.vectors * 1e3, double(baseline.work_bytes) / (1 << 30));
    else
        times += "not possible: " + first_line_of(baseline.refused);
    fmt::print("{:<18} cuSPARSE {}, ms: {}\n", result.setting.name(), baseline.format, times);
}

void KernelTable::show_variants(const BenchResult& result, const char* head,
                                const std::vector<VariantResult>& variants) const {
    if (variants.empty()) return;
    fmt::print("  {:<32} {:>10} {:>14} {:>14} {:>14}   (ms, times the default's)\n", head, "spmv", "lower", "upper",
               "factorise");
    for (const VariantResult& variant : variants) {
        std::string row = variant.same_as.empty() ? "" : " the kernels of: " + variant.same_as;
        for (const char* name : {"spmv", "lower", "upper", "factorise"}) {
            const KernelResult* kernel = find_kernel(variant.kernels, name);
            const KernelResult* usual = find_kernel(result.kernels, name);
            row += kernel ? fmt::format(" {:>8.3f} {:>5.2f}", kernel->seconds.median * 1e3,
                                        kernel->seconds.median / usual->seconds.median)
                          : std::string(15, ' ');
        }
        fmt::print("  {:<32}{}\n", variant.name,
                   variant.refused.empty() ? row : " not possible: " + first_line_of(variant.refused));
    }
}

void KernelTable::finish(nlohmann::json& json) const {
    json["cases"] = cases_;
    for (const auto& [kernel, mean] : over_limit_) {
        const double own = over_own_.at(kernel).value();
        json["geometric_mean_time_over_limit"][kernel] = mean.value();
        json["geometric_mean_time_over_own_limit"][kernel] = own;
        std::string against;
        if (const auto found = against_.find(kernel); found != against_.end()) {
            json["geometric_mean_cusparse_over_this"][kernel] = found->second.value();
            json["cases_slower_than_cusparse"][kernel] = found->second.below_one;
            against = fmt::format(", best cuSPARSE takes {:.2f} times as long, slower than it in {} of {}",
                                  found->second.value(), found->second.below_one, found->second.count);
        }
        if (print_)
            fmt::print("geometric means, {:<10} time/limit {:.2f}, time/own {:.2f}{}\n", kernel, mean.value(), own,
                       against);
    }
}

}  // namespace hyperplane
