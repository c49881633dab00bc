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
};

/// Throws UsageError if keys contradict each other.
FlowKeys read_flow_keys(const Parameters& parameters);

}  // namespace hyperplane
