// SPDX-License-Identifier: BSD-3-Clause
// The arguments of the kernels that make and use the tables of a factorisation (precond/general/orders/tables.hpp).
#pragma once

#include "precond/factors/pivot_log.hpp"
#include "precond/general/orders/slice.hpp"

namespace hyperplane {

/// A row at its position.
struct alignas(16) TableRow {
    long long diagonal;  ///< its place in the pattern
    int row;
    unsigned short below, lanes;  ///< of a short row: entries below the diagonal, and lanes that have an entry
};

/// Where a row's entries from the diagonal on lie in the pattern.
struct alignas(8) UpperRow {
    unsigned diagonal, end;
};

struct TableMakerArguments {
    const TableSlice* slices;
    const int* order;  // [position]: the row
    const long long* row_begin;
    const int* column;
    const long long* diagonal;
    UpperRow* upper;  // [row]: what note_upper_rows makes of the pointers, for one access in place of two
    TableRow* rows;
    unsigned* pivot;
    void* offset;
    long long count;  // slices
    long long all_rows;
};

/// A's values into the pattern of its factors, with zeros elsewhere.
struct SpreadArguments {
    const long long* row_begin;
    const long long* a_row_begin;
    const double* a_values;
    const int* place;  // of A's entries within their rows, -1: left out
    double* values;
    long long rows;
};

/// A value of the factors before it is known: all bits are set, a NaN that no operation results in.
constexpr long long unfinished = -1;

struct UnfinishArguments {
    long long* values;
    long long count;
};

struct TableFactorArguments {
    const TableSlice* slices;
    const TableRow* rows;
    const unsigned* pivot;
    const void* offset;
    const long long* row_begin;
    const int* column;
    const long long* diagonal;
    const double* given;  // A in the factors' pattern
    double* values;       // `unfinished` everywhere before a launch
    double* long_rows;    // what long rows are computed in
    PivotRatio* ratios;   // [thread block]
    PivotRule rule;
    PivotLog* log;
    double shift;  // alpha
    unsigned count;
};
static_assert(sizeof(TableRow) == 16 && sizeof(UpperRow) == 8);
static_assert(sizeof(TableMakerArguments) == 88 && sizeof(SpreadArguments) == 48);
static_assert(sizeof(TableFactorArguments) == 136 && sizeof(UnfinishArguments) == 16);

}  // namespace hyperplane
