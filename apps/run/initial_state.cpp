// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/initial_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <system_error>

#include "apps/deck/named_deck.hpp"
#include "core/interfaces/given_order.hpp"
#include "core/with_place.hpp"

namespace hyperplane {
namespace {

std::array<int, 3> extents(const Grid& grid) {
    return {grid.nx, grid.ny, grid.nz};
}

bool same_grid(const Grid& a, const Grid& b) {
    return extents(a) == extents(b) && a.spacing == b.spacing && a.origin == b.origin && a.periodic == b.periodic;
}

/// Whether the outermost points differ by no more than the spacings, as those of two grids of one box do.
bool same_box(const Grid& a, const Grid& b) {
    for (int d = 0; d < 3; ++d) {
        const auto last = [d](const Grid& g) { return g.origin[d] + (extents(g)[d] - 1) * g.spacing[d]; };
        const double apart = 1.001 * std::max(a.spacing[d], b.spacing[d]);
        const bool flat = extents(a)[d] == 1 && extents(b)[d] == 1;
        if (!flat && (std::abs(a.origin[d] - b.origin[d]) > apart || std::abs(last(a) - last(b)) > apart)) return false;
    }
    return a.periodic == b.periodic;
}

std::string text_of(const Grid& g) {
    return fmt::format("{} x {} x {}", g.nx, g.ny, g.nz);
}

std::string problem_of(const RecordData& record) {
    for (const DeckEntry& entry : parse_deck(record.deck_resolved, record.path).entries)
        if (entry.name() == "problem.name") return entry.value;
    return "";
}

std::string path_of_initial(const Case& a_case) {
    return (std::filesystem::path(folder_of(a_case.deck)) / a_case.parameters.text("initial", "file")).string();
}

/// The record of initial.file, which was found to fit.
RecordData read_initial(const Case& a_case) {
    const std::string where = a_case.parameters.where("initial", "file");
    RecordData record = with_place(where, [&] { return read_record(path_of_initial(a_case)); });
    if (!record.has_state)
        throw FileError(
            fmt::format("{}: {} holds no state; run its deck again with output.state = always", where, record.path));
    if (const std::string problem = problem_of(record); problem != a_case.name("problem"))
        throw UsageError(fmt::format("{}: {} is of the problem {}, this deck's is {}", where, record.path, problem,
                                     a_case.name("problem")));
    const Grid& grid = a_case.shape().grid;
    if (record.dof != a_case.shape().dof)
        throw UsageError(fmt::format("{}: {} has {} unknowns a point, this deck's problem {}", where, record.path,
                                     record.dof, a_case.shape().dof));
    if (!same_box(record.grid, grid))
        throw UsageError(fmt::format("{}: {} is of another box or of other periodic axes", where, record.path));
    if (!same_grid(record.grid, grid) && !a_case.parameters.boolean("initial", "interpolate"))
        throw UsageError(
            fmt::format("{}: {} has {} points, this deck's grid {}; initial.interpolate = true takes it "
                        "all the same",
                        where, record.path, text_of(record.grid), text_of(grid)));
    return record;
}

/// The two points of an axis between which a place lies, and the share of the second one.
struct Between {
    int low, high;
    double share;
};

std::vector<Between> places(const Grid& from, const Grid& to, int d) {
    std::vector<Between> found;
    const int n = extents(from)[d];
    for (int i = 0; i < extents(to)[d]; ++i) {
        const double at = (to.origin[d] + i * to.spacing[d] - from.origin[d]) / from.spacing[d];
        if (from.periodic[d]) {
            const double low = std::floor(at);
            const int wrapped = ((int(low) % n) + n) % n;
            found.push_back({wrapped, (wrapped + 1) % n, at - low});
            continue;
        }
        const double inside = std::clamp(at, 0.0, double(n - 1));
        const int low = std::min(int(inside), std::max(0, n - 2));
        found.push_back({low, std::min(low + 1, n - 1), inside - low});
    }
    return found;
}

}  // namespace

std::vector<double> interpolate(const std::vector<double>& values, const Grid& from, const Grid& to, int dof) {
    const auto x = places(from, to, 0), y = places(from, to, 1), z = places(from, to, 2);
    std::vector<double> found;
    found.reserve(std::size_t(to.points() * dof));
    const auto at = [&](int i, int j, int k, int c) { return values[std::size_t(from.row({i, j, k}) * dof + c)]; };
    const auto mix = [](double low, double high, double share) {
        return share == 0.0 ? low : low + share * (high - low);
    };
    for (const Between& c : z)
        for (const Between& b : y)
            for (const Between& a : x)
                for (int k = 0; k < dof; ++k) {
                    const auto along_x = [&](int j, int l) {
                        return mix(at(a.low, j, l, k), at(a.high, j, l, k), a.share);
                    };
                    const auto along_y = [&](int l) { return mix(along_x(b.low, l), along_x(b.high, l), b.share); };
                    found.push_back(mix(along_y(c.low), along_y(c.high), c.share));
                }
    return found;
}

void check_initial_file(const Case& a_case) {
    if (a_case.parameters.is_set("initial", "file")) read_initial(a_case);
}

void refuse_initial_file_among_outputs(const Case& a_case) {
    if (!a_case.parameters.is_set("initial", "file")) return;
    const std::string initial = path_of_initial(a_case);
    for (const std::string& output : a_case.output_paths()) {
        std::error_code missing;
        if (std::filesystem::equivalent(initial, output, missing))
            throw FileError(
                fmt::format("{}: the run begins in the state of {} and would write over it or remove it, as {}; set "
                            "output.file to another name, or initial.file to a copy",
                            a_case.parameters.where("initial", "file"), initial, output));
    }
}

void set_initial_state(const Case& a_case, Vector& u) {
    if (!a_case.parameters.is_set("initial", "file")) return a_case.problem->initial_state(u);
    const RecordData record = read_initial(a_case);
    const Grid& grid = a_case.shape().grid;
    const SavedValues& saved = record.state.u;
    if (same_grid(record.grid, grid))
        saved.restore(u, a_case.shape().order());
    else
        from_given_order(a_case.shape(), interpolate(saved.all(), record.grid, grid, record.dof), u);
}

}  // namespace hyperplane
