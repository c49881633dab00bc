// SPDX-License-Identifier: BSD-3-Clause
#include "precond/subdomain/factor_tensor_cuda.hpp"

#include <algorithm>

#include "precond/factors/eliminations.hpp"
#include "precond/factors/pivot_record.hpp"
#include "precond/kernel_set.hpp"
#include "precond/subdomain/factors.hpp"

namespace hyperplane {
namespace {

constexpr int load_threads = 256, load_points = 32;

/// Warps of a thread block, each with a point at a time, and its shared memory. Two thread blocks fit a
/// multiprocessor.
struct Warps {
    int count;
    Index shared;

    Warps(int entries, int products, int points) {
        // A point's blocks, the neighbours of two points; the products, and a bit for each point.
        const Index of_point = entries * (64 * Index(sizeof(double)) + 6 * Index(sizeof(int)));
        const Index tables = products * Index(sizeof(SubdomainProduct)) + (points + 31) / 32 * Index(sizeof(int));
        count = int(std::clamp<Index>((112 * 1024 - tables) / of_point, 1, 8));
        shared = count * of_point + tables;
    }
};

}  // namespace

SubdomainFactorCuda::SubdomainFactorCuda(const Context& context, int dof)
    : load_(context, program(dof).source, program(dof).definitions, "subdomain_load"),
      factor_(context, program(dof).source, program(dof).definitions, "subdomain_factor") {}

void SubdomainFactorCuda::factor(const SubdomainFactorArguments& arguments, Index subdomains) const {
    const int points = arguments.size_x * arguments.size_y * arguments.size_z;
    const Warps warps(2 * arguments.lower + 1, arguments.products, points);
    factor_.allow_shared(warps.shared);
    const Index parts = (points + load_points - 1) / load_points;
    load_.launch({unsigned(subdomains * parts)}, load_threads, 0, arguments);
    factor_.launch({unsigned(subdomains)}, unsigned(32 * warps.count), warps.shared, arguments);
}

rtc::Program SubdomainFactorCuda::program(int dof) {
    return {precond_source("precond/subdomain/factor.cuh"),
            {{"DOF", std::to_string(dof)}, {"OPERANDS_AS_RESULTS", "1"}}};
}

std::vector<SubdomainProduct> SubdomainFactorCuda::products(const Stencil& stencil) {
    const auto [begin, u, e] = Eliminations(stencil, false, false).by_lower();
    std::vector<SubdomainProduct> all;
    for (int l = 0; l < stencil.lower_size(); ++l) {
        for (int pair = begin[l]; pair < begin[l + 1]; ++pair)
            all.push_back({short(l), short(u[pair] - stencil.lower_size()), short(e[pair]), 0});
        all.push_back({short(l), 0, short(l), 0});
        while (all.size() % SubdomainProduct::group > 0) all.push_back({short(l), -1, short(l), 0});
    }
    return all;
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
            .offsets = of_offsets(tables.offsets),
            .a_entry = tables.a_entry,
            .product = products_.data(),
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
            .products = int(products_.size()),
            .lower = stencil_.lower_size(),
            .stored = a.stored_entries(),
            .mirror = a.stencil().size() - 1};
}

}  // namespace hyperplane
