// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/announcements.hpp"

#include <cstdint>
#include <filesystem>
#include <system_error>

#include "apps/base/log.hpp"
#include "apps/run/case.hpp"
#include "core/counted.hpp"
#include "core/ranks/cuts.hpp"

namespace hyperplane {
namespace {

constexpr std::uintmax_t large_file = 20 << 20;
constexpr Index many_rows = 100000, many_on_grid = 1000000;

}  // namespace

void announce_reading(const Context& context, const std::string& path) {
    std::error_code unknown;  // what is wrong with the file is said where it is read
    const std::uintmax_t bytes = std::filesystem::file_size(path, unknown);
    if (!unknown && bytes >= large_file && is_first_rank(context))
        logging::info("reading {}, {}", path, in_mib(Index(bytes)));
}

void announce_order(const Context& context, const std::string& name, Index rows) {
    if (rows >= many_rows && is_first_rank(context)) logging::info("finding the order {} of {} rows", name, rows);
}

bool has_large_setup(const Case& a_case) {
    return a_case.name("preconditioner") != "none" &&
           a_case.unknowns() >= (a_case.shape().pattern ? many_rows : many_on_grid);
}

std::string setup_text(const Case& a_case) {
    return "assembling the matrix and setting up " + a_case.name("preconditioner");
}

void announce_setup(const Case& a_case) {
    if (has_large_setup(a_case) && is_first_rank(a_case.context))
        logging::info("{} for {} unknowns", setup_text(a_case), a_case.unknowns());
}

}  // namespace hyperplane
