// SPDX-License-Identifier: BSD-3-Clause
#include "precond/subdomain/factor_tensor_cuda.hpp"

#include "precond/factors/eliminations.hpp"
#include "precond/factors/pivot_record.hpp"
#include "precond/kernel_set.hpp"
#include "precond/subdomain/factors.hpp"

namespace hyperplane {
namespace {

constexpr int load_threads = 256;

/// Warps of a thread block, one for each point that it factors at a time, and the shared memory for their blocks and
/// neighbours. Two thread blocks fit a multiprocessor.
struct Warps {
    int count = 8;
    Index shared;

    explicit Warps(int entries) {
        const Index of_point = entries * (64 * Index(sizeof(double)) + 3 * Index(sizeof(int)));
        while (count > 1 && count * of_point > 112 * 1024) count /= 2;
        shared = count * of_point;
    }
};

}  // namespace

SubdomainFactorCuda::SubdomainFactorCuda(const Context& context, int dof)
    : load_(context, program(dof).source, program(dof).definitions, "subdomain_load"),
      factor_(context, program(dof).source, program(dof).definitions, "subdomain_factor") {}

void SubdomainFactorCuda::factor(const SubdomainFactorArguments& arguments, Index subdomains) const {
    const int entries = 2 * arguments.lower + 1;
    const Warps warps(entries);
    factor_.allow_shared(warps.shared);
    load_.launch({unsigned(subdomains), unsigned(entries)}, load_threads, 0, arguments);
    factor_.launch({unsigned(subdomains)}, unsigned(32 * warps.count), warps.shared, arguments);
}

rtc::Program SubdomainFactorCuda::program(int dof) {
    return {{rtc::precond_texts(), "precond/subdomain/factor.cuh"},
            {{"DOF", std::to_string(dof)}, {"OPERANDS_AS_RESULTS", "1"}}};
}

void SubdomainFactors::factor_on_tensor_cores(const StructMatrix& a, double alpha, const PivotRules& rules,
                                              PivotRecord& record) {
    if (!on_tensor_cores_) on_tensor_cores_ = std::make_shared<SubdomainFactorCuda>(context_, order_.dof);
    on_tensor_cores_->factor(tensor_arguments(a, alpha, rules, record), partition_.subdomains());
}

SubdomainFactorArguments SubdomainFactors::tensor_arguments(const StructMatrix& a, double alpha,
                                                            const PivotRules& rules, PivotRecord& record) {
    const UpdateTables tables{kept_offsets_.data(), tables_.data(), stencil_};
    const PivotRule rule = rule_of(rules, symmetric_);
    const Grid& grid = partition_.grid;
    const LevelMap levels = a.layout().levels();
    const auto of_offsets = [](const Int3* offsets) {
        static_assert(sizeof(Int3) == 3 * sizeof(int));
        return reinterpret_cast<const int*>(offsets);
    };
    return {.a = a.values(0),
            .values = values_.data(),
            .places = places_.data(),
            .points = points_.data(),
            .begin = levels_.data(),
            .offsets = of_offsets(tables.offsets),
            .a_entry = tables.a_entry,
            .updates_begin = tables.begin,
            .updates = tables.updates,
            .log = record.log(),
            .smallest = record.ratios(),
            .alpha = alpha,
            .tolerance = rule.tolerance,
            .boost = rule.boost,
            .a_stride = a.stride(),
            .subdomain_values = order_.values,
            .definite = rule.definite,
            .natural = a.layout().kind() == LayoutKind::natural,
            .level_y = levels.y,
            .level_z = levels.z,
            .nx = grid.nx,
            .ny = grid.ny,
            .nz = grid.nz,
            .size_x = partition_.size.x,
            .size_y = partition_.size.y,
            .size_z = partition_.size.z,
            .count_x = partition_.count().x,
            .count_y = partition_.count().y,
            .levels = int(order_.levels.size()) - 1,
            .lower = stencil_.lower_size(),
            .stored = a.stored_entries(),
            .mirror = a.stencil().size() - 1};
}

}  // namespace hyperplane
