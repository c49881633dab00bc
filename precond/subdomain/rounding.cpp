// SPDX-License-Identifier: BSD-3-Clause
#include "precond/subdomain/factors.hpp"
#include "precond/walks/for_each_element.hpp"

namespace hyperplane {
namespace {

/// Rounds row r of W, D^-1 and G at a point; the points of a subdomain are visited in the order of steps.
template <class T>
struct RoundRow {
    SubdomainFactorView from;
    BasicSubdomainView<T> to;
    const int* points;
    RoundingLog* log;

    HYPERPLANE_HD void operator()(int at, int) const {
        const int dof = from.dof, r = at % dof, number = at / dof % from.partition.points();
        const Index subdomain = at / (dof * from.partition.points());
        const int local = points[number];
        const Int3 p = from.partition.point(local, from.partition.first_point(subdomain));
        if (!from.partition.grid.contains(p)) return;
        const unsigned long long row = from.partition.grid.row(p) * dof + r;
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

}  // namespace

template <class T>
void SubdomainFactors::round_to(RoundingLog* log) {
    const int dof = order_.dof, lower = stencil_.lower_size();
    const RoundRow<T> row{
        {partition_, places_.data(), values_.data(), order_.values, dof, lower},
        {partition_, places_.data(), reinterpret_cast<T*>(reduced_.data()), order_.values, dof, lower},
        points_.data(),
        log};
    for_each_element(context_.backend(), partition_.subdomains() * partition_.points() * dof, 1, "rounding of factors",
                     row);
}

Rounding SubdomainFactors::round() {
    const Index words = factor_bytes() / Index(sizeof(std::uint32_t));
    if (reduced_.size() == 0) reduced_ = Buffer<std::uint32_t>(context_, "factor", words);
    const Rounding met = rounding_by(context_, partition_.grid, order_.dof, 3, [&](RoundingLog* log) {
        storage() == FactorStorage::single_precision ? round_to<float>(log) : round_to<Half>(log);
    });
    values_ = {};
    return met;
}

template <class T>
void SubdomainFactors::widen_to(StructMatrix& host) const {
    std::vector<T> kept(static_cast<std::size_t>(count()));
    if (context_.backend() == Backend::cuda)
        device::copy(data(), kept.data(), factor_bytes());
    else
        std::copy_n(values<T>(), kept.size(), kept.begin());
    const int dof = order_.dof, lower = stencil_.lower_size();
    const BasicSubdomainView<T> x{partition_, order_.places.data(), kept.data(), order_.values, dof, lower};
    for (Index subdomain = 0; subdomain < partition_.subdomains(); ++subdomain)
        for (int local = 0; local < partition_.points(); ++local) {
            const Int3 p = partition_.point(local, partition_.first_point(subdomain));
            if (!partition_.grid.contains(p)) continue;
            const auto element = [&](int e, int r, int c) {
                const int part = e < lower ? 0 : e > lower ? 1 : 2;
                const double scale = RowRounding<T>::scales ? scale_of(x.exponent(subdomain, local, part, r)) : 1.0;
                return hyperplane::widened(x.at(subdomain, local, e, r, c)) * scale;
            };
            for (int e = 0; e < stencil_.size(); ++e)
                for (int r = 0; r < dof; ++r)
                    for (int c = 0; c < dof; ++c) host.values(e, r, c)[partition_.grid.row(p)] = element(e, r, c);
        }
}

StructMatrix SubdomainFactors::widened() const {
    Grid grid = partition_.grid;
    grid.periodic = {false, false, false};
    StructMatrix host(Context::cpu(), Layout(LayoutKind::natural, grid, {}), stencil_, order_.dof, MatrixStorage::full,
                      "factor");
    switch (storage()) {
        case FactorStorage::double_precision: widen_to<double>(host); break;
        case FactorStorage::single_precision: widen_to<float>(host); break;
        case FactorStorage::half_scaled: widen_to<Half>(host); break;
    }
    return host;
}

}  // namespace hyperplane
