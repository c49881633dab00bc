// SPDX-License-Identifier: BSD-3-Clause
#include "core/device/ptxas_log.hpp"

#include <charconv>
#include <optional>
#include <string>

namespace hyperplane::rtc {
namespace {

/// The number right before `unit`, such as 40 in "Used 40 registers"; nothing where there is none.
std::optional<long long> number_before(std::string_view line, std::string_view unit) {
    const std::size_t end = line.find(unit);
    if (end == line.npos) return std::nullopt;
    const std::size_t last_other = line.substr(0, end).find_last_not_of("0123456789");
    const std::size_t begin = last_other == line.npos ? 0 : last_other + 1;
    long long number = 0;
    const auto [stop, error] = std::from_chars(line.data() + begin, line.data() + end, number);
    return error == std::errc() && stop == line.data() + end ? std::optional(number) : std::nullopt;
}

}  // namespace

std::string_view word_after(std::string_view line, std::string_view before, std::string_view ends) {
    const std::size_t found = line.find(before);
    if (found == line.npos) return {};
    line.remove_prefix(found + before.size());
    return line.substr(0, line.find_first_of(ends));
}

// "Compiling entry function 'f' ...", "Function properties for f", "... bytes stack frame, ... bytes spill stores, ...
// bytes spill loads", "Used 40 registers, ... bytes smem". Functions that f calls have properties too.
std::vector<KernelResources> read_ptxas_log(std::string_view log) {
    std::vector<KernelResources> rows;
    std::string function;
    for_lines(log, [&rows, &function](std::string_view line) {
        if (const auto name = word_after(line, "entry function '", "'"); !name.empty())
            rows.push_back({.name = std::string(name)});
        if (rows.empty()) return;
        if (const auto name = word_after(line, "Function properties for ", " \t\r"); !name.empty()) function = name;
        if (const auto frame = number_before(line, " bytes stack frame"); frame && function == rows.back().name) {
            rows.back().local_bytes = *frame;
            rows.back().spill_bytes = number_before(line, " bytes spill stores").value_or(0) +
                                      number_before(line, " bytes spill loads").value_or(0);
        }
        if (const auto used = number_before(line, " registers")) rows.back().registers = static_cast<int>(*used);
        if (const auto shared = number_before(line, " bytes smem")) rows.back().shared_bytes = *shared;
    });
    return rows;
}

}  // namespace hyperplane::rtc
