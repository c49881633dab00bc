// SPDX-License-Identifier: BSD-3-Clause
// Factorisations whose triangles are swept in place of being solved (precond/triangular/jacobi/preconditioner.hpp).
//
// struct_ilu's factors are swept where they lie, and so are par_ilu's. Those of other preconditioners, whose solves
// want them in an order or in a form of M that sweeps on a GPU do not read, are copied once a set-up, as
//
//     M = (I + W) D (I + G)
//
// in the matrix's layout; `storage` rounds the copy. A copy has a place for every offset that may lead to an earlier
// point, and one for every offset that may lead to a later one. Where the order of points is not the grid's
// (multicolor) these are all offsets, twice, and one place of each two holds zero.
#pragma once

#include <memory>
#include <optional>

#include "precond/factors/copy.hpp"
#include "precond/struct_ilu/struct_ilu.hpp"
#include "precond/triangular/jacobi/sweeps_cuda.hpp"

namespace hyperplane {

/// Sets factors up and says where they lie.
class TriangleSource {
public:
    virtual ~TriangleSource() = default;
    virtual SetupReport setup(const StructMatrix& a) = 0;
    virtual void suggest_shift(double alpha) = 0;
    virtual void set_setup_sweeps(int /*count*/) {}
    virtual SweepCounts sweeps() const { return {}; }
    /// Of the matrix last set up.
    virtual TriangleShape shape() const = 0;
    virtual TriangleFactors factors() const = 0;
};

/// Of one that is set up; `offsets` are those of its stencil, in the context's memory.
TriangleFactors factors_of(const StructIlu& factorisation, const Int3* offsets);

class StructIluTriangles : public TriangleSource {
public:
    StructIluTriangles(const Context& context, const StructIluOptions& options)
        : context_(context), factorisation_(context, options) {}

    SetupReport setup(const StructMatrix& a) override;
    void suggest_shift(double alpha) override { factorisation_.suggest_shift(alpha); }
    void set_setup_sweeps(int count) override { factorisation_.set_setup_sweeps(count); }
    SweepCounts sweeps() const override { return factorisation_.sweeps(); }
    TriangleShape shape() const override;
    TriangleFactors factors() const override;

    static TriangleShape shape(const StructIluOptions& options, const PreconditionerSetting& setting);
    /// Memory held, and what StructIlu::plan says besides.
    static PreconditionerPlan plan(const StructIluOptions& options, const PreconditionerSetting& setting);

private:
    Context context_;
    StructIlu factorisation_;
    const StructMatrix* a_ = nullptr;
    Buffer<Int3> offsets_;  ///< of the factors' stencil
};

/// A preconditioner whose factors can be copied.
class CopiableFactorisation : public Preconditioner {
public:
    /// Of a copy in double precision and natural order, for matrices like this, before any set-up.
    virtual TriangleShape triangle_shape(const PreconditionerSetting& setting) const = 0;
    /// After a set-up with factors in double precision.
    virtual void copy_triangles(const TriangleCopy& to) const = 0;
};

class CopiedTriangles : public TriangleSource {
public:
    /// `factorisation` keeps double precision, the copy has `storage`; `name` is what messages call both.
    CopiedTriangles(std::unique_ptr<CopiableFactorisation> factorisation, FactorStorage storage,
                    const std::string& name)
        : factorisation_(std::move(factorisation)), storage_(storage), name_(name) {}

    SetupReport setup(const StructMatrix& a) override;
    void suggest_shift(double alpha) override { factorisation_->suggest_shift(alpha); }
    TriangleShape shape() const override { return shape_; }
    TriangleFactors factors() const override;

    /// The factorisation's plan and what the copy adds to it; `shape` has the copy's storage.
    static PreconditionerPlan plan(const PreconditionerPlan& factorisation, const TriangleShape& shape,
                                   Backend backend);

private:
    void prepare(const StructMatrix& a);
    /// Of double precision.
    FactorView view() const;

    std::unique_ptr<CopiableFactorisation> factorisation_;
    FactorStorage storage_;
    std::string name_;
    TriangleShape shape_;
    Buffer<Int3> offsets_;
    Buffer<double> values_;
    std::optional<NarrowFactors> narrow_;  ///< in place of values_ once set up, where storage asks for it
};

}  // namespace hyperplane
