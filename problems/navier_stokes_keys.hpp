// SPDX-License-Identifier: BSD-3-Clause
// The keys of navier_stokes.hpp: their values, read and checked for contradictions.
#pragma once

#include <vector>

#include "problems/navier_stokes_rows.hpp"
#include "problems/time_parameters.hpp"

namespace hyperplane {

struct FlowKeys {
    Domain domain;
    Flow flow;                                 ///< without the tables of the mesh
    std::array<std::vector<double>, 3> nodes;  ///< coordinates along each axis
    bool stretched = false;                    ///< along an axis their distances differ
    Regime regime = Regime::pseudo_transient;
    StepRule step;
    CflRange cfl;  ///< for pseudo-transient steps

    /// The smallest distance of two nodes along the axes that carry flow.
    double least_spacing() const;
    /// The shortest step in time with which the pressure's stabilisation still holds. tau has (2 / dt)^2, so that for
    /// dt -> 0 it vanishes like dt / 2, and with it what keeps equal-order elements stable; the pressure's error then
    /// grows like 1 / dt (Bochev, Gunzburger, Lehoucq 2007, Int. J. Numer. Meth. Fluids 53). The limit is where dt / 2
    /// is 0.06 of the tau of long steps for a velocity of 1 along each axis that carries flow, and the largest element:
    /// there the error of Ethier's and Steinman's flow had doubled (docs/problems/navier_stokes.md).
    double least_stable_step() const;
};

/// Throws UsageError if keys contradict each other.
FlowKeys read_flow_keys(const Parameters& parameters);

}  // namespace hyperplane
