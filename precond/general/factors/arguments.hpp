// SPDX-License-Identifier: BSD-3-Clause
// The argument of the kernels that eliminate rows of a general matrix (precond/general/factors/search_factor.cuh), and
// what their thread blocks share.
#pragma once

#include "core/device/epochs.hpp"
#include "precond/factors/pivot_log.hpp"

namespace hyperplane {

struct GeneralFactorArguments {
    const long long* row_begin;  // of the filled pattern
    const int* column;
    const long long* diagonal;
    double* values;
    const double* others;  // the same: of rows that are eliminated
    const long long* a_row_begin;
    const double* a_values;
    const int* place;              // of A's blocks within their rows, -1: left out; null: A has the same pattern
    const long long* a_diagonal;   // -1: not stored; null: as `diagonal`
    const int* order;              // rows level by level; null: natural order
    unsigned long long* finished;  // [row]: the epoch of the last launch that has finished it
    TicketState* state;
    PivotRatio* ratios;  // [part]
    PivotRule rule;
    PivotLog* log;
    double shift;  // alpha
    long long rows;
    unsigned parts;
};
static_assert(sizeof(GeneralFactorArguments) == 160);

}  // namespace hyperplane
