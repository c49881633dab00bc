// SPDX-License-Identifier: BSD-3-Clause
// Traits of these factors that follow from a deck's keys.
#include "precond/sync_free_ilu/options.hpp"
#include "precond/triangular/jacobi/solve.hpp"

namespace hyperplane {

PreconditionerTraits traits_of(const SyncFreeOptions& options, bool matrix_is_symmetric) {
    const bool symmetric = matrix_is_symmetric && !options.pivots.rules.indefinite;
    return options.sweeps
               ? jacobi_traits(*options.sweeps, symmetric)
               : PreconditionerTraits{.fixed = true, .symmetric = symmetric, .varies = varying(options.part_variant)};
}

}  // namespace hyperplane
