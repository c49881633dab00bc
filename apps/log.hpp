// SPDX-License-Identifier: BSD-3-Clause
// The log: lines "warning: ..." on stderr. Only log.cpp reads spdlog's headers, which instantiate fmt's formatting anew
// in every source.
#pragma once

#include <fmt/format.h>

#include <string>

namespace hyperplane {

/// Directs the log to stderr. Called once.
void start_log();

namespace logging {

enum class Level { debug, info, warning, error, off };

/// Messages below this level are left out; `info` at first.
void set_level(Level level);
bool is_written(Level level);
void write(Level level, const std::string& message);

template <class... Values>
void debug(fmt::format_string<Values...> text, Values&&... values) {
    if (is_written(Level::debug)) write(Level::debug, fmt::vformat(text, fmt::make_format_args(values...)));
}
template <class... Values>
void info(fmt::format_string<Values...> text, Values&&... values) {
    if (is_written(Level::info)) write(Level::info, fmt::vformat(text, fmt::make_format_args(values...)));
}
template <class... Values>
void warn(fmt::format_string<Values...> text, Values&&... values) {
    if (is_written(Level::warning)) write(Level::warning, fmt::vformat(text, fmt::make_format_args(values...)));
}
template <class... Values>
void error(fmt::format_string<Values...> text, Values&&... values) {
    if (is_written(Level::error)) write(Level::error, fmt::vformat(text, fmt::make_format_args(values...)));
}

}  // namespace logging

}  // namespace hyperplane
