// SPDX-License-Identifier: BSD-3-Clause
// The variants spin, dag_vertex and dag_edge of subdomain_ildu0, which serve only for comparison; the text of their
// kernels is precond/reproductions/spin_and_dag.cuh.
#pragma once

#include "precond/subdomain/solve_cuda.hpp"

namespace hyperplane {

SubdomainPrograms spin_and_dag_programs(const SubdomainShape& shape, SubdomainVariant variant);

/// Finds the levels in the graph of each subdomain's pattern, and writes them to arguments.graph.
void find_graphs(const Context& context, const SubdomainPrograms& programs, const Partition& partition,
                 const SubdomainSolveCuda::Arguments& arguments);

}  // namespace hyperplane
