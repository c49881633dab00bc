// SPDX-License-Identifier: BSD-3-Clause
#include "precond/triangular/jacobi/source.hpp"

namespace hyperplane {
namespace {

template <class T>
BasicBlockView<T> blocks_in(T* values, const TriangleShape& shape, Backend backend) {
    const Index dof = shape.dof, slots = shape.layout.slots();
    if (places_on(backend) == BlockPlaces::together) return {values, dof * dof * slots, dof * dof, dof, 1};
    return {values, dof * dof * slots, 1, dof * slots, slots};
}

Index values_of(const TriangleShape& shape) {
    return Index(shape.symmetric ? shape.lower() + 1 : 2 * shape.lower() + 1) * shape.dof * shape.dof *
           shape.layout.slots();
}

TriangleFactors view_of(const NarrowFactors& narrow) {
    if (narrow.storage() == FactorStorage::single_precision) return narrow.view<float>();
    return narrow.view<Half>();
}

}  // namespace

TriangleFactors factors_of(const StructIlu& factorisation, const Int3* offsets) {
    const NarrowFactors* narrow = factorisation.narrow_factors();
    if (narrow) return view_of(*narrow);
    return factorisation.view(offsets);
}

TriangleShape StructIluTriangles::shape(const StructIluOptions& options, const PreconditionerSetting& setting) {
    const Stencil filled = setting.stencil.filled(options.fill_level);
    // In natural order the blocks of asynchronous sweeps come in the order of dependencies.
    return {Layout(LayoutKind::natural, setting.grid, filled.level_map()),
            filled.offsets(),
            setting.dof,
            setting.symmetric,
            StructIlu::unit_triangular(options, setting),
            options.storage};
}

PreconditionerPlan StructIluTriangles::plan(const StructIluOptions& options, const PreconditionerSetting& setting) {
    PreconditionerPlan plan = StructIlu::plan(options, setting);
    plan.bytes += setting.stencil.filled(options.fill_level).size() * Index(sizeof(Int3));
    return plan;
}

SetupReport StructIluTriangles::setup(const StructMatrix& a) {
    a_ = &a;
    const SetupReport report = factorisation_.setup(a);
    offsets_ = copied_to(context_, "sweeps", factorisation_.stencil().offsets());
    return report;
}

TriangleShape StructIluTriangles::shape() const {
    const NarrowFactors* narrow = factorisation_.narrow_factors();
    return {a_->layout(),
            factorisation_.stencil().offsets(),
            a_->dof(),
            a_->symmetric(),
            factorisation_.unit_triangular(),
            narrow ? narrow->storage() : FactorStorage::double_precision};
}

TriangleFactors StructIluTriangles::factors() const {
    return factors_of(factorisation_, offsets_.data());
}

PreconditionerPlan CopiedTriangles::plan(const PreconditionerPlan& factorisation, const TriangleShape& shape,
                                         Backend backend) {
    PreconditionerPlan plan = factorisation;
    const Index doubles = values_of(shape) * Index(sizeof(double)), entries = Index(shape.offsets.size());
    plan.bytes += entries * Index(sizeof(Int3));
    if (!is_narrow(shape.storage)) {
        plan.bytes += doubles;
        return plan;
    }
    plan.bytes += NarrowFactors::bytes(shape.storage, places_on(backend), shape.layout.slots(), int(entries), shape.dof,
                                       shape.symmetric);
    plan.setup_bytes = std::max(plan.setup_bytes, doubles);
    return plan;
}

void CopiedTriangles::prepare(const StructMatrix& a) {
    TriangleShape shape = factorisation_->triangle_shape({a.context(), a.grid(), a.stencil(), a.dof(), a.symmetric()});
    shape.layout = a.layout();
    shape.storage = storage_;
    if (!(shape == shape_) || offsets_.size() == 0) {
        offsets_ = {};
        narrow_.reset();
        values_ = {};
        shape_ = shape;
        if (is_narrow(storage_))
            narrow_.emplace(a.context(), storage_, shape.layout, shape.offsets, shape.dof, shape.symmetric,
                            places_on(a.backend()));
        offsets_ = copied_to(a.context(), "sweeps", shape.offsets);  // last, as it tells that all the rest is there
    }
    if (values_.size() == 0) values_ = Buffer<double>(a.context(), "factor", values_of(shape_));
}

SetupReport CopiedTriangles::setup(const StructMatrix& a) {
    SetupReport report = factorisation_->setup(a);
    prepare(a);
    const TriangleCopy copy{a.backend(),     shape_.layout,  blocks_in(values_.data(), shape_, values_.backend()),
                            offsets_.data(), shape_.lower(), shape_.dof,
                            shape_.symmetric};
    factorisation_->copy_triangles(copy);
    report.factor_bytes = narrow_ ? narrow_->bytes() : values_.size() * Index(sizeof(double));
    if (narrow_) {
        judge(narrow_->round(view()), storage_, name_, report);
        values_ = {};
    }
    return report;
}

FactorView CopiedTriangles::view() const {
    const ConstBlockView blocks = blocks_in(values_.data(), shape_, values_.backend());
    FactorView f{shape_.layout, blocks, blocks, offsets_.data(), shape_.lower(), shape_.symmetric, true};
    f.inverse.values += shape_.lower() * blocks.entry_stride;
    return f;
}

TriangleFactors CopiedTriangles::factors() const {
    if (narrow_) return view_of(*narrow_);
    return view();
}

}  // namespace hyperplane
