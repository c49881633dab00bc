// SPDX-License-Identifier: BSD-3-Clause
// The arguments of the kernels that solve the parts of a general matrix (precond/sync_free_ilu/part_solve.cuh).
#pragma once

namespace hyperplane {

/// Rows of one level of one part that a warp works on together. Entry e of row i is the packed block block + e rows +
/// i.
struct PartSlice {
    long long block;
    int first;  ///< position of its first row in the order of its side
    int base;   ///< position of its part's first row
    short rows, length;
};

/// One triangle, packed slice by slice.
struct PartSide {
    const PartSlice* slices;
    const int* level_slices;        ///< [level of a part]: its first slice
    const int* part_levels;         ///< [part]: its first level
    const unsigned short* local;    ///< [position]: the row's number within its part
    const unsigned short* columns;  ///< [packed block]: the column's number within its part
    void* values;                   ///< [slice][entry][column of the block][row of the slice][row of the block]
    unsigned char* exponents;       ///< of half_scaled: [position][component]
    int slice_count;
};

struct PartArguments {
    const long long* row_begin;  // of the factors
    const long long* diagonal;
    const void* factors;             // in their storage
    const unsigned char* exponents;  // of half_scaled: [W, D^-1 or G][row][component]
    long long rows_of_pattern;
    const int* part_rows;              // [part]: position of its first row
    const int* rows;                   // part by part, ascending
    const unsigned short* places;      // [position in `rows`]: the row's number within its part
    const int* numbered;               // part by part, the rows in the order of these numbers
    void* inverse;                     // of the diagonal blocks, by the upper side's slices
    unsigned char* inverse_exponents;  // of half_scaled: [position of the upper side][component]
    PartSide lower, upper;
    const double* in;
    double* out;
};
static_assert(sizeof(PartSlice) == 24 && sizeof(PartSide) == 64 && sizeof(PartArguments) == 232);

}  // namespace hyperplane
