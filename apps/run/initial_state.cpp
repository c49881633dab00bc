// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/initial_state.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <filesystem>
#include <memory>
#include <system_error>
#include <utility>
#include <vector>

#include "apps/deck/named_deck.hpp"
#include "apps/run/fingerprint.hpp"
#include "core/with_place.hpp"
#include "io/record.hpp"

namespace hyperplane {
namespace {

std::array<int, 3> extents(const Grid& grid) {
    return {grid.nx, grid.ny, grid.nz};
}

bool same_grid(const Grid& a, const Grid& b) {
    return extents(a) == extents(b) && a.spacing == b.spacing && a.origin == b.origin && a.periodic == b.periodic;
}

/// The lengths of a grid's box: bounded axes end as far behind the last point as they begin before the first one.
std::array<double, 3> box_of(const Grid& g) {
    std::array<double, 3> lengths{};
    for (int d = 0; d < 3; ++d) {
        const int n = extents(g)[d];
        lengths[d] = n == 1          ? g.spacing[d]
                     : g.periodic[d] ? n * g.spacing[d]
                                     : 2 * g.origin[d] + (n - 1) * g.spacing[d];
    }
    return lengths;
}

/// Whether the length of a box along an axis means nothing to a problem: where the axis is flat, and where it has the
/// two nodes of a plane flow of navier_stokes.
bool length_is_free(const std::string& problem, const Grid& a, const Grid& b, int axis) {
    const int n = extents(a)[axis];
    return n == extents(b)[axis] && (n == 1 || (n == 2 && problem == "navier_stokes"));
}

bool same_lengths(const std::string& problem, const Grid& a, const Grid& b) {
    const std::array<double, 3> of_a = box_of(a), of_b = box_of(b);
    for (int d = 0; d < 3; ++d)
        if (!length_is_free(problem, a, b, d) && std::abs(of_a[d] - of_b[d]) > 1e-6 * of_a[d]) return false;
    return true;
}

/// Returns the lengths of a grid's box in the notation of the deck's key grid.lengths.
std::string lengths_of(const Grid& g) {
    const std::array<double, 3> box = box_of(g);
    return fmt::format("{:.12g} {:.12g} {:.12g}", box[0], box[1], box[2]);
}

std::string spacings_of(const Grid& g) {
    return fmt::format("{:.12g} {:.12g} {:.12g}", g.spacing[0], g.spacing[1], g.spacing[2]);
}

/// The periodic axes, as grid.periodic has them.
std::string periodic_of(const Grid& g) {
    std::string axes;
    for (int d = 0; d < 3; ++d)
        if (g.periodic[d]) axes += fmt::format("{}{}", axes.empty() ? "" : " ", "xyz"[d]);
    return axes.empty() ? "none" : axes;
}

/// Returns the value that the record's deck gives a key; it is empty where that deck has no such key.
std::string of_deck(const RecordData& record, const std::string& name) {
    for (const DeckEntry& entry : parse_deck(record.deck_resolved, record.path).entries)
        if (entry.name() == name) return entry.value;
    return "";
}

/// Refuses a record that has no state, and says what would give it one.
void refuse_without_state(const RecordData& record, const std::string& where) {
    if (record.has_state) return;
    const bool kept = of_deck(record, "output.state") == "always", ended = record.exit_code >= 0;
    // The one row of a steady problem has no length.
    const bool steps = std::ranges::any_of(record.steps, [](const StepRow& row) { return std::isfinite(row.dt); });
    const std::string way = !kept    ? "run its deck again with output.state = always"
                            : !ended ? "its run has not ended; take its checkpoint, or wait for it"
                            : steps
                                ? "its run failed before a step was completed; take the record of a run that "
                                  "completed one"
                                : "its run failed before it had a solution; take the record of a run that ended well";
    throw FileError(fmt::format("{}: {} holds no state; {}", where, record.path, way));
}

/// Refuses a state of another number of block rows, where the points are those of a matrix and have no grid.
void refuse_other_rows(const RecordData& record, const Grid& grid, const std::string& where) {
    if (!grid.plain_rows || record.grid.points() == grid.points()) return;
    throw UsageError(
        fmt::format("{}: {} has {} block rows, this deck's matrix {}; take the record of a matrix with as many rows",
                    where, record.path, record.grid.points(), grid.points()));
}

/// Refuses a state of another box.
void refuse_other_box(const std::string& problem, const RecordData& record, const Grid& grid,
                      const std::string& where) {
    const auto refuse = [&](const char* key, const std::string& there, const std::string& here) {
        throw UsageError(fmt::format("{}: {} is of a box of grid.{} = {}, this deck's is of {}; set grid.{} = {}",
                                     where, record.path, key, there, here, key, there));
    };
    if (!same_lengths(problem, record.grid, grid)) refuse("lengths", lengths_of(record.grid), lengths_of(grid));
    if (record.grid.periodic != grid.periodic) refuse("periodic", periodic_of(record.grid), periodic_of(grid));
}

std::string text_of(const Grid& g) {
    return fmt::format("{} x {} x {}", g.nx, g.ny, g.nz);
}

/// Refuses a state at other points of the same box.
void refuse_other_points(const RecordData& record, const Grid& grid, const std::string& where) {
    if (same_grid(record.grid, grid)) return;
    if (extents(record.grid) != extents(grid))
        throw UsageError(
            fmt::format("{}: {} has {} points, this deck's grid {}; initial.interpolate = true takes it all the same",
                        where, record.path, text_of(record.grid), text_of(grid)));
    throw UsageError(fmt::format(
        "{}: the points of {} have the spacings {}, those of this deck's grid {}; set grid.lengths = {}, or "
        "initial.interpolate = true, which takes it all the same",
        where, record.path, spacings_of(record.grid), spacings_of(grid), lengths_of(record.grid)));
}

/// The numbers of problem.stretching for the axes, for all of which one may stand.
std::vector<double> stretching_of(const Parameters& parameters) {
    std::vector<double> s = parameters.reals("problem", "stretching");
    if (s.size() == 1) s.resize(3, s[0]);
    return s;
}

/// Refuses a state whose points lie at other places of the same box: records hold even spacings alone.
void refuse_other_stretching(const Parameters& parameters, const RecordData& record, const std::string& where) {
    if (!parameters.has("problem", "stretching")) return;
    const std::string here = parameters.text("problem", "stretching"), there = of_deck(record, "problem.stretching");
    if (there.empty()) return;
    Parameters of_record = parameters;
    of_record.set("problem", "stretching", there);
    if (stretching_of(parameters) == stretching_of(of_record)) return;
    throw UsageError(fmt::format(
        "{}: the points of {} are placed by problem.stretching = {}, this deck's by {}; take the same number", where,
        record.path, there, here));
}

std::string path_of_initial(const Case& a_case) {
    return (std::filesystem::path(folder_of(a_case.deck)) / a_case.parameters.text("initial", "file")).string();
}

/// The record of initial.file, which was found to fit.
RecordData read_initial(const Case& a_case) {
    const std::string where = a_case.parameters.where("initial", "file");
    RecordData record = with_place(where, [&] { return read_record(path_of_initial(a_case)); });
    refuse_without_state(record, where);
    if (const std::string problem = of_deck(record, "problem.name"); problem != a_case.name("problem"))
        throw UsageError(fmt::format("{}: {} is of the problem {}, this deck's is {}", where, record.path, problem,
                                     a_case.name("problem")));
    const Grid& grid = a_case.shape().grid;
    if (record.dof != a_case.shape().dof)
        throw UsageError(fmt::format("{}: {} has {} unknowns a point, this deck's problem {}", where, record.path,
                                     record.dof, a_case.shape().dof));
    refuse_other_rows(record, grid, where);
    refuse_other_box(a_case.name("problem"), record, grid, where);
    refuse_other_stretching(a_case.parameters, record, where);
    if (!a_case.parameters.boolean("initial", "interpolate")) refuse_other_points(record, grid, where);
    return record;
}

/// The file that the run writes or removes and that is initial.file, by whatever name; empty if there is none.
std::string output_that_is_initial_file(const Case& a_case) {
    if (!a_case.parameters.is_set("initial", "file")) return "";
    const std::string initial = path_of_initial(a_case);
    for (const std::string& output : a_case.output_paths()) {
        std::error_code missing;
        if (std::filesystem::equivalent(initial, output, missing)) return output;
    }
    return "";
}

/// The mark of the state of initial.file in which the run of a record began; empty if the record does not tell it.
std::string mark_in(const RecordData& record) {
    const auto item = record.environment.find(initial_state_item);
    return item == record.environment.end() ? "" : item->second;
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

/// Values at the points of another grid, for which it holds two planes of the values that it interpolates.
class Interpolation {
public:
    Interpolation(SavedValues values, const Grid& from, const Grid& to, int dof)
        : values_(std::move(values)),
          from_(from),
          to_(to),
          dof_(dof),
          x_(places(from, to, 0)),
          y_(places(from, to, 1)),
          z_(places(from, to, 2)) {}

    void read(Index first, Index count, double* found) {
        for (Index value = first; value < first + count; ++value) {
            const Index point = value / dof_, line = point / to_.nx;
            hold_planes(z_[std::size_t(line / to_.ny)]);
            *found++ = at(int(point % to_.nx), int(line % to_.ny), int(line / to_.ny), int(value % dof_));
        }
    }

private:
    struct Plane {
        int number = -1;
        std::vector<double> values;
    };

    static double mix(double low, double high, double share) { return share == 0.0 ? low : low + share * (high - low); }
    double at(int i, int j, int k, int c) const {
        const Between &x = x_[std::size_t(i)], &y = y_[std::size_t(j)];
        const auto along_x = [&](const Plane& plane, int row) {
            const auto value = [&](int column) {
                return plane.values[std::size_t((Index(row) * from_.nx + column) * dof_ + c)];
            };
            return mix(value(x.low), value(x.high), x.share);
        };
        const auto along_y = [&](const Plane& plane) {
            return mix(along_x(plane, y.low), along_x(plane, y.high), y.share);
        };
        return mix(along_y(low_), along_y(high_), z_[std::size_t(k)].share);
    }
    /// On the way up along z each plane is read once.
    void hold_planes(const Between& along_z) {
        if (low_.number != along_z.low && high_.number == along_z.low) std::swap(low_, high_);
        hold(low_, along_z.low);
        hold(high_, along_z.high);
    }
    void hold(Plane& plane, int number) const {
        if (plane.number == number) return;
        const Index size = Index(from_.nx) * from_.ny * dof_;
        plane.values.resize(std::size_t(size));
        values_.read(number * size, size, plane.values.data());
        plane.number = number;
    }

    SavedValues values_;
    Grid from_, to_;
    int dof_;
    std::vector<Between> x_, y_, z_;  ///< [point of `to` along the axis]
    Plane low_, high_;
};

}  // namespace

SavedValues interpolated(const SavedValues& values, const Grid& from, const Grid& to, int dof) {
    const auto held = std::make_shared<Interpolation>(values, from, to, dof);
    return {to.points() * dof, [held](Index first, Index count, double* found) { held->read(first, count, found); }};
}

bool initial_file_is_missing(const Case& a_case) {
    return a_case.parameters.is_set("initial", "file") && !std::filesystem::exists(path_of_initial(a_case));
}

std::string mark_of_initial_file(const Case& a_case) {
    return in_hex(fingerprint(read_initial(a_case).state.u));
}

void check_initial_file(const Case& a_case) {
    if (!a_case.parameters.is_set("initial", "file")) return;
    const RecordData initial = read_initial(a_case);
    const bool anew = std::any_of(a_case.overrides.begin(), a_case.overrides.end(),
                                  [](const std::string& text) { return text.starts_with("initial.file="); });
    if (!a_case.deck.of_record || anew) return;
    const RecordData record = read_record(a_case.deck.file);
    const std::string before = mark_in(record);
    if (before.empty() || before == in_hex(fingerprint(initial.state.u))) return;
    throw UsageError(
        fmt::format("{}: {} has changed since: it holds another state than the one in which the run of {} began; put "
                    "that file back, or set initial.file to begin in another state",
                    a_case.parameters.where("initial", "file"), initial.path, record.path));
}

void check_initial_file_unchanged(const Case& a_case, const RecordData& before) {
    if (!a_case.parameters.is_set("initial", "file") || initial_file_is_missing(a_case)) return;
    if (!output_that_is_initial_file(a_case).empty()) return;  // by now it is the run's own
    const std::string mark = mark_in(before);
    if (mark.empty() || mark == mark_of_initial_file(a_case)) return;
    throw UsageError(fmt::format(
        "{}: {} has changed since: it holds another state than the one in which the run of {} began, and that run "
        "could not be repeated; put the file back or move it away, since going on does not need it, or start over "
        "with --fresh",
        a_case.parameters.where("initial", "file"), path_of_initial(a_case), before.path));
}

void refuse_initial_file_among_outputs(const Case& a_case) {
    if (const std::string output = output_that_is_initial_file(a_case); !output.empty())
        throw FileError(
            fmt::format("{}: the run begins in the state of {} and would write over it or remove it, as {}; set "
                        "output.file to another name, or initial.file to a copy",
                        a_case.parameters.where("initial", "file"), path_of_initial(a_case), output));
}

void set_initial_state(const Case& a_case, Vector& u) {
    if (!a_case.parameters.is_set("initial", "file")) return a_case.problem->initial_state(u);
    const RecordData record = read_initial(a_case);
    const Grid& grid = a_case.shape().grid;
    const SavedValues& saved = record.state.u;
    const bool same = same_grid(record.grid, grid);
    (same ? saved : interpolated(saved, record.grid, grid, record.dof)).restore(u, a_case.shape().order());
}

}  // namespace hyperplane
