// SPDX-License-Identifier: BSD-3-Clause
// The log: lines "warning: ..." on stderr. Only log.cpp reads spdlog's headers, which instantiate fmt's formatting anew
// in every source.
#pragma once

#include <fmt/format.h>

namespace hyperplane {

/// Directs the log to stderr, as does each later call, from the level `info` on.
void start_log();

namespace logging {

enum class Level { debug, info, warning, error, off };

/// Messages below this level are left out; `info` at first.
void set_level(Level level);
/// Formats the values only if the message is not left out.
void write(Level level, fmt::string_view text, fmt::format_args values);

template <class... Values>
void debug(fmt::format_string<Values...> text, Values&&... values) {
    write(Level::debug, text, fmt::make_format_args(values...));
}
template <class... Values>
void info(fmt::format_string<Values...> text, Values&&... values) {
    write(Level::info, text, fmt::make_format_args(values...));
}
template <class... Values>
void warn(fmt::format_string<Values...> text, Values&&... values) {
    write(Level::warning, text, fmt::make_format_args(values...));
}
template <class... Values>
void error(fmt::format_string<Values...> text, Values&&... values) {
    write(Level::error, text, fmt::make_format_args(values...));
}

}  // namespace logging

}  // namespace hyperplane
