// SPDX-License-Identifier: BSD-3-Clause
// The keys of the Euler problem: their values, read and checked for contradictions.
#pragma once

#include "problems/euler_rows.hpp"
#include "problems/time_parameters.hpp"

namespace hyperplane {

struct GasKeys {
    GasFlow flow;
    FluxKind flux = FluxKind::hllc;
    Reconstruction reconstruction;
    std::array<GasBoundary, 3> boundary{};
    GasJacobian jacobian = GasJacobian::exact, preconditioner_jacobian = GasJacobian::first;
    Regime regime = Regime::transient;
    StepRule steps;
    CflRange cfl;           ///< for pseudo-transient steps
    bool own_state = true;  ///< the run begins in the problem's own state, not in that of initial.file

    /// star13, or star7 if no matrix needs more.
    Stencil stencil() const;
};

/// Throws UsageError if keys contradict each other.
GasKeys read_gas_keys(const Parameters& parameters);

}  // namespace hyperplane
