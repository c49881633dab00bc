// SPDX-License-Identifier: BSD-3-Clause
// The sweeps of StructILU on a GPU: shapes, launches and what passes between tiles;
// precond/triangular/wavefront/solve.cuh begins the kernels' text.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "precond/factors/ilu_factors.hpp"
#include "precond/walks/tiles.hpp"

namespace hyperplane::struct_ilu {

/// How a sweep cuts its work, and what of a tile lies in shared memory.
struct SolveShape {
    TileShape tile;
    int stages, lookahead, halo_threads;
    Index shared;
    int worker_threads, groups, loader_threads, blocks;
    int loader_lines = 1, run = 1;  ///< lines of a loader's thread, and of one copy

    SolveShape(const IluPattern& system, const Geometry& geometry, const StructIluTuning& tuning);
    int threads() const { return groups * worker_threads + loader_threads + lookahead * halo_threads; }
    /// Records that a tile passes on at a level.
    int edge_records(const Geometry& geometry, int dof) const;
};

/// precond/triangular/wavefront/solve.cuh's Edge.
struct alignas(16) Edge {
    double value;
    std::uint64_t epoch;
};

/// precond/triangular/wavefront/solve.cuh's State.
struct State {
    unsigned ticket, done;
    std::uint64_t epoch;
};

/// Addresses on the device, of values in the pattern's storage.
struct FactorAddresses {
    const void* triangles;  ///< W, D^-1 and G in their places; for D-ILU the matrix
    const void* inverse;    ///< D^-1
    Index stride;           ///< slots that an entry has room for
    const RowExponent *of_lower = nullptr, *of_upper = nullptr;  ///< half_scaled: precond/factors/reduced.hpp
};
FactorAddresses addresses_of(const IluFactors& factors);

class Solves {
public:
    Solves(const Context& context, const IluPattern& system, const Geometry& geometry, const StructIluTuning& tuning);

    /// y = (I + W)^-1 r; for D-ILU y = D^-1 (I + E D^-1)^-1 r. Both solves are given the same `dot` or none: where it
    /// is given, one of them writes r^T M^-1 r of a symmetric M to it.
    void lower(const FactorAddresses& factors, const double* in, double* out, double* dot);
    void upper(const FactorAddresses& factors, const double* in, double* out, double* dot);

    /// Device memory held.
    static Index bytes(const IluPattern& system, const Geometry& geometry, const StructIluTuning& tuning);
    static std::vector<rtc::KernelResources> compile(const IluPattern& system, const Geometry& geometry,
                                                     const StructIluTuning& tuning, const std::string& architecture);
    std::string describe() const;

private:
    void launch(const rtc::Kernel& kernel, bool upper, const FactorAddresses& factors, const double* in, double* out,
                double* dot);

    const IluPattern system_;
    SolveShape shape_;
    Tiles tiles_;
    DeviceTiles device_tiles_;
    Buffer<Edge> edges_;
    Buffer<State> state_;
    Buffer<double> partial_;
    rtc::Kernel lower_, upper_, dotting_;  // `dotting_` is the sweep that yields the dot product
};

}  // namespace hyperplane::struct_ilu
