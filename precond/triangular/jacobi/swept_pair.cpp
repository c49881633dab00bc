// SPDX-License-Identifier: BSD-3-Clause
#include "precond/triangular/jacobi/swept_pair.hpp"

#include <algorithm>

namespace hyperplane {

SetupReport SweptPair::setup(const SystemMatrix& matrix) {
    const StructMatrix& a = structured(matrix);
    SetupReport report = pair_->setup(a);
    symmetric_ = a.symmetric();
    copy_.fill(exports_, a, name_, report);
    if (!sweeps_ || !sweeps_->serves(copy_.shape())) {
        sweeps_.reset();
        sweeps_ = std::make_unique<TriangleSweeps>(context_, copy_.shape(), options_, a.layout());
    }
    refuse_divergence(*sweeps_, copy_.factors(), options_, name_);
    return report;
}

TriangleShape SweptPair::planned_shape(const PreconditionerSetting& setting) const {
    TriangleShape shape = exports_.exported_shape(setting.matrix.grid(), setting.matrix.stencil(), setting.matrix.dof(),
                                                  setting.matrix.symmetric());
    shape.layout = FactorCopy::layout(setting.natural_layout(), setting.context.backend());
    shape.storage = copy_.storage();
    return shape;
}

std::vector<KernelSet> SweptPair::kernels(const PreconditionerSetting& setting) const {
    return jacobi_kernels(planned_shape(setting), options_);
}

PreconditionerPlan SweptPair::plan(PreconditionerPlan plan, const PreconditionerSetting& setting) const {
    const TriangleShape shape = planned_shape(setting);
    plan.space = setting.natural_layout();
    plan.bytes += FactorCopy::bytes(shape, setting.context.backend()) +
                  TriangleSweeps::bytes(shape.layout.slots_in_memory() * shape.dof);
    plan.setup_bytes = std::max(plan.setup_bytes, FactorCopy::setup_bytes(shape));
    plan.bytes_per_apply = TriangleSweeps::bytes_per_apply(shape, options_);
    const char* const varies = plan.traits.varies;
    plan.traits = jacobi_traits(options_, setting.matrix.symmetric());
    if (options_.mode == SweepMode::sync) plan.traits.varies = varies;
    return plan;
}

}  // namespace hyperplane
