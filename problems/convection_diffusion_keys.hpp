// SPDX-License-Identifier: BSD-3-Clause
// The keys of the convection-diffusion problem: their values, read and checked for contradictions.
#pragma once

#include <algorithm>
#include <limits>

#include "problems/convection_diffusion.hpp"
#include "problems/source_term.hpp"

namespace hyperplane {

enum class InitialKind { zero, gaussian, random };

struct TransportKeys {
    Domain domain;
    Wind wind;
    double viscosity = 1e-3;
    Scheme scheme = Scheme::upwind, preconditioner_scheme = Scheme::upwind;
    double time_step = std::numeric_limits<double>::infinity();  ///< infinity: steady
    SourceKind source = SourceKind::zero;
    ExactSolution exact;
    bool hot_wall = false;  ///< u = 1 on the face x = Lx
    std::uint64_t seed = 1;
    InitialKind initial = InitialKind::zero;
    std::array<double, 3> gaussian_centre{0.3, 0.3, 0.3};
    double gaussian_sharpness = 100.0;

    bool steady() const { return time_step == std::numeric_limits<double>::infinity(); }
    bool singular() const { return steady() && !domain.has_boundary(); }
    /// The largest velocity component along axes that are not flat.
    double largest_velocity() const {
        double largest = 0.0;
        for (int axis = 0; axis < 3; ++axis)
            if (!domain.flat(axis)) largest = std::max(largest, wind.largest(axis));
        return largest;
    }
};

/// Throws UsageError if keys contradict each other.
TransportKeys read_transport_keys(const Parameters& parameters);

}  // namespace hyperplane
