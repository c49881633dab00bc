// SPDX-License-Identifier: BSD-3-Clause
#include "apps/log.hpp"

#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include "io/hdf5.hpp"

namespace hyperplane {

void start_log() {
    auto log = spdlog::stderr_color_st("hyperplane");
    log->set_pattern("%^%l:%$ %v");
    spdlog::set_default_logger(std::move(log));
    hdf5::set_log([](const std::string& message) { logging::write(logging::Level::debug, message); });
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

bool is_written(Level level) {
    return spdlog::should_log(level_of_spdlog(level));
}

void write(Level level, const std::string& message) {
    spdlog::log(level_of_spdlog(level), message);
}

}  // namespace logging
}  // namespace hyperplane
