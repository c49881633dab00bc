// SPDX-License-Identifier: BSD-3-Clause
// The scalars of conjugate gradients in Eisenstat's form (core/interfaces/eisenstat.hpp), for host and kernels.
#pragma once

#include "core/host_device.hpp"
#ifndef __CUDACC_RTC__
#include <cmath>
#endif

namespace hyperplane {

/// The sums of an iteration, in the context's memory: r^T r, s^T D^-1 s = r^T M^-1 r, p^T D^-1 w = t^T A t,
/// s^T D^-1 w and w^T D^-1 w.
enum EisenstatSum { eisenstat_rr, eisenstat_rho, eisenstat_pw, eisenstat_sw, eisenstat_ww, eisenstat_sums };

/// The solve goes on while lowest < ||r|| <= highest.
struct EisenstatBounds {
    double lowest, highest;
};

/// The coefficients of a step, from the sums of the step before. Host and device compute the same bits, so what the
/// host decides by ||r|| a step that runs already has decided, too: then alpha is 0, and y stays.
struct EisenstatCoefficients {
    double alpha = 0.0, beta = 0.0;

    HYPERPLANE_HD_INLINE EisenstatCoefficients(const double* before, const EisenstatBounds& bounds) {
        const double norm = sqrt(before[eisenstat_rr]), rho = before[eisenstat_rho], pw = before[eisenstat_pw];
        if (!(norm > bounds.lowest && norm <= bounds.highest && rho > 0.0 && pw > 0.0)) return;
        const double quotient = rho / pw;
        if (!(quotient <= 1.7976931348623157e308)) return;
        alpha = quotient;
        // (s - alpha w)^T D^-1 (s - alpha w)
        const double next = fma(alpha, fma(alpha, before[eisenstat_ww], -2.0 * before[eisenstat_sw]), rho);
        if (next > 0.0 && next <= 1.7976931348623157e308) beta = next / rho;
    }
};

}  // namespace hyperplane
