#include "precond/jacobi.hpp"

#include <array>

#include "core/blas1.hpp"
#include "core/error.hpp"
#include "precond/jacobi_cuda.hpp"
#include "precond/pivots.hpp"

namespace hyperplane {
namespace {

void invert_diagonal(const StructMatrix& a, StructMatrix& inverse, const PivotRules& rules, PivotInverter& inverter) {
    if constexpr (cuda_built)
        if (a.backend() == Backend::cuda) return invert_diagonal_cuda(a, inverse, rules, inverter);
    const int m = a.dof(), diagonal = a.stencil().diagonal();
    for_each_run(a.layout(), m, [&](const Run& run) {
        std::array<double, max_dof * max_dof> own, block;
        const Int3 step = a.layout().step();
        Int3 point = run.first;
        PivotRatio smallest;
        for (Index slot = run.slot; slot < run.slot + run.count; ++slot, point = point + step) {
            for (int row = 0; row < m; ++row)
                for (int col = 0; col < m; ++col)
                    own[row * m + col] = block[row * m + col] = a.values(diagonal, row, col)[slot];
            inverter.invert(point, own.data(), block.data(), smallest);
            for (int row = 0; row < m; ++row)
                for (int col = 0; col < m; ++col) inverse.values(0, row, col)[slot] = block[row * m + col];
        }
        inverter.note(smallest);
    });
}

}  // namespace

SetupReport Jacobi::setup(const StructMatrix& a) {
    symmetric_ = a.symmetric();
    if (!inverse_ || !(inverse_->layout() == a.layout()) || inverse_->dof() != a.dof()) {
        inverse_.reset();
        inverse_.emplace(context_, a.layout(), Stencil("point", {{0, 0, 0}}), a.dof(), MatrixStorage::full, "factor");
    }
    const PivotRules rules;
    PivotInverter inverter(rules, a.grid(), a.dof(), false);
    invert_diagonal(a, *inverse_, rules, inverter);
    if (inverter.failures() > 0) throw SetupError("jacobi: " + inverter.explain());
    SetupReport report;
    inverter.add_to(report);
    report.factor_bytes = inverse_->bytes();
    return report;
}

void Jacobi::apply(const Vector& r, Vector& z) const {
    inverse_->apply(r, z);
}

Index Jacobi::bytes_per_apply() const {
    return inverse_->bytes_per_apply();
}

SetupReport NoPreconditioner::setup(const StructMatrix& a) {
    unknowns_ = a.unknowns();
    return {};
}

void NoPreconditioner::apply(const Vector& r, Vector& z) const {
    if (r.backend() == Backend::cuda) return transfer(r, z);
    copy(r, z);
}

PreconditionerRow jacobi_row() {
    PreconditionerRow row;
    row.name = "jacobi";
    row.summary = "block diagonal of the matrix";
    row.explanation = "M is the block diagonal of A; its dof x dof blocks are inverted by Gauss-Jordan elimination.";
    row.create = [](const Parameters&, const PreconditionerSetting& setting) {
        return std::unique_ptr<Preconditioner>(new Jacobi(setting.context));
    };
    row.plan = [](const Parameters&, const PreconditionerSetting& setting) {
        PreconditionerPlan plan;
        plan.layout = Layout(LayoutKind::natural, setting.grid, setting.stencil.level_map());
        plan.bytes = StructMatrix::bytes(Index(setting.dof) * setting.dof, setting.grid.points());
        plan.traits = {.fixed = true, .symmetric = setting.symmetric};
        return plan;
    };
    return row;
}

PreconditionerRow none_row() {
    PreconditionerRow row;
    row.name = "none";
    row.summary = "no preconditioner, M is the identity";
    row.explanation = "M is the identity.";
    row.storages = {};
    row.create = [](const Parameters&, const PreconditionerSetting&) {
        return std::unique_ptr<Preconditioner>(new NoPreconditioner());
    };
    row.plan = [](const Parameters&, const PreconditionerSetting& setting) {
        PreconditionerPlan plan;
        plan.layout = Layout(LayoutKind::natural, setting.grid, setting.stencil.level_map());
        plan.traits = {.fixed = true, .symmetric = true};
        return plan;
    };
    return row;
}

}  // namespace hyperplane
