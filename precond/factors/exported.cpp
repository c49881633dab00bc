// SPDX-License-Identifier: BSD-3-Clause
#include "precond/factors/exported.hpp"

#include <algorithm>
#include <cstdlib>

#include "core/ranks/slab_ends.hpp"
#include "precond/factors/pivot_log.hpp"

namespace hyperplane {
namespace {

template <class T>
BasicBlockView<T> blocks_in(T* values, const TriangleShape& shape, Backend backend) {
    BasicBlockView<T> blocks = blocks_at(places_on(backend), values, shape.layout.slots_in_memory(), shape.dof);
    blocks.values += shape.layout.halo_slots() * blocks.slot_stride;
    return blocks;
}

Index values_of(const TriangleShape& shape) {
    return Index(shape.kept()) * shape.dof * shape.dof * shape.layout.slots_in_memory();
}

}  // namespace

Index FactorCopy::bytes(const TriangleShape& shape, Backend backend) {
    const Index entries = Index(shape.offsets.size()), offsets = entries * Index(sizeof(Int3));
    if (!is_reduced(shape.storage)) return offsets + values_of(shape) * Index(sizeof(double));
    return offsets + ReducedFactors::bytes(shape.storage, places_on(backend), shape.layout.slots_in_memory(),
                                           int(entries), shape.dof, shape.symmetric);
}

Index FactorCopy::setup_bytes(const TriangleShape& shape) {
    return is_reduced(shape.storage) ? values_of(shape) * Index(sizeof(double)) + Index(sizeof(RoundingLog)) : 0;
}

void FactorCopy::allocate(const ExportsFactors& pair, const StructMatrix& a) {
    TriangleShape shape = pair.exported_shape(a.grid(), a.stencil(), a.dof(), a.symmetric());
    shape.layout = layout(a.layout(), a.backend());
    rank_.reset();
    if (!(shape.layout == a.layout())) rank_ = {a.layout(), a.layout().halo()};
    shape.storage = storage_;
    if (!(shape == shape_) || offsets_.size() == 0) {
        offsets_ = {};
        reduced_.reset();
        values_ = {};
        shape_ = shape;
        if (is_reduced(storage_))
            reduced_.emplace(a.context(), storage_, shape.layout, shape.offsets, shape.dof, shape.symmetric,
                             places_on(a.backend()));
        offsets_ = copied_to(a.context(), "sweeps", shape.offsets);  // last: its size shows that all is allocated
    }
    if (values_.size() == 0) values_ = Buffer<double>(a.context(), "factor", values_of(shape_));
}

void FactorCopy::fill(const ExportsFactors& pair, const StructMatrix& a, const std::string& name, SetupReport& report) {
    allocate(pair, a);
    pair.export_factors(
        {&a.context(), a.layout(), own_blocks(), offsets_.data(), shape_.lower(), shape_.dof, shape_.symmetric});
    share_lower_rows(a);
    report.factor_bytes = reduced_ ? reduced_->bytes() : values_.size() * Index(sizeof(double));
    if (!reduced_) return;
    judge(reduced_->round(view(), rank_), storage_, name, report);
    values_ = {};
}

void FactorCopy::share_lower_rows(const StructMatrix& a) {
    // On a CPU rows in reduced precision are shared when they have been rounded.
    if (!shape_.symmetric || (reduced_ && !rank_) || !a.context().ranks() || !a.layout().is_part()) return;
    const BlockView blocks = own_blocks();
    const int dof = shape_.dof, together = places_on(a.backend()) == CoefficientOrder::together ? dof * dof : 1;
    std::vector<double*> rows;  // of an entry, or of each of its coefficients where a block's lie apart
    Index planes = 0;
    for (int e = 0; e < shape_.lower(); ++e) {
        planes = std::max<Index>(planes, std::abs(shape_.offsets[std::size_t(e)].z));
        for (int c = 0; c < dof * dof / together; ++c) rows.push_back(&blocks.at(e, 0, c / dof, c % dof));
    }
    const Index size = planes * a.layout().slots_of_plane() * together, end = a.layout().slots() * together;
    exchange_ends(a.context(), {0, size, -size, size}, {end - size, size, end, size}, rows, outer_ends_of(a.grid()));
}

BlockView FactorCopy::own_blocks() {
    BlockView blocks = blocks_in(values_.data(), shape_, values_.backend());
    if (rank_) blocks.values += rank_->part.halo_slots() * blocks.slot_stride;
    return blocks;
}

FactorView FactorCopy::view() const {
    const ConstBlockView blocks = blocks_in(values_.data(), shape_, values_.backend());
    return {shape_.layout,    blocks, blocks.entry(shape_.lower()), offsets_.data(), shape_.lower(),
            shape_.symmetric, true};
}

TriangleFactors FactorCopy::factors() const {
    if (!reduced_) return view();
    return reduced_->triangle_factors();
}

}  // namespace hyperplane
