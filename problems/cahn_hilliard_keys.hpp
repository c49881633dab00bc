// SPDX-License-Identifier: BSD-3-Clause
// The keys of the Cahn-Hilliard problem: their values, read and checked for contradictions.
#pragma once

#include "problems/cahn_hilliard_mixture.hpp"

namespace hyperplane {

struct MixtureKeys {
    Domain domain;
    int fields = 2;
    Mixture mixture;
    MixtureState start;
    bool manufactured = false;  ///< whether a source makes the manufactured fields the solution
    bool averaged = false;      ///< whether the scheme is avf
    bool own_state = true;      ///< whether the run begins in its own state, with these means, not in a file's
    Index starting_steps = 0;   ///< steps of implicit Euler before those of avf
    double time_step = 3.27e-5;
};

/// Throws UsageError if keys contradict each other.
MixtureKeys read_mixture_keys(const Parameters& parameters);

}  // namespace hyperplane
