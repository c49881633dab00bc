// SPDX-License-Identifier: BSD-3-Clause
// write_fields FILE NX NY NZ point|cell|series: the fields u, whose value at point (i, j, k) is 100 k + 10 j + i, its
// negative, and the vector (u, -u, 0), on a grid with spacing (0.5, 0.25, 2) whose first point lies at (1, 2, 3). With
// `series`, FILE shows the files FILE.0, FILE.1 and FILE.2 at the times 0, 0.5 and 1, where u is n + 1 times that.
#include <cstdlib>
#include <string>

#include "io/vtkhdf.hpp"

namespace {

using namespace hyperplane;

std::vector<NamedField> fields_of(const Grid& grid, double factor) {
    const auto u = [grid, factor](Index row) {
        const Int3 p = grid.point(row);
        return factor * (100 * p.z + 10 * p.y + p.x);
    };
    const auto scalar = [u](double sign) {
        return [u, sign](Index first, Index count, double* values) {
            for (Index at = 0; at < count; ++at) values[at] = sign * u(first + at);
        };
    };
    const auto vector = [u](Index first, Index count, double* values) {
        for (Index at = 0; at < count; ++at) {
            values[3 * at] = u(first + at);
            values[3 * at + 1] = -u(first + at);
            values[3 * at + 2] = 0.0;
        }
    };
    return {{.name = "u", .description = "", .values = scalar(1)},
            {.name = "minus u", .description = "", .values = scalar(-1)},
            {.name = "both", .components = 3, .unit = "length/time", .description = "", .values = vector}};
}

}  // namespace

int main(int count, char** words) {
    if (count != 6) return 2;
    Grid grid;
    grid.nx = std::atoi(words[2]);
    grid.ny = std::atoi(words[3]);
    grid.nz = std::atoi(words[4]);
    grid.spacing = {0.5, 0.25, 2.0};
    grid.origin = {1.0, 2.0, 3.0};
    const std::string path = words[1], kind = words[5];
    grid.cell_centred = kind == "cell";
    const Context host = Context::cpu(1);
    if (kind != "series") {
        write_vtkhdf(path, grid, fields_of(grid, 1), host);
        return 0;
    }
    std::vector<TimedFile> files;
    for (int n = 0; n < 3; ++n) {
        const std::string part = path + "." + std::to_string(n);
        write_vtkhdf(part, grid, fields_of(grid, n + 1), host);
        files.push_back({0.5 * n, part.substr(part.rfind('/') + 1)});
    }
    write_vtkhdf_series(path, grid, fields_of(grid, 1), files);
}
