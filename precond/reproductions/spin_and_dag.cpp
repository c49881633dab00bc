// SPDX-License-Identifier: BSD-3-Clause
#include "precond/reproductions/spin_and_dag.hpp"

#include "precond/kernel_set.hpp"

namespace hyperplane {

SubdomainPrograms spin_and_dag_programs(const SubdomainShape& s, SubdomainVariant variant) {
    constexpr int threads = 256;
    const Int3 size = s.partition.size;
    const int most_levels = 1 + s.stencil.level_map().level({size.x - 1, size.y - 1, size.z - 1});
    const bool spin = variant == SubdomainVariant::spin;
    std::vector<int> x, y, z;
    for (int e = 0; e < s.order.lower; ++e) {
        x.push_back(s.stencil[e].x);
        y.push_back(s.stencil[e].y);
        z.push_back(s.stencil[e].z);
    }
    rtc::Definitions all = s.definitions(threads);
    all["UNROLLED"] = "0";  // a thread's entry is not known at compile time
    all["OFFSET_X"] = rtc::array_of(x);
    all["OFFSET_Y"] = rtc::array_of(y);
    all["OFFSET_Z"] = rtc::array_of(z);
    all["MOST_LEVELS"] = std::to_string(most_levels);
    all["SPIN"] = spin ? "1" : "0";
    all["EDGES"] = variant == SubdomainVariant::dag_edge ? "1" : "0";
    return {.source = precond_source("precond/reproductions/spin_and_dag.cuh"),
            .definitions = {all},
            .kernel = "subdomain_walk",
            .threads = threads,
            .shared = 8 * s.vector() + (spin ? 4 * s.partition.points() : 0),
            .cells = s.cells.of_point,
            .graph = spin ? 0 : 2 * (1 + most_levels + 1 + s.partition.points())};
}

void find_graphs(const Context& context, const SubdomainPrograms& programs, const Partition& partition,
                 const SubdomainSolveCuda::Arguments& arguments) {
    const rtc::Kernel<SubdomainSolveCuda::Arguments> find(context, programs.source, programs.definitions[0],
                                                          "subdomain_graph");
    const Index shared = 2 * partition.points() * Index(sizeof(int));
    find.allow_shared(shared);
    find.launch({unsigned(partition.subdomains())}, programs.threads, shared, arguments);
}

}  // namespace hyperplane
