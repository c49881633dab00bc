// SPDX-License-Identifier: BSD-3-Clause
// A fused pair of factorisation and solve whose solve is replaced by Jacobi sweeps on a copy of the factors.
//
// The pair computes its factors in double precision. The copy (precond/factors/exported.hpp) is held in addition to
// them, in the storage that the deck chooses. Equations and modes are in precond/triangular/jacobi/sweeps.hpp.
#pragma once

#include <memory>
#include <string>
#include <utility>

#include "precond/factors/exported.hpp"
#include "precond/factors/unit_triangles.hpp"
#include "precond/triangular/jacobi/solve.hpp"

namespace hyperplane {

class SweptPair : public Preconditioner, public HasUnitTriangles {
public:
    /// `storage` is that of the copy; `name` is the preconditioner's name in messages.
    template <class Pair>
    SweptPair(const Context& context, std::unique_ptr<Pair> pair, FactorStorage storage, const SweepOptions& sweeps,
              const std::string& name)
        : context_(context), options_(sweeps), name_(name), exports_(*pair), pair_(std::move(pair)), copy_(storage) {}

    SetupReport setup(const SystemMatrix& matrix) override;
    void suggest_shift(double alpha) override { pair_->suggest_shift(alpha); }
    void apply(const Vector& r, Vector& z) const override { sweeps_->apply(copy_.factors(), r, z); }
    PreconditionerTraits traits() const override { return jacobi_traits(options_, symmetric_); }
    Index bytes_per_apply() const override { return TriangleSweeps::bytes_per_apply(copy_.shape(), options_); }
    SweepCounts sweeps() const override { return {.apply = options_.lower + options_.upper}; }
    ApplicationCheck check_application(const SystemMatrix& /*a*/, const Vector& r, const Vector& z,
                                       const MakeInDouble& /*in_double*/) const override {
        if (copy_.of_rank()) return {.unchecked = "the factors of ranks on GPUs are on another grid than the vectors"};
        return check_sweeps(context_, copy_.factors(), options_, r, z);
    }
    UnitTriangles unit_triangles() const override {
        return unit_triangles_of(context_, copy_.factors(), copy_.shape().dof);
    }

    /// `plan` is that of the pair in double precision; the result is that of the pair with sweeps.
    PreconditionerPlan plan(PreconditionerPlan plan, const PreconditionerSetting& setting) const;
    /// The kernels of the sweeps.
    std::vector<KernelSet> kernels(const PreconditionerSetting& setting) const;

private:
    TriangleShape planned_shape(const PreconditionerSetting& setting) const;

    Context context_;
    SweepOptions options_;
    std::string name_;
    const ExportsFactors& exports_;
    std::unique_ptr<Preconditioner> pair_;
    FactorCopy copy_;
    bool symmetric_ = false;
    std::unique_ptr<TriangleSweeps> sweeps_;
};

/// Pair with Jacobi sweeps on a copy of its factors. The copy takes the storage of `options`; the pair's becomes
/// double.
template <class Pair, class Options>
std::unique_ptr<SweptPair> swept_pair(Options& options, const std::string& name, const Parameters& parameters,
                                      const Context& context) {
    const FactorStorage storage = std::exchange(options.storage, FactorStorage::double_precision);
    return std::make_unique<SweptPair>(context, std::make_unique<Pair>(context, options), storage,
                                       triangular_solve_options(parameters), name);
}

/// A row of the registry for a fused pair, whose solves are exact unless a deck has `triangular_solve = jacobi`. `read`
/// returns a deck's options, which have a member `storage`, and from which and a context Pair is constructed.
/// Pair::plan and Pair::kernels are those with exact solves.
template <class Pair, class Read>
PreconditionerRow fused_row(const std::string& name, const Read& read) {
    PreconditionerRow row;
    row.name = name;
    row.storages.assign(std::begin(all_factor_storages), std::end(all_factor_storages));
    row.create = [=](const Parameters& parameters,
                     const PreconditionerSetting& setting) -> std::unique_ptr<Preconditioner> {
        auto options = read(parameters, setting);
        if (sweeps_triangles(parameters)) return swept_pair<Pair>(options, name, parameters, setting.context);
        return std::make_unique<Pair>(setting.context, options);
    };
    row.plan = [=](const Parameters& parameters, const PreconditionerSetting& setting) {
        auto options = read(parameters, setting);
        if (!sweeps_triangles(parameters)) return Pair::plan(options, setting);
        const auto swept = swept_pair<Pair>(options, name, parameters, setting.context);
        return swept->plan(Pair::plan(options, setting), setting);
    };
    row.kernels = [=](const Parameters& parameters, const PreconditionerSetting& setting) {
        auto options = read(parameters, setting);
        if (!sweeps_triangles(parameters)) return Pair::kernels(options, setting);
        const auto swept = swept_pair<Pair>(options, name, parameters, setting.context);
        std::vector<KernelSet> sets = Pair::kernels(options, setting);
        for (KernelSet& set : swept->kernels(setting)) sets.push_back(std::move(set));
        return sets;
    };
    return row;
}

}  // namespace hyperplane
