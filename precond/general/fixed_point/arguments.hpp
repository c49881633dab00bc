// SPDX-License-Identifier: BSD-3-Clause
// The argument of the kernels of a fixed-point sweep of a general matrix's factors, and of what follows it
// (precond/general/fixed_point/fixed_point.cuh).
#pragma once

#include "precond/factors/pivot_log.hpp"

namespace hyperplane {

struct FixedPointArguments {
    const long long* row_begin;  // of the filled pattern
    const int* column;
    const long long* diagonal;
    double* values;        // X after the sweep
    const double* others;  // X before it; null: no sweep, X = A
    double* inverse;       // of the diagonal blocks of X before it, [row]; invert_diagonals writes those of X after it
    const long long* a_row_begin;
    const double* a_values;
    const int* place;             // of A's blocks within their rows, -1: left out; null: A has the same pattern
    const long long* a_diagonal;  // -1: not stored; null: as `diagonal`
    PivotRatio* ratios;           // [thread block]
    PivotRule rule;
    PivotLog* log;          // null: pivots are guesses, which are not logged
    double shift;           // alpha
    long long first, rows;  // that are computed; those of other ranks precede them
    long long long_row;     // longer rows are in `long_rows`, which have thread blocks of their own; 0: there are none
    const int* long_rows;   // in no order
};
static_assert(sizeof(FixedPointArguments) == 160);

}  // namespace hyperplane
