// SPDX-License-Identifier: BSD-3-Clause
// The argument of the kernels that solve subdomains (precond/subdomain/solve.cuh,
// precond/reproductions/spin_and_dag.cuh).
#pragma once

namespace hyperplane {

template <class Value>
struct SubdomainArguments {
    Value* factors;  // [subdomain][subdomain_values]
    const double* in;
    double* out;
    const int* cells;  // of the points in the order of steps; in spin_and_dag.cuh by local number
    int* graph;        // used by spin_and_dag.cuh alone
    long long subdomain_values, slots;
    int nx, ny, nz, level_y, level_z, count_x, count_y;
};
static_assert(sizeof(SubdomainArguments<const double>) == 88);

}  // namespace hyperplane
