// SPDX-License-Identifier: BSD-3-Clause
#include "precond/subdomain/factors.hpp"

#include <algorithm>

#include "core/device/for_each_element.hpp"
#include "precond/factors/eliminations.hpp"
#include "precond/factors/pivot_record.hpp"
#include "precond/subdomain/factor_tensor_cuda.hpp"

namespace hyperplane {
namespace {

/// The factors as source of a copy, which refers to points by their coordinates in the whole grid.
struct Triangles {
    BasicSubdomainView<const double> x;
    Index held;       ///< the first subdomain that x has
    int first_plane;  ///< of the partition's grid in the whole one

    HYPERPLANE_HD double at(int entry, Int3 p, Int3 q, int row, int col) const {
        const Partition& partition = x.partition;
        p.z -= first_plane, q.z -= first_plane;
        const Int3 n = partition.count();
        const Index subdomain =
            p.x / partition.size.x + n.x * (p.y / partition.size.y + Index(n.y) * (p.z / partition.size.z));
        const Int3 first = partition.first_point(subdomain);
        return partition.holds(q, first) ? x.at(subdomain - held, partition.local(p, first), entry, row, col) : 0.0;
    }
};

/// Rounds row r of W, D^-1 and G at a point; the points of a subdomain are visited in the order of steps.
template <class T>
struct RoundRow {
    SubdomainFactorView from;
    BasicSubdomainView<T> to;
    const int* points;
    RoundingLog* log;
    Index held;       ///< the first subdomain that there is
    Index first_row;  ///< of the partition's grid in the whole one

