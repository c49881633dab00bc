// SPDX-License-Identifier: BSD-3-Clause
// Factors as a preconditioner stores them, widened to double, on the host.
#pragma once

#include <algorithm>
#include <vector>

#include "precond/factors/ilu_factors.hpp"
#include "precond/subdomain/factors.hpp"

namespace hyperplane::testing_support {

/// A copy of `count` values in memory of `context`.
template <class T>
std::vector<T> fetched(const Context& context, const T* from, Index count) {
    std::vector<T> values(static_cast<std::size_t>(count));
    if (context.backend() == Backend::cuda)
        context.stream().copy(from, values.data(), count * Index(sizeof(T)));
    else
        std::copy_n(from, values.size(), values.begin());
    return values;
}

template <class T>
void widen_to(StructMatrix& host, const ReducedFactors& factors, const Context& context) {
    const Index slots = host.layout().slots(), dof = host.dof();
    const int diagonal = host.stencil().diagonal();
    BasicBlockView<const T> from = factors.values<T>();
    const auto values = fetched(context, from.values, host.stored_entries() * from.entry_stride);
    from.values = values.data();
    for (int e = 0; e < host.stored_entries(); ++e) {
        RowExponentView scales = e < diagonal   ? factors.of_lower()
                                 : e > diagonal ? factors.of_upper()
                                                : factors.of_inverse();
        const bool scaled = scales.values;
        std::vector<RowExponent> exponents;
        if (scaled)
            exponents =
                fetched(context, scales.values, (slots - 1) * scales.slot_stride + (dof - 1) * scales.row_stride + 1);
        scales.values = exponents.data();
        for (int row = 0; row < dof; ++row)
            for (int col = 0; col < dof; ++col)
                for (Index slot = 0; slot < slots; ++slot)
                    host.values(e, row, col)[slot] =
                        widened(from.at(e, slot, row, col)) * (scaled ? scale_of(scales.at(slot, row)) : 1.0);
    }
}

/// E, D^-1 and F, or W, D^-1 and G, as entries of the factors' stencil; D^-1 alone for D-ILU.
inline StructMatrix stored_factors(const IluFactors& factors) {
    const StructMatrix& a = factors.matrix();
    if (const ReducedFactors* reduced = factors.reduced()) {
        StructMatrix host(Context::cpu(), a.layout(), factors.stencil(), a.dof(), a.storage(), "factor");
        reduced->storage() == FactorStorage::single_precision ? widen_to<float>(host, *reduced, a.context())
                                                              : widen_to<Half>(host, *reduced, a.context());
        return host;
    }
    const StructMatrix& held = factors.pivots();
    StructMatrix host(Context::cpu(), held.layout(), held.stencil(), held.dof(), held.storage(), "factor");
    if (a.backend() == Backend::cpu) {
        host.assign(held);
        return host;
    }
    const Index slots = held.layout().slots(), dof = held.dof();
    const auto raw = fetched(a.context(), held.values(0), held.stored_entries() * dof * dof * slots);
    const ConstBlockView at = blocks_together(raw.data(), slots, held.dof());
    for (int e = 0; e < held.stored_entries(); ++e)
        for (int row = 0; row < dof; ++row)
            for (int col = 0; col < dof; ++col)
                for (Index slot = 0; slot < slots; ++slot) host.values(e, row, col)[slot] = at.at(e, slot, row, col);
    return host;
}

template <class T>
void widen_to(StructMatrix& host, const SubdomainFactors& factors, const Context& context) {
    const Partition& partition = factors.partition();
    const SubdomainOrder& order = factors.order();
    const int dof = order.dof, lower = factors.stencil().lower_size();
    std::vector<T> kept = fetched(context, factors.values<T>(), partition.subdomains() * order.values);
    const BasicSubdomainView<T> x{partition, order.places.data(), kept.data(), order.values, dof, lower};
    for (Index subdomain = 0; subdomain < partition.subdomains(); ++subdomain)
        for (int local = 0; local < partition.points(); ++local) {
            const Int3 p = partition.point(local, partition.first_point(subdomain));
            if (!partition.grid.contains(p)) continue;
            for (int e = 0; e < factors.stencil().size(); ++e)
                for (int r = 0; r < dof; ++r)
                    for (int c = 0; c < dof; ++c) {
                        const int part = e < lower ? 0 : e > lower ? 1 : 2;
                        const double scale =
                            RowRounding<T>::scales ? scale_of(x.exponent(subdomain, local, part, r)) : 1.0;
                        host.values(e, r, c)[partition.grid.row(p)] = widened(x.at(subdomain, local, e, r, c)) * scale;
                    }
        }
}

/// W, D^-1 and G in natural order; zero between subdomains.
inline StructMatrix stored_factors(const SubdomainFactors& factors, const Context& context) {
    Grid grid = factors.partition().grid;
    grid.periodic = {false, false, false};
    StructMatrix host(Context::cpu(), Layout(LayoutKind::natural, grid, {}), factors.stencil(), factors.order().dof,
                      MatrixStorage::full, "factor");
    switch (factors.storage()) {
        case FactorStorage::double_precision: widen_to<double>(host, factors, context); break;
        case FactorStorage::single_precision: widen_to<float>(host, factors, context); break;
        case FactorStorage::half_scaled: widen_to<Half>(host, factors, context); break;
    }
    return host;
}

}  // namespace hyperplane::testing_support
