// SPDX-License-Identifier: BSD-3-Clause
#include "precond/factors/ilu_factors.hpp"

#include <vector>

#include "core/device/device.hpp"

namespace hyperplane {
namespace {

const Stencil& point_stencil() {
    static const Stencil point("point", {{0, 0, 0}});
    return point;
}

/// The same slots on a grid without periodic axes. Solves skip entries that wrap around, so periodic axes need not be
/// as long as the filled stencil.
Layout without_wrap(const Layout& layout) {
    Grid grid = layout.grid();
    grid.periodic = {false, false, false};
    return Layout(layout.kind(), grid, layout.levels());
}

}  // namespace

void IluFactors::allocate(const StructMatrix& a, const IluPattern& pattern) {
    a_ = &a;
    if (!(pattern_ && *pattern_ == pattern)) pattern_ = pattern;
    const auto fits = [&](const std::optional<StructMatrix>& m, const Stencil& stencil) {
        return m && m->layout() == a.layout() && m->dof() == a.dof() && m->stencil().offsets() == stencil.offsets();
    };
    if (pattern.shares) {
        factor_.reset();
        if (!fits(inverse_, point_stencil()))
            inverse_.emplace(context_, without_wrap(a.layout()), point_stencil(), a.dof(), MatrixStorage::full,
                             "factor");
    } else if (inverse_.reset(); !fits(factor_, pattern.stencil) || factor_->storage() != a.storage()) {
        factor_.reset();
        factor_.emplace(context_, without_wrap(a.layout()), pattern.stencil, a.dof(), a.storage(), "factor");
    }
}

void IluFactors::round(const std::string& name, SetupReport& report) {
    const StructMatrix& a = *a_;
    const FactorStorage storage = pattern_->storage;
    if (!reduced_ || !reduced_->serves(storage, a.layout(), stencil().offsets(), a.dof(), a.symmetric())) {
        reduced_.reset();
        reduced_.emplace(context_, storage, a.layout(), stencil().offsets(), a.dof(), a.symmetric(),
                         places_on(a.backend()));
    }
    judge(reduced_->round(view(nullptr)), storage, name, report);
    factor_.reset();
}

ConstBlockView IluFactors::blocks(const StructMatrix& x) const {
    // On a GPU the StructMatrix serves as memory only: its values have no padding, and each block is contiguous.
    if (a_->backend() == Backend::cuda) return blocks_together(x.values(0), x.layout().slots(), x.dof());
    return block_view(x);
}

FactorTarget IluFactors::target(StructMatrix& x) const {
    const ConstBlockView at = blocks(x);
    const BlockView triangles{x.values(0), at.entry_stride, at.slot_stride, at.row_stride, at.col_stride};
    BlockView inverse = triangles;
    inverse.values += pivot_entry() * inverse.entry_stride;
    return {triangles, inverse};
}

const void* IluFactors::inverse_address() const {
    if (reduced_ && !factor_)
        return reinterpret_cast<const char*>(reduced_->values<float>().values) +
               stencil().diagonal() * reduced_->entry_stride() * bytes_of(pattern_->storage);
    const ConstBlockView at = blocks(pivots());
    return at.values + pivot_entry() * at.entry_stride;
}

FactorView IluFactors::view(const Int3* offsets) const {
    FactorView f{a_->layout(), block_view(triangles()), blocks(pivots()), offsets};
    f.inverse.values += pivot_entry() * f.inverse.entry_stride;
    f.lower = stencil().lower_size();
    f.symmetric = a_->symmetric();
    f.unit = unit_in_double();
    if (f.unit) f.triangles = blocks(triangles());
    return f;
}

TriangleFactors IluFactors::triangle_factors(const Int3* offsets) const {
    if (reduced_) return reduced_->triangle_factors();
    return view(offsets);
}

TriangleShape IluFactors::triangle_shape() const {
    return {a_->layout(), stencil().offsets(),
            a_->dof(),    a_->symmetric(),
            unit(),       reduced_ ? reduced_->storage() : FactorStorage::double_precision};
}

double IluFactors::inverse_pivot(Int3 point, int row, int col) const {
    if (reduced_) return reduced_->widened().at(point, stencil().diagonal(), row, col);
    if (a_->backend() == Backend::cpu) return pivots().at(point, pivot_entry(), row, col);
    ConstBlockView at = blocks(pivots());
    double value = 0.0;
    device::copy(&at.at(pivot_entry(), a_->layout().slot(point), row, col), &value, sizeof value);
    return value;
}

StructMatrix IluFactors::on_host() const {
    if (reduced_) return reduced_->widened();
    const StructMatrix& held = pivots();
    StructMatrix host(Context::cpu(), held.layout(), held.stencil(), held.dof(), held.storage(), "factor");
    if (a_->backend() == Backend::cpu) {
        host.assign(held);
        return host;
    }
    const Index slots = held.layout().slots(), dof = held.dof();
    std::vector<double> raw(std::size_t(held.stored_entries() * dof * dof * slots));
    device::copy(held.values(0), raw.data(), Index(raw.size() * sizeof(double)));
    const ConstBlockView at = blocks_together<const double>(raw.data(), slots, dof);
    for (int e = 0; e < held.stored_entries(); ++e)
        for (int row = 0; row < dof; ++row)
            for (int col = 0; col < dof; ++col)
                for (Index slot = 0; slot < slots; ++slot) host.values(e, row, col)[slot] = at.at(e, slot, row, col);
    return host;
}

Index IluFactors::bytes_in_double(const IluPattern& p) {
    return StructMatrix::bytes(Index(p.kept()) * p.dof * p.dof, p.layout.slots());
}

Index IluFactors::bytes(const IluPattern& p, Backend backend) {
    if (!is_reduced(p.storage)) return bytes_in_double(p);
    return ReducedFactors::bytes(p.storage, places_on(backend), p.layout.slots(), p.stencil.size(), p.dof, p.symmetric);
}

Index IluFactors::bytes_per_apply(const IluPattern& p) {
    const Index slots = p.layout.slots(), vectors = 4 * slots * p.dof * Index(sizeof(double));
    return ReducedFactors::bytes_of_solves(p.storage, slots, p.stencil.size(), p.dof) + vectors;
}

}  // namespace hyperplane
