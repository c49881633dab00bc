// SPDX-License-Identifier: BSD-3-Clause
// The keys of the Euler problem, read and checked against each other.
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
    CflRange cfl;  ///< of pseudo-transient steps

    /// star13, or star7 where no matrix reaches further.
    Stencil stencil() const;
};

/// Throws UsageError for keys that contradict each other.
GasKeys read_gas_keys(const Parameters& parameters);

}  // namespace hyperplane
