// SPDX-License-Identifier: BSD-3-Clause
// write_fields FILE NX NY NZ point|cell: a field whose value at point (i, j, k) is 100 k + 10 j + i, and
// its negative, on a grid with spacing (0.5, 0.25, 2) whose first point lies at (1, 2, 3).
#include <cstdlib>
#include <string>

#include "io/vtkhdf.hpp"

int main(int count, char** words) {
    using namespace hyperplane;
    if (count != 6) return 2;
    Grid grid;
    grid.nx = std::atoi(words[2]);
    grid.ny = std::atoi(words[3]);
    grid.nz = std::atoi(words[4]);
    grid.spacing = {0.5, 0.25, 2.0};
    grid.origin = {1.0, 2.0, 3.0};
    grid.cell_centred = std::string(words[5]) == "cell";
    std::vector<double> u, minus_u;
    for (Index row = 0; row < grid.points(); ++row) {
        const Int3 p = grid.point(row);
        u.push_back(100 * p.z + 10 * p.y + p.x);
        minus_u.push_back(-u.back());
    }
    write_vtkhdf(words[1], grid, {{"u", u}, {"minus u", minus_u}});
}
