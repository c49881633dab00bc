// SPDX-License-Identifier: BSD-3-Clause
// The arguments of the kernels that solve with a general matrix's factors (precond/general/solves/solve.cuh).
#pragma once

#include "core/device/epochs.hpp"
#include "precond/general/orders/slice.hpp"

namespace hyperplane {

/// Where the records of the components of a row's solution lie.
struct PlaceOfRow {
    EpochRecord* first;  ///< of component 0
};

/// Where the blocks of a row and a triangle lie in the pattern.
struct alignas(16) SliceRow {
    long long begin;
    int blocks;
};

/// The arguments of precond/general/solves/slice.cuh, which copies factors into slices.
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
static_assert(sizeof(PlaceOfRow) == 8 && sizeof(SliceRow) == 16 && sizeof(SliceArguments) == 128);
static_assert(sizeof(GeneralSolveArguments) == 128 && sizeof(LevelSolveArguments) == 152);

}  // namespace hyperplane
