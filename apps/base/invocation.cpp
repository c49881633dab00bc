// SPDX-License-Identifier: BSD-3-Clause
#include "apps/base/invocation.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cmath>

#include "core/error.hpp"

namespace hyperplane {

std::string Invocation::value(const std::string& option, const std::string& fallback) const {
    const auto at = options.find(option);
    return at == options.end() ? fallback : at->second.back();
}

std::vector<std::string> Invocation::values(const std::string& option) const {
    const auto at = options.find(option);
    return at == options.end() ? std::vector<std::string>{} : at->second;
}

int parse_integer(const std::string& where, const std::string& text, int least, int most) {
    int value = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    const bool digits = error != std::errc::invalid_argument && end == text.data() + text.size();
    const bool beyond = error == std::errc::result_out_of_range && text[0] != '-';
    if (digits && (beyond || value > most))
        throw UsageError(
            fmt::format("{}: {} is out of range; expected an integer >= {} and <= {}", where, text, least, most));
    if (!digits || error != std::errc{} || value < least)
        throw UsageError(fmt::format("{}: expected an integer >= {}, got '{}'", where, least, text));
    return value;
}

int parse_count(const std::string& option, const std::string& text, int least) {
    return parse_integer("--" + option, text, least);
}

double parse_tolerance(const std::string& option, const std::string& text) {
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size() || !std::isfinite(value) || value < 0.0)
        throw UsageError(fmt::format("--{}: expected a number >= 0, got '{}'", option, text));
    return value;
}

}  // namespace hyperplane
