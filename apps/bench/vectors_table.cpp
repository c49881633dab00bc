// SPDX-License-Identifier: BSD-3-Clause
// hyperplane bench vectors

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "apps/base/backend.hpp"
#include "apps/bench/heading.hpp"
#include "apps/bench/kernels.hpp"
#include "apps/bench/vectors.hpp"
#include "apps/run/verdict.hpp"
#include "core/error.hpp"

namespace hyperplane {
namespace {

/// The sizes of --unknowns.
std::vector<Index> read_sizes(const Invocation& invocation) {
    const std::string list = invocation.value("unknowns", "262144,2097152,16777216");
    std::vector<Index> sizes;
    for (std::size_t begin = 0; begin <= list.size();) {
        const std::size_t end = std::min(list.find(',', begin), list.size());
        sizes.push_back(parse_count("unknowns", list.substr(begin, end - begin), 1));
        begin = end + 1;
    }
    return sizes;
}

}  // namespace

int bench_all_vectors(const Invocation& invocation, int repeats) {
    if (invocation.arguments.size() > 1) throw UsageError("bench vectors: takes no deck; --unknowns gives sizes");
    const std::vector<Index> sizes = read_sizes(invocation);
    const Context context = read_device(invocation);
    const Index largest = *std::max_element(sizes.begin(), sizes.end());
    require_memory(context, fmt::format("bench vectors: the vectors of {} unknowns", largest),
                   vectors_memory(context, largest), "give smaller numbers with --unknowns");
    nlohmann::json json = heading("vectors", context);
    const double rate = copy_rate(context, repeats);
    json["copy_rate"] = rate;
    json["repeats"] = repeats;
    const bool print = invocation.value("json") != "-", cuda = context.backend() == Backend::cuda;
    if (print)
        fmt::print("{}; a copy moves {:.1f} GB/s, read plus write: the limit\n{:>12} {:<36} {:>9} {:>7} {:>11}{}\n",
                   describe(context), rate * 1e-9, "unknowns", "operation", "ms", "spread", "time/limit",
                   cuda ? fmt::format(" {:>10} {:>6} {:>12}", "cuBLAS ms", "calls", "cuBLAS/ours") : "");
    double sum = 0.0;
    int count = 0;
    for (const Index size : sizes) {
        for (const VectorOperation& row : bench_vectors(context, size, repeats)) {
            const double bytes = double(row.vectors) * double(size) * sizeof(double);
            const double over = row.seconds.median * rate / bytes, against = row.cublas.median / row.seconds.median;
            json["operations"].push_back({{"unknowns", size},
                                          {"operation", row.name},
                                          {"bytes", bytes},
                                          {"seconds", to_json(row.seconds)},
                                          {"time_over_limit", over}});
            if (cuda) {
                json["operations"].back().update({{"cublas_seconds", to_json(row.cublas)},
                                                  {"cublas_calls", row.cublas_calls},
                                                  {"cublas_over_this", against},
                                                  {"difference", row.difference}});
                sum += std::log(against), ++count;
            }
            if (print)
                fmt::print(
                    "{:>12} {:<36} {:>9.4f} {:>6.0f}% {:>11.2f}{}\n", size, row.name, row.seconds.median * 1e3,
                    row.seconds.spread() * 100, over,
                    cuda ? fmt::format(" {:>10.4f} {:>6} {:>12.2f}", row.cublas.median * 1e3, row.cublas_calls, against)
                         : "");
        }
        add_clocks(json, context);
    }
    if (count > 0) {
        json["geometric_mean_cublas_over_this"] = std::exp(sum / count);
        if (print) fmt::print("geometric mean of cuBLAS/ours {:.2f}\n", std::exp(sum / count));
    }
    write_bench_json(invocation, json);
    return int(ExitCode::ok);
}

}  // namespace hyperplane
