// SPDX-License-Identifier: BSD-3-Clause
// A point in coloured order (precond/multicolor/coloured_points.hpp) in kernels that factor the points of one colour.
#pragma once

#include "precond/multicolor/factor_arguments.hpp"

namespace hyperplane {

/// The point at a place. Arguments: a ColourFactorArgumentsOf.
struct PlacedPoint {
    int place, x, y, z;
    bool exists;

    template <class Arguments>
    __device__ PlacedPoint(const Arguments& a, int at) : place(at) {
        const long long number = a.base + (long long)at * a.colours + a.colour;
        z = int(number / a.plane);
        const int rest = int(number - (long long)z * a.plane);
        y = rest / a.line;
        x = rest - y * a.line;
        exists = at < a.last && x < a.nx && y < a.ny && z < a.nz;
    }
    template <class Arguments>
    __device__ __forceinline__ bool couples(const Arguments& a, int e) const {
        return exists && unsigned(x + a.entry[e].x) < unsigned(a.nx) && unsigned(y + a.entry[e].y) < unsigned(a.ny) &&
               unsigned(z + a.entry[e].z) < unsigned(a.nz);
    }
    /// The point that an entry leads to.
    template <class Arguments>
    __device__ __forceinline__ PlacedPoint neighbour(const Arguments& a, int e) const {
        PlacedPoint q = *this;
        q.x += a.entry[e].x, q.y += a.entry[e].y, q.z += a.entry[e].z;
        return q;
    }
    template <class Arguments>
    __device__ __forceinline__ long long slot(const Arguments& a) const {
        if (a.natural) return x + a.nx * (y + (long long)a.ny * (z - a.begin_plane));
        return ((long long)((x + a.level_y * y + a.level_z * z) % a.nx) * a.nz + z) * a.ny + y;
    }
    /// The number of the point in the whole grid.
    template <class Arguments>
    __device__ __forceinline__ long long number(const Arguments& a) const {
        return x + a.nx * (y + (long long)a.ny * z);
    }
    template <class Arguments>
    __device__ __forceinline__ long long row(const Arguments& a) const {
        return number(a) - a.first_row;
    }
};

}  // namespace hyperplane
