// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/announcements.hpp"

#include <cstdint>
#include <filesystem>
#include <system_error>

#include "apps/log.hpp"
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

void announce_setup(const Case& a_case) {
    const SystemShape& shape = a_case.shape();
    const std::string& name = a_case.name("preconditioner");
    const Index unknowns = shape.grid.points() * shape.dof;
    if (name != "none" && unknowns >= (shape.pattern ? many_rows : many_on_grid) && is_first_rank(a_case.context))
        logging::info("assembling the matrix and setting up {} for {} unknowns", name, unknowns);
}

}  // namespace hyperplane
