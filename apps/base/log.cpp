// SPDX-License-Identifier: BSD-3-Clause
#include "apps/base/log.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include "io/hdf5.hpp"

namespace hyperplane {

void start_log() {
    spdlog::drop("hyperplane");
    spdlog::set_level(spdlog::level::info);
    auto log = spdlog::stderr_color_mt("hyperplane");
    log->set_pattern("%^%l:%$ %v");
    spdlog::set_default_logger(std::move(log));
    hdf5::set_log([](const std::string& message) { logging::debug("{}", message); });
}

namespace logging {
namespace {

spdlog::level::level_enum level_of_spdlog(Level level) {
    switch (level) {
        case Level::debug: return spdlog::level::debug;
        case Level::info: return spdlog::level::info;
        case Level::warning: return spdlog::level::warn;
        case Level::error: return spdlog::level::err;
        case Level::off: break;
    }
    return spdlog::level::off;
}

}  // namespace

void set_level(Level level) {
    spdlog::set_level(level_of_spdlog(level));
}

void write(Level level, fmt::string_view text, fmt::format_args values) {
    const auto of_spdlog = level_of_spdlog(level);
    if (spdlog::should_log(of_spdlog)) spdlog::log(of_spdlog, "{}", fmt::vformat(text, values));
}

}  // namespace logging
}  // namespace hyperplane
