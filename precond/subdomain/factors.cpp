// SPDX-License-Identifier: BSD-3-Clause
#include "precond/subdomain/factors.hpp"

#include <algorithm>

#include "precond/factors/eliminations.hpp"

namespace hyperplane {
namespace {

/// The factors as source of a copy, which refers to points by their coordinates.
struct Triangles {
    BasicSubdomainView<const double> x;

    HYPERPLANE_HD double at(int entry, Int3 p, Int3 q, int row, int col) const {
        const Cuts& cuts = x.cuts;
        const Int3 n = cuts.count();
        const Index subdomain = p.x / cuts.size.x + n.x * (p.y / cuts.size.y + Index(n.y) * (p.z / cuts.size.z));
        const Int3 first = cuts.first_point(subdomain);
        return cuts.holds(q, first) ? x.at(subdomain, cuts.local(p, first), entry, row, col) : 0.0;
    }
};

}  // namespace

SubdomainFactors::SubdomainFactors(const Context& context, const Cuts& cuts, const StructMatrix& a,
                                   SubdomainOrder::Rows rows, FactorStorage storage)
    : context_(context),
      cuts_(cuts),
      stencil_(cuts.within(a.stencil())),
      matrix_offsets_(a.stencil().offsets()),
      symmetric_(a.symmetric()),
      order_(cuts, stencil_, a.dof(), rows, storage),
      places_(copied_to(context, "factor: places", order_.places)),
      points_(copied_to(context, "factor: places", order_.points)),
      begin_(copied_to(context, "factor: places", order_.begin)),
      tables_(copied_to(context, "factor: places", update_tables(a.stencil(), stencil_, {stencil_, false, false}))),
      offsets_(copied_to(context, "factor: places", matrix_offsets_)),
      kept_offsets_(copied_to(context, "factor: places", stencil_.offsets())),
      values_(context, "factor", count()) {}

Index SubdomainFactors::setup_bytes(Backend backend, const Cuts& cuts, const Stencil& matrix, int dof,
                                    SubdomainOrder::Rows rows, FactorStorage storage) {
    constexpr Index ratio = sizeof(double) + sizeof(long long);
    const Index pivots = backend == Backend::cuda ? cuts.subdomains() * ratio + Index(sizeof(PivotLog)) : 0;
    if (!is_narrow(storage)) return pivots;
    const Index values = cuts.subdomains() * SubdomainOrder(cuts, cuts.within(matrix), dof, rows, storage).values;
    return values * Index(sizeof(double)) + std::max(pivots, Index(sizeof(RoundingLog)));
}

Index SubdomainFactors::bytes(const Cuts& cuts, const Stencil& matrix, int dof, SubdomainOrder::Rows rows,
                              FactorStorage storage) {
    const Stencil kept = cuts.within(matrix);
    const SubdomainOrder order(cuts, kept, dof, rows, storage);
    const std::vector<int> tables = update_tables(matrix, kept, {kept, false, false});
    const Index ints = Index(order.points.size() + order.begin.size() + tables.size());
    return cuts.subdomains() * order.values * bytes_of(storage) + Index(order.places.size() * sizeof(SubdomainPlace)) +
           ints * Index(sizeof(int)) + (matrix.size() + kept.size()) * Index(sizeof(Int3));
}

bool SubdomainFactors::serves(const Cuts& cuts, const StructMatrix& a) const {
    const Int3 n = cuts.count();
    return cuts.size == cuts_.size && n == cuts_.count() && a.grid().points() == cuts_.grid.points() &&
           a.grid().nx == cuts_.grid.nx && a.grid().ny == cuts_.grid.ny && a.dof() == order_.dof &&
           a.symmetric() == symmetric_ && a.stencil().offsets() == matrix_offsets_;
}

void SubdomainFactors::factor(const StructMatrix& a, double alpha, const PivotRules& rules, PivotInverter& inverter) {
    if (values_.size() == 0) values_ = Buffer<double>(context_, "factor", count());
    if constexpr (cuda_built)
        if (context_.backend() == Backend::cuda) return factor_points(a, alpha, rules, inverter);
    factor_lines(a, alpha, inverter);
}

void SubdomainFactors::copy_triangles(const TriangleCopy& to) const {
    copy_triangles_of(
        Triangles{{cuts_, places_.data(), values_.data(), order_.values, order_.dof, stencil_.lower_size()}}, to);
}

}  // namespace hyperplane
