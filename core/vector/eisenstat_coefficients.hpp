// SPDX-License-Identifier: BSD-3-Clause
// The scalars of conjugate gradients in Eisenstat's form (core/interfaces/eisenstat.hpp), for host and kernels.
#pragma once

#include "core/host_device.hpp"
#ifndef __CUDACC_RTC__
#include <cmath>
#endif

namespace hyperplane {

/// The sums of a step, in the context's memory: of the upper step s^T D^-1 s = r^T M^-1 r and t^T A t, then of the
/// lower one r^T r of the same s, and s^T D^-1 s of the s that it makes.
enum EisenstatSum { eisenstat_rho, eisenstat_tat, eisenstat_rr, eisenstat_next, eisenstat_sums };
constexpr int eisenstat_upper_sums = eisenstat_rr;  ///< the number of sums of an upper step
constexpr int eisenstat_lower_sums = eisenstat_sums - eisenstat_upper_sums;

/// The solve goes on while lowest < ||r|| <= highest.
struct EisenstatBounds {
    double lowest, highest;
};

/// The quotient of two numbers, or 0 unless both are positive and it is a number.
HYPERPLANE_HD_INLINE double eisenstat_quotient(double over, double under) {
    if (!(over > 0.0 && under > 0.0)) return 0.0;
    const double quotient = over / under;
    return quotient <= 1.7976931348623157e308 ? quotient : 0.0;
}

/// alpha of a step, from the sums of its upper half.
HYPERPLANE_HD_INLINE double eisenstat_alpha(const double* sums) {
    return eisenstat_quotient(sums[eisenstat_rho], sums[eisenstat_tat]);
}

/// The coefficients of an upper step, from the sums of the step before. Host and device compute the same bits, so what
/// the host decides by ||r|| a step that runs already has decided, too: then alpha is 0, and y stays.
struct EisenstatCoefficients {
    double alpha = 0.0, beta = 0.0;

    HYPERPLANE_HD_INLINE EisenstatCoefficients(const double* before, const EisenstatBounds& bounds) {
        const double norm = sqrt(before[eisenstat_rr]);
        if (!(norm > bounds.lowest && norm <= bounds.highest)) return;
        alpha = eisenstat_alpha(before);
        if (alpha > 0.0) beta = eisenstat_quotient(before[eisenstat_next], before[eisenstat_rho]);
    }
};

}  // namespace hyperplane
