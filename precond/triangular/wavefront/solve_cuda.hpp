// SPDX-License-Identifier: BSD-3-Clause
// StructILU's triangular solves on a GPU: the choice of shapes, launches, and the tiles' memory. The kernel is
// precond/triangular/wavefront/solve.cuh.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "precond/factors/ilu_factors.hpp"
#include "precond/triangular/wavefront/arguments.hpp"
#include "precond/triangular/wavefront/between_ranks.hpp"
#include "precond/walks/tiles.hpp"

namespace hyperplane::wavefront_cuda {

/// Whether the solves compute r^T z, too. It is summed by tiles, an order that only the hyperplane layout of one rank
/// has; in the natural layout and on several ranks sums follow the planes.
bool computes_dot(const IluPattern& system);

/// How a solve is divided into tiles and threads, and how much shared memory a tile takes.
struct SolveShape {
    TileShape tile;
    int stages, lookahead, halo_threads;
    Index shared;
    int consumer_threads;  ///< of one group
    int groups, producer_threads, blocks;
    int producer_lines = 1, run = 1;  ///< lines of a producer thread, and of one copy

    SolveShape(const IluPattern& system, const Geometry& geometry, const StructIluTuning& tuning);
    int threads() const { return groups * consumer_threads + producer_threads + lookahead * halo_threads; }
    /// Number of edges that a tile writes at a level.
    int edge_records(const Geometry& geometry, int dof) const;
};

/// Addresses of factors on the device, in the pattern's storage.
struct FactorAddresses {
    const void* triangles;  ///< W, D^-1 and G in their places; for D-ILU the matrix
    const void* inverse;    ///< D^-1
    Index stride;           ///< number of slots that an entry has room for
    Index distance;         ///< of the components of r and z
    const RowExponent *of_lower = nullptr, *of_upper = nullptr;  ///< half_scaled: precond/factors/reduced.hpp
};
FactorAddresses addresses_of(const IluFactors& factors);

class Solves {
public:
    Solves(const Context& context, const IluPattern& system, const Geometry& geometry, const StructIluTuning& tuning);

    /// y = (I + W)^-1 r; for D-ILU y = D^-1 (I + E D^-1)^-1 r. `dot` must be the same address, or null, for both
    /// solves. If it is given, M must be symmetric, and one of the solves writes r^T M^-1 r to it.
    void lower(const FactorAddresses& factors, const double* in, double* out, double* dot);
    void upper(const FactorAddresses& factors, const double* in, double* out, double* dot);

    /// Device memory held.
    static Index bytes(const IluPattern& system, const Geometry& geometry, const StructIluTuning& tuning);
    static rtc::Programs programs(const IluPattern& system, const Geometry& geometry, const StructIluTuning& tuning);
    std::string describe() const;

private:
    using Arguments = SolveArguments<const void, rtc::most_entries>;
    using Kernel = rtc::Kernel<Arguments>;
    void launch(const Kernel& kernel, bool upper, const FactorAddresses& factors, const double* in, double* out,
                double* dot);

    const IluPattern system_;
    SolveShape shape_;
    Tiles tiles_;
    DeviceTiles device_tiles_;
    Buffer<Edge> edges_;
    Buffer<SolveState> state_;
    Buffer<double> partial_;
    Kernel lower_, upper_, dotting_;                    ///< `dotting_`: the solve that also computes the dot product
    std::unique_ptr<EdgesBetweenRanks> between_ranks_;  ///< where ranks have planes of each other
};

}  // namespace hyperplane::wavefront_cuda
