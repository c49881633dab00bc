// SPDX-License-Identifier: BSD-3-Clause
// StructILU's triangular solves on a GPU: launches, and the tiles' memory. The kernel is
// precond/triangular/wavefront/solve.cuh.
#pragma once

#include <memory>
#include <string>

#include "core/interfaces/eisenstat.hpp"
#include "precond/factors/ilu_factors.hpp"
#include "precond/triangular/edges_between_ranks.hpp"
#include "precond/triangular/wavefront/arguments.hpp"
#include "precond/triangular/wavefront/eisenstat.hpp"
#include "precond/triangular/wavefront/solve_shape.hpp"
#include "precond/tuning.hpp"
#include "precond/walks/tiles.hpp"

namespace hyperplane::wavefront_cuda {

/// Whether the solves compute r^T z, too. It is summed by tiles, an order that only the hyperplane layout of one rank
/// has; in the natural layout and on several ranks sums follow the planes.
bool computes_dot(const IluPattern& system);

/// Addresses of factors on the device, in the pattern's storage.
struct FactorAddresses {
    const void* triangles;  ///< W, D^-1 and G in their places; for D-ILU the matrix
    const void* inverse;    ///< D^-1
    Index stride;           ///< number of slots that an entry has room for
    Index distance;         ///< of the components of r and z
    const RowExponent *of_lower = nullptr, *of_upper = nullptr;  ///< half_scaled: precond/factors/reduced.hpp
};
FactorAddresses addresses_of(const IluFactors& factors);
FactorAddresses addresses_of(const ScaledTriangle& scaled);

class Solves {
public:
    /// `eisenstat`: whether the steps of Eisenstat's form are wanted, too.
    Solves(const Context& context, const IluPattern& system, const Geometry& geometry, const StructIluTuning& tuning,
           bool eisenstat);

    /// y = (I + W)^-1 r; for D-ILU y = D^-1 (I + E D^-1)^-1 r. `dot` must be the same address, or null, for both
    /// solves. If it is given, M must be symmetric, and one of the solves writes r^T M^-1 r to it.
    void lower(const FactorAddresses& factors, const double* in, double* out, double* dot);
    void upper(const FactorAddresses& factors, const double* in, double* out, double* dot);

    /// Whether there are solves of vectors in single precision: with one unknown and factors in reduced precision.
    static bool has_single(const IluPattern& system) {
        return system.dof == 1 && is_reduced(system.storage) && !system.of_rank;
    }
    /// The same with such vectors. The kernels are loaded at the first call.
    void lower(const FactorAddresses& factors, const float* in, float* out);
    void upper(const FactorAddresses& factors, float* z);

    /// The steps of EisenstatForm.
    void upper_step(const ScaledTriangle& scaled, const double* before, const EisenstatBounds& bounds,
                    const EisenstatVectors& v, double* sums);
    void lower_step(const ScaledTriangle& scaled, const EisenstatVectors& v, double* sums);

    /// Device memory held.
    static Index bytes(const IluPattern& system, const Geometry& geometry, const StructIluTuning& tuning,
                       bool eisenstat);
    static rtc::Programs programs(const IluPattern& system, const Geometry& geometry, const StructIluTuning& tuning,
                                  bool eisenstat);
    /// The programs of solves with vectors in single precision, where has_single.
    static rtc::Programs single_programs(const IluPattern& system, const Geometry& geometry,
                                         const StructIluTuning& tuning);
    std::string describe() const;

private:
    using Arguments = SolveArguments<const void, rtc::most_entries>;
    using Kernel = rtc::Kernel<Arguments>;
    Kernel load(const SolveShape& shape, const rtc::Definitions& definitions) const;
    void launch(const Kernel& kernel, const SolveShape& shape, bool upper, const FactorAddresses& factors,
                const void* in, void* out, double* dot, const EisenstatArguments& eisenstat = {});

    const Context context_;
    const IluPattern system_;
    const Geometry geometry_;
    const StructIluTuning tuning_;
    SolveShape shape_, step_shape_;  ///< of solves, and of steps of Eisenstat's form
    Tiles tiles_;
    DeviceTiles device_tiles_;
    Buffer<EpochRecord> edges_;
    Buffer<TicketState> state_;
    Buffer<double> partial_;
    Kernel lower_, upper_, dotting_;                    ///< `dotting_`: the solve that also computes the dot product
    Kernel lower_single_, upper_single_;                ///< of vectors in single precision
    Kernel lower_step_, upper_step_;                    ///< of Eisenstat's form
    std::unique_ptr<EdgesBetweenRanks> between_ranks_;  ///< where ranks have planes of each other
};

}  // namespace hyperplane::wavefront_cuda
