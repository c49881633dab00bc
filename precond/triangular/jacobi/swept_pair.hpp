// SPDX-License-Identifier: BSD-3-Clause
// A fused pair of factorisation and solve, its solve replaced by Jacobi sweeps on a copy of the factors.
//
// The pair sets its factors up in double precision; the copy (precond/factors/exported.hpp) is held beside them and is
// what the deck's storage rounds. Equations and modes are in precond/triangular/jacobi/sweeps.hpp.
#pragma once

#include <memory>
#include <string>

#include "precond/factors/exported.hpp"
#include "precond/triangular/jacobi/solve.hpp"

namespace hyperplane {

class SweptPair : public Preconditioner {
public:
    /// `exports` is the pair itself; `storage` is the copy's; `name` is what messages call the preconditioner.
    template <class Pair>
    SweptPair(const Context& context, std::unique_ptr<Pair> pair, FactorStorage storage, const SweepOptions& sweeps,
              const std::string& name)
        : context_(context), options_(sweeps), name_(name), exports_(*pair), pair_(std::move(pair)), copy_(storage) {}

    SetupReport setup(const StructMatrix& a) override;
    void suggest_shift(double alpha) override { pair_->suggest_shift(alpha); }
    void apply(const Vector& r, Vector& z) const override { sweeps_->apply(copy_.factors(), r, z); }
    PreconditionerTraits traits() const override { return jacobi_traits(options_, symmetric_); }
    Index bytes_per_apply() const override { return TriangleSweeps::bytes_per_apply(copy_.shape(), options_); }
    SweepCounts sweeps() const override { return {.apply = options_.lower + options_.upper}; }

    const FactorCopy& copy() const { return copy_; }
    const SweepOptions& options() const { return options_; }

    /// From the plan of the pair in double precision.
    PreconditionerPlan plan(PreconditionerPlan pair, const PreconditionerSetting& setting) const;

private:
    Context context_;
    SweepOptions options_;
    std::string name_;
    const ExportsFactors& exports_;
    std::unique_ptr<Preconditioner> pair_;
    FactorCopy copy_;
    bool symmetric_ = false;
    std::unique_ptr<TriangleSweeps> sweeps_;
};

/// The pair that a deck asks for, exact or swept. Pair is made of a context and its Options, which have a storage.
template <class Pair, class Options>
std::unique_ptr<Preconditioner> make_fused(const Options& options, const std::string& name,
                                           const Parameters& parameters, const Context& context) {
    if (!sweeps_triangles(parameters)) return std::make_unique<Pair>(context, options);
    Options in_double = options;
    in_double.storage = FactorStorage::double_precision;
    return std::make_unique<SweptPair>(context, std::make_unique<Pair>(context, in_double), options.storage,
                                       triangular_solve_options(parameters), name);
}

/// Its plan; Pair::plan gives that of exact solves.
template <class Pair, class Options>
PreconditionerPlan plan_fused(const Options& options, const std::string& name, const Parameters& parameters,
                              const PreconditionerSetting& setting) {
    if (!sweeps_triangles(parameters)) return Pair::plan(options, setting);
    Options in_double = options;
    in_double.storage = FactorStorage::double_precision;
    const SweptPair swept(setting.context, std::make_unique<Pair>(setting.context, in_double), options.storage,
                          triangular_solve_options(parameters), name);
    return swept.plan(Pair::plan(in_double, setting), setting);
}

}  // namespace hyperplane
