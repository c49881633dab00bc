// SPDX-License-Identifier: BSD-3-Clause
// The arguments of the kernels that compute and solve with a general matrix's factors
// (precond/sync_free_ilu/factor.cuh, precond/general/fixed_point/fixed_point.cuh, precond/general/solves/solve.cuh),
// and what their thread blocks share.
#pragma once

#include "core/device/epochs.hpp"
#include "precond/factors/pivot_log.hpp"

namespace hyperplane {

/// Where the records of the components of a row's solution lie.
struct PlaceOfRow {
    EpochRecord* first;  ///< of component 0
};

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

/// Of a fixed-point sweep, and of what follows it (precond/general/fixed_point/fixed_point.cuh).
struct FixedPointArguments {
    const long long* row_begin;  // of the filled pattern
    const int* column;
    const long long* diagonal;
    double* values;        // X after the sweep
    const double* others;  // X before it; null: no sweep, X = A
    double* inverse;       // of the diagonal blocks of X before it, [row]; invert_diagonals writes those of X after it
    const long long* a_row_begin;
    const double* a_values;
    const int* place;             // as above
    const long long* a_diagonal;  // as above
    PivotRatio* ratios;           // [thread block]
    PivotRule rule;
    PivotLog* log;          // null: pivots are guesses, which are not logged
    double shift;           // alpha
    long long first, rows;  // that are computed; those of other ranks precede them
    long long long_row;     // longer rows are in `long_rows`, which have thread blocks of their own; 0: there are none
    const int* long_rows;   // in no order
};

/// Rows that one warp solves (precond/general/orders/slices.hpp).
struct SolveSlice {
    long long begin;  ///< of its blocks
    int first;        ///< position of its first row
    int width;        ///< blocks of a group of lanes
    int rows, lanes;  ///< lanes: groups of a row
};

/// Where the blocks of a row and a triangle lie in the pattern.
struct alignas(16) SliceRow {
    long long begin;
    int blocks;
};

struct SliceArguments {
    const SolveSlice* slices;
    SliceRow* rows;       // [position]; written while `position` is given
    const int* order;     // [position]: the row
    const int* position;  // [row]; null: the columns are there already
    const long long* row_begin;
    const int* column;
    const long long* diagonal;
    const void* values;  // the factors in their storage, in the places of the pattern
    int* sliced_column;
    void* sliced;
    void* inverse;
    const unsigned char* exponents;    // of half_scaled: [W, D^-1 or G][row of the pattern][component]
    unsigned char* sliced_exponents;   // [position][component]
    unsigned char* inverse_exponents;  // the same, of the upper triangle
    long long rows_of_pattern;
    long long count;
};

struct GeneralSolveArguments {
    const SolveSlice* slices;
    const int* column;
    const void* values;
    const void* inverse;           // of the upper solve
    const int* from;               // [position]: the row of `in`, or the record of `in_record`
    const int* to;                 // [position] of the upper solve: the row of `out`
    const double* in;              // r; of the upper solve null
    const EpochRecord* in_record;  // the lower solve's result
    EpochRecord* records;          // [position][component]
    double* out;                   // of the upper solve
    TicketState* state;
    const int* sent_begin;      // [position]: where sent_to has the records of a row; on several ranks
    const PlaceOfRow* sent_to;  // in other ranks' memory
    const unsigned char *exponents, *inverse_exponents;  // of half_scaled: [position][component]
    unsigned count;                                      // slices
};

/// The arguments of a solve by levels (precond/general/solves/level_solve.cuh).
struct LevelSolveArguments {
    GeneralSolveArguments solve;
    const int* level_begin;  // [level]: its first slice; one more is the number of slices
    const int* step;         // [step]: its first level; one more is the number of levels
    unsigned steps;
};
static_assert(sizeof(GeneralFactorArguments) == 160 && sizeof(FixedPointArguments) == 160);
static_assert(sizeof(SolveSlice) == 24 && sizeof(PlaceOfRow) == 8);
static_assert(sizeof(GeneralSolveArguments) == 128 && sizeof(SliceRow) == 16 && sizeof(SliceArguments) == 128);
static_assert(sizeof(LevelSolveArguments) == 152);

}  // namespace hyperplane
