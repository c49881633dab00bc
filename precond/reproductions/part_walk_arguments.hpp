// SPDX-License-Identifier: BSD-3-Clause
// The arguments of the kernels that solve the parts of a general matrix by spinning or along the graph
// (precond/reproductions/part_walk.cuh).
#pragma once

namespace hyperplane {

struct PartWalkArguments {
    const long long* row_begin;  // of the factors
    const long long* diagonal;
    const double* factors;
    const int* part_rows;           // [part]: position of its first row
    const int* rows;                // [position]: the row; part by part, ascending
    const long long* begin;         // [position]: its first stored block, of those in L, on the diagonal and in G
    const int* below;               // [position]: its blocks in L
    const unsigned short* columns;  // [stored block]: the column's number within its part
    double* values;                 // [stored block][column][row]
    int* graph;                     // of the variants that go along it
    const double* in;
    double* out;
    long long count;  // rows
};
static_assert(sizeof(PartWalkArguments) == 104);

}  // namespace hyperplane
