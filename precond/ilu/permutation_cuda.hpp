// SPDX-License-Identifier: BSD-3-Clause
// Copies of values between the natural layout of a rank's planes and a hyperplane layout, on a GPU.
#pragma once

#include "core/device/context.hpp"
#include "core/grid/layout.hpp"

namespace hyperplane {

/// The two layouts: plane k of the grid nx x ny x nz of the hyperplane layout is plane k - halo of the natural part.
struct Permutation {
    int nx, ny, nz, halo;
    LevelMap levels;

    Permutation(const Layout& hyperplanes, int halo_)
        : nx(hyperplanes.grid().nx),
          ny(hyperplanes.grid().ny),
          nz(hyperplanes.grid().nz),
          halo(halo_),
          levels(hyperplanes.levels()) {}
};

/// Arrays are given by their value at slot 0. The first function copies the planes [begin, end) of the hyperplane
/// layout's grid and sets the others to zero; the second one copies the planes that are no halo.
void copy_to_hyperplanes(const Context& context, const Permutation& layouts, int begin, int end, const double* natural,
                         double* hyperplanes);
void copy_from_hyperplanes(const Context& context, const Permutation& layouts, const double* hyperplanes,
                           double* natural);

}  // namespace hyperplane
