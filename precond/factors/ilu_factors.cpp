// SPDX-License-Identifier: BSD-3-Clause
#include "precond/factors/ilu_factors.hpp"

namespace hyperplane {
void IluFactors::allocate(const StructMatrix& a, const IluPattern& pattern, const Layout& of_system) {
    a_ = &a;
    of_system_ = of_system;
    if (!(pattern_ && *pattern_ == pattern)) pattern_ = pattern;
    const auto fits = [&](const std::optional<StructMatrix>& m, const Stencil& stencil) {
        return m && m->layout() == layout() && m->dof() == a.dof() && m->stencil().offsets() == stencil.offsets();
    };
    // Solves skip entries that wrap around, so periodic axes need not be as long as the filled stencil.
    if (pattern.shares) {
        factor_.reset();
        if (!fits(inverse_, point_stencil()))
            inverse_.emplace(context_, layout().without_wrap(), point_stencil(), a.dof(), MatrixStorage::full,
                             "factor");
    } else if (inverse_.reset(); !fits(factor_, pattern.stencil) || factor_->storage() != a.storage()) {
        factor_.reset();
        factor_.emplace(context_, layout().without_wrap(), pattern.stencil, a.dof(), a.storage(), "factor");
    }
}

void IluFactors::round(const std::string& name, SetupReport& report) {
    const StructMatrix& a = *a_;
    const FactorStorage storage = pattern_->storage;
    // On a CPU the pattern's layout says whether there are couplings between ranks.
    const Layout points = a.backend() == Backend::cpu ? pattern_->layout : layout();
    if (!reduced_ || !reduced_->serves(storage, points, stencil().offsets(), a.dof(), a.symmetric())) {
        reduced_.reset();
        reduced_.emplace(context_, storage, points, stencil().offsets(), a.dof(), a.symmetric(),
                         places_on(a.backend()));
    }
    FactorView in_double = view(nullptr);
    in_double.layout = points;
    std::optional<PlanesOfRank> rank;
    if (pattern_->of_rank) rank = {of_system_, pattern_->halo};
    judge(reduced_->round(in_double, rank), storage, name, report);
    factor_.reset();
    inverse_.reset();
}

FactorTarget IluFactors::target(StructMatrix& x) const {
    const BlockView triangles = blocks(x);
    return {triangles, triangles.entry(pivot_entry())};
}

const void* IluFactors::inverse_address() const {
    if (reduced_ && !factor_ && !inverse_)
        return reinterpret_cast<const char*>(reduced_->values<float>().values) +
               stencil().diagonal() * reduced_->entry_stride() * bytes_of(pattern_->storage);
    return blocks(pivots()).entry(pivot_entry()).values;
}

ConstBlockView IluFactors::matrix_blocks() const {
    const Index before = pattern_->of_rank ? a_->space().halo_slots() : 0;
    return blocks_at(CoefficientOrder::apart, a_->values(0) - before, a_->stride(), a_->dof());
}

FactorView IluFactors::view(const Int3* offsets) const {
    FactorView f{layout(), factor_ ? blocks(*factor_) : matrix_blocks(), blocks(pivots()).entry(pivot_entry()),
                 offsets};
    f.lower = stencil().lower_size();
    f.symmetric = a_->symmetric();
    f.unit = unit_in_double();
    return f;
}

TriangleFactors IluFactors::triangle_factors(const Int3* offsets) const {
    if (reduced_) return reduced_->triangle_factors();
    return view(offsets);
}

TriangleShape IluFactors::triangle_shape() const {
    return {layout(),  stencil().offsets(),
            a_->dof(), a_->symmetric(),
            unit(),    reduced_ ? reduced_->storage() : FactorStorage::double_precision};
}

Index IluFactors::bytes_in_double(const IluPattern& p) {
    return StructMatrix::bytes(Index(p.kept()) * p.dof * p.dof, p.layout.slots_in_memory());
}

Index IluFactors::bytes(const IluPattern& p, Backend backend) {
    if (!is_reduced(p.storage)) return bytes_in_double(p);
    return ReducedFactors::bytes(p.storage, places_on(backend), p.layout.slots_in_memory(), p.stencil.size(), p.dof,
                                 p.symmetric);
}

Index IluFactors::bytes_per_apply(const IluPattern& p) {
    const Index slots = p.layout.slots(), vectors = 4 * slots * p.dof * Index(sizeof(double));
    return ReducedFactors::bytes_of_solves(p.storage, slots, p.stencil.size(), p.dof) + vectors;
}

}  // namespace hyperplane
