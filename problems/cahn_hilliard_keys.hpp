// SPDX-License-Identifier: BSD-3-Clause
// The keys of the Cahn-Hilliard problem, read and checked against each other.
#pragma once

#include "problems/cahn_hilliard_mixture.hpp"
#include "problems/time_parameters.hpp"

namespace hyperplane {

struct MixtureKeys {
    Domain domain;
    int fields = 2;
    Mixture mixture;
    MixtureState start;
    bool manufactured = false;  ///< a source makes the manufactured fields the solution
    bool averaged = false;      ///< avf
    Index starting_steps = 0;   ///< of implicit Euler before avf
    double time_step = 3.27e-5;
};

/// Throws UsageError for keys that contradict each other.
MixtureKeys read_mixture_keys(const Parameters& parameters);

}  // namespace hyperplane