    HYPERPLANE_HD void operator()(int at, int) const {
        const int dof = from.dof, r = at % dof, number = at / dof % from.partition.points();
        const Index subdomain = at / (dof * from.partition.points());
        const int local = points[number];
        const Int3 p = from.partition.point(local, from.partition.first_point(held + subdomain));
        if (!from.partition.grid.contains(p)) return;
        const unsigned long long row = (first_row + from.partition.grid.row(p)) * dof + r;
        round(subdomain, local, r, 0, from.lower, 0, 3 * row);
        round(subdomain, local, r, from.lower, from.lower + 1, 2, 3 * row + 1);
        round(subdomain, local, r, from.lower + 1, 2 * from.lower + 1, 1, 3 * row + 2);
    }

private:
    /// Rounds the row's coefficients in one part, entries [first, last); `number` is the row's number in the log.
    HYPERPLANE_HD void round(Index subdomain, int local, int r, int first, int last, int part,
                             unsigned long long number) const {
        RowRounding<T> row;
        if constexpr (RowRounding<T>::scales) {
            for (int e = first; e < last; ++e)
                for (int c = 0; c < from.dof; ++c) row.see(from.at(subdomain, local, e, r, c));
            to.exponent(subdomain, local, part, r) = row.settle();
        }
        for (int e = first; e < last; ++e)
            for (int c = 0; c < from.dof; ++c)
                to.at(subdomain, local, e, r, c) = row.rounded(from.at(subdomain, local, e, r, c));
        row.tell(*log, number);
    }
};

/// The layout whose points a partition counts: a GPU computes on a rank's planes as on a grid of their own.
Layout counted_layout(const StructMatrix& a) {
    return a.backend() == Backend::cuda ? a.layout().as_own_grid() : a.layout();
}

/// The products at a point where a GPU factors points on tensor cores.
std::vector<SubdomainProduct> products_of([[maybe_unused]] const Stencil& kept, [[maybe_unused]] int dof,
                                          [[maybe_unused]] SubdomainOrder::Rows rows) {
    if constexpr (cuda_built)
        if (rows != SubdomainOrder::Rows::by_line && SubdomainFactorCuda::serves(dof))
            return SubdomainFactorCuda::products(kept);
    return {};
}

}  // namespace

SubdomainFactors::SubdomainFactors(const Context& context, const Partition& partition, const StructMatrix& a,
                                   SubdomainOrder::Rows rows, FactorStorage storage)
    : context_(context),
      partition_(partition),
      held_(partition.held_by(counted_layout(a))),
      stencil_(partition.within(a.stencil())),
      matrix_offsets_(a.stencil().offsets()),
      symmetric_(a.symmetric()),
      order_(partition, stencil_, a.dof(), rows, storage),
      places_(copied_to(context, "factor: places", order_.places)),
      points_(copied_to(context, "factor: places", order_.points)),
      levels_(copied_to(context, "factor: places", order_.levels)),
      tables_(copied_to(context, "factor: places", update_tables(a.stencil(), stencil_, {stencil_, false, false}))),
      offsets_(copied_to(context, "factor: places", matrix_offsets_)),
      kept_offsets_(copied_to(context, "factor: places", stencil_.offsets())),
      products_(copied_to(context, "factor: places", products_of(stencil_, a.dof(), rows))),
      values_(context, "factor", count()) {}

Index SubdomainFactors::setup_bytes(Backend backend, const Partition& partition, Index subdomains,
                                    const Stencil& matrix, int dof, SubdomainOrder::Rows rows, FactorStorage storage) {
    const Index pivots = backend == Backend::cuda ? PivotRecord::bytes(partition.subdomains()) : 0;
    if (!is_reduced(storage)) return pivots;
    const Index values = subdomains * SubdomainOrder(partition, partition.within(matrix), dof, rows, storage).values;
    return values * Index(sizeof(double)) + std::max(pivots, Index(sizeof(RoundingLog)));
}

Index SubdomainFactors::bytes(const Partition& partition, Index subdomains, const Stencil& matrix, int dof,
                              SubdomainOrder::Rows rows, FactorStorage storage) {
    const Stencil kept = partition.within(matrix);
    const SubdomainOrder order(partition, kept, dof, rows, storage);
    const std::vector<int> tables = update_tables(matrix, kept, {kept, false, false});
    const Index ints = Index(order.points.size() + order.levels.size() + tables.size());
    return subdomains * order.values * bytes_of(storage) + Index(order.places.size() * sizeof(SubdomainPlace)) +
           Index(products_of(kept, dof, rows).size() * sizeof(SubdomainProduct)) + ints * Index(sizeof(int)) +
           (matrix.size() + kept.size()) * Index(sizeof(Int3));
}

bool SubdomainFactors::serves(const Partition& partition, const StructMatrix& a) const {
    const Int3 n = partition.count();
    return partition.size == partition_.size && n == partition_.count() &&
           partition.held_by(counted_layout(a)) == held_ &&
           counted_layout(a).grid().points() == partition_.grid.points() && a.grid().nx == partition_.grid.nx &&
           a.grid().ny == partition_.grid.ny && a.dof() == order_.dof && a.symmetric() == symmetric_ &&
           a.stencil().offsets() == matrix_offsets_;
}

void SubdomainFactors::factor(const StructMatrix& a, double alpha, const PivotRules& rules, PivotInverter& inverter) {
    if (values_.size() == 0) values_ = Buffer<double>(context_, "factor", count());
    if constexpr (cuda_built)
        if (context_.backend() == Backend::cuda) return factor_points(a, alpha, rules, inverter);
    factor_lines(a, alpha, inverter);
}

int SubdomainFactors::first_plane(const Layout& layout) const {
    return partition_.grid.nz < layout.grid().nz ? layout.begin_plane() : 0;
}

template <class T>
void SubdomainFactors::round_to(const Layout& layout, T* values, RoundingLog* log) {
    const int dof = order_.dof, lower = stencil_.lower_size();
    const RoundRow<T> row{{partition_, places_.data(), values_.data(), order_.values, dof, lower},
                          {partition_, places_.data(), values, order_.values, dof, lower},
                          points_.data(),
                          log,
                          held_.begin,
                          layout.grid().row({0, 0, first_plane(layout)})};
    for_each_element(context_, held_.count() * partition_.points() * dof, 1, "rounding of factors", row);
}

Rounding SubdomainFactors::round(const Layout& layout) {
    if (reduced_.empty()) reduced_ = StoredValues(context_, storage(), count(), 0, "factor");
    const Rounding met = rounding_by(context_, layout, order_.dof, 3, [&](RoundingLog* log) {
        reduced_.with_values([&](auto* values) { round_to(layout, values, log); });
    });
    values_ = {};
    return met;
}

void SubdomainFactors::copy_triangles(const TriangleCopy& to) const {
    const BasicSubdomainView<const double> x{partition_,    places_.data(), values_.data(),
                                             order_.values, order_.dof,     stencil_.lower_size()};
    copy_triangles_of(Triangles{x, held_.begin, first_plane(to.layout)}, to);
}

}  // namespace hyperplane
