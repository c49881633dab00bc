// SPDX-License-Identifier: BSD-3-Clause
#include "precond/subdomain/partition.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>

namespace hyperplane {
Partition Partition::by_default(const Grid& grid, int dof) {
    constexpr int most_points = 2048, most_values = 48 * 1024 / int(sizeof(double));
    const int limit = std::max(1, std::min(most_points, most_values / dof));
    const std::array<int, 3> extent{grid.nx, grid.ny, grid.nz};
    std::array<int, 3> size{1, 1, 1};
    for (;;) {
        // Double the shortest side that is shorter than the grid; of equal ones x before y before z.
        int axis = -1;
        for (int a = 0; a < 3; ++a)
            if (size[a] < extent[a] && (axis < 0 || size[a] < size[axis])) axis = a;
        if (axis < 0 || 2 * size[0] * size[1] * size[2] > limit) break;
        size[axis] *= 2;
    }
    for (int a = 0; a < 3; ++a) {
        const int boxes = parts(extent[a], size[a]);
        size[a] = parts(extent[a], boxes);
    }
    return {grid, {size[0], size[1], size[2]}};
}

Partition::Range Partition::held_by(const Layout& layout) const {
    const Index of_layer = Index(count().x) * count().y;
    return {of_layer * (layout.begin_plane() / size.z), of_layer * parts(layout.end_plane(), size.z)};
}

Stencil Partition::within(const Stencil& stencil) const {
    std::vector<Int3> offsets;
    for (const Int3 o : stencil.offsets())
        if (std::abs(o.x) < size.x && std::abs(o.y) < size.y && std::abs(o.z) < size.z) offsets.push_back(o);
    return Stencil(stencil.name(), offsets);
}

SubdomainOrder::SubdomainOrder(const Partition& partition, const Stencil& stencil, int dof, Rows rows,
                               FactorStorage storage)
    : storage(storage), lower(stencil.lower_size()), dof(dof), places(partition.points()) {
    if (rows == Rows::by_line)
        arrange_by_line(partition);
    else
        arrange_by_level(partition, stencil);
    classify(partition, stencil);
    if (rows == Rows::by_point)
        place_by_point();
    else
        place_by_step(rows == Rows::by_line);
}

void SubdomainOrder::arrange_by_line(const Partition& partition) {
    for (int local = 0; local < partition.points(); ++local) {
        if (local % partition.size.x == 0) begin.push_back(local);
        points.push_back(local);
    }
    begin.push_back(partition.points());
}

void SubdomainOrder::arrange_by_level(const Partition& partition, const Stencil& stencil) {
    // A step has at most 256 rows, one for each of 256 threads, and at most 21 KiB of values. These are three points of
    // box27 with eight unknowns in double precision; fewer points would leave half a warp idle.
    constexpr int most_rows = 256, most_bytes = 21 * 1024;
    const int point_bytes = (lower + 1) * dof * dof * int(bytes_of(storage));
    const int most = std::max(1, std::min(most_rows / dof, most_bytes / point_bytes));
    const LevelMap map = stencil.level_map();
    std::vector<std::vector<int>> by_level(
        1 + map.level({partition.size.x - 1, partition.size.y - 1, partition.size.z - 1}));
    for (int local = 0; local < partition.points(); ++local)
        by_level[map.level(partition.point(local, {}))].push_back(local);
    for (const std::vector<int>& level : by_level) {
        if (!level.empty()) levels.push_back(int(points.size()));
        const int parts = Partition::parts(int(level.size()), most);
        for (int part = 0; part < parts; ++part) {
            begin.push_back(int(points.size()));
            const auto at = [&](int p) { return level.begin() + std::ptrdiff_t(level.size()) * p / parts; };
            points.insert(points.end(), at(part), at(part + 1));
        }
    }
    levels.push_back(int(points.size()));
    begin.push_back(int(points.size()));
}

void SubdomainOrder::classify(const Partition& partition, const Stencil& stencil) {
    std::vector<int> step_of(partition.points());
    for (int step = 0; step < steps(); ++step)
        for (int at = begin[step]; at < begin[step + 1]; ++at) step_of[points[at]] = step;
    Grid box;
    box.nx = partition.size.x, box.ny = partition.size.y, box.nz = partition.size.z;
    for (int e = 0; e < lower; ++e) {
        bool near = false;
        for (int local = 0; local < partition.points() && !near; ++local) {
            const Int3 q = partition.point(local, {}) + stencil[e];
            near = box.contains(q) && step_of[local] - step_of[partition.local(q, {})] == 1;
        }
        newest.push_back(near);
    }
}

/// Number of values that take as many bytes as the exponents of `rows` rows of one part.
int SubdomainOrder::exponent_values(int rows) const {
    return storage == FactorStorage::half_scaled ? (rows + 1) / 2 : 0;
}

int SubdomainOrder::padded(int values) const {
    const int piece = 16 / int(bytes_of(storage));
    return (values + piece - 1) / piece * piece;
}

void SubdomainOrder::place_by_step(bool lines) {
    const int block = dof * dof, bytes = int(bytes_of(storage));
    for (int step = 0; step < 2 * steps(); ++step) {
        const bool up = step < steps();
        const int n = count(step), rows = n * dof, coefficients = n * (up ? lower : lower + 1) * block;
        const int exponents = (int(values) + coefficients) * bytes;
        for (int t = 0; t < n; ++t) {
            SubdomainPlace& place = places[points[first(step) + t]];
            const int row = t * (lines ? 1 : dof);
            (up ? place.lower : place.upper) = int(values) + row;
            place.stride = rows;
            place.row_stride = lines ? n : 1;
            if (up)
                place.exponents[0] = exponents + row;
            else
                place.exponents[2] = exponents + row, place.exponents[1] = exponents + rows + row;
        }
        at.push_back(int(values));
        size.push_back(padded(coefficients + exponent_values(up ? rows : 2 * rows)));
        values += size.back();
    }
}

void SubdomainOrder::place_by_point() {
    const int block = dof * dof, count = int(places.size()), rows = count * dof;
    const int coefficients = count * (2 * lower + 1) * block, exponents = coefficients * int(bytes_of(storage));
    for (int local = 0; local < count; ++local) {
        SubdomainPlace& place = places[local];
        place = {local * lower * block, (count * lower + local * (lower + 1)) * block, dof, 1, {}};
        for (int part = 0; part < 3; ++part) place.exponents[part] = exponents + part * rows + local * dof;
    }
    values = padded(coefficients + exponent_values(3 * rows));
}

int SubdomainOrder::most_points() const {
    int most = 0;
    for (int step = 0; step < steps(); ++step) most = std::max(most, count(step));
    return most;
}

SubdomainCells::SubdomainCells(const Partition& partition, const Stencil& stencil) {
    // From a point of a step to the next, j grows by one and i falls by the level's coefficient of j. Padding makes
    // this an odd distance of doubles. Short lines are not padded.
    const bool even = (partition.size.x - stencil.level_map().y) % 2 == 0;
    pitch = even && partition.size.x > 4 && partition.size.y > 1 ? partition.size.x + 1 : partition.size.x;
    cells = pitch * partition.size.y * partition.size.z;
    for (int local = 0; local < partition.points(); ++local) {
        const Int3 p = partition.point(local, {});
        of_point.push_back(p.x + pitch * (p.y + partition.size.y * p.z));
    }
    margin = 0;
    for (int e = 0; e < stencil.lower_size(); ++e) {
        delta.push_back(stencil[e].x + pitch * (stencil[e].y + partition.size.y * stencil[e].z));
        margin = std::max(margin, std::abs(delta.back()));
    }
}

}  // namespace hyperplane
