// SPDX-License-Identifier: BSD-3-Clause
// The argument of the kernels that solve subdomains (precond/subdomain/solve.cuh, precond/subdomain/spin_and_dag.cuh).
#pragma once

namespace hyperplane {

template <class Value>
struct SubdomainArguments {
    Value* factors;  // [subdomain][subdomain_values]
    const double* in;
    double* out;
    const int* cells;  // of the points, step by step; in spin_and_dag.cuh by local number
    int* graph;        // of spin_and_dag.cuh
    long long subdomain_values, slots;
    int nx, ny, nz, level_y, level_z, count_x, count_y;
};
static_assert(sizeof(SubdomainArguments<const double>) == 88);

}  // namespace hyperplane
