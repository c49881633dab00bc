// SPDX-License-Identifier: BSD-3-Clause
#include "precond/jacobi/jacobi.hpp"

#include <array>

#include "core/error.hpp"
#include "core/vector/blas1.hpp"
#include "precond/factors/pattern.hpp"
#include "precond/factors/pivot_error.hpp"
#include "precond/jacobi/general_jacobi.hpp"
#include "precond/jacobi/jacobi_cuda.hpp"
#include "precond/jacobi/l1_diagonal.hpp"

namespace hyperplane {
namespace {

constexpr const char* label = "factor";

void invert_diagonal(const StructMatrix& a, StructMatrix& inverse, const PivotRules& rules, PivotInverter& inverter) {
    if constexpr (cuda_built)
        if (a.backend() == Backend::cuda) return invert_diagonal_cuda(a, inverse, rules, inverter);
    const int m = a.dof(), diagonal = a.stencil().diagonal();
    for_each_run(a.context(), a.layout(), m, [&](const Run& run) {
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

/// False for the block diagonal of a polynomial preconditioner, whose section has no key l1.
bool reads_l1(const Parameters& parameters) {
    return parameters.has("preconditioner", "l1") && parameters.boolean("preconditioner", "l1");
}

/// The factors of a general matrix are kept in double precision alone.
void require_double(const Parameters& parameters) {
    if (!is_reduced(factor_storage(parameters))) return;
    throw RefusedKey(parameters, "preconditioner", "storage",
                     ": of a general matrix, " + parameters.text("preconditioner", "name") +
                         " stores its factors in double alone; leave the key out");
}

ParameterTable jacobi_parameters() {
    return {{"preconditioner", "l1", ParameterType::boolean, "false",
             "add to the diagonal the sum of the magnitudes of the row's coefficients in other points: more "
             "iterations, but as a smoother it never diverges and needs no damping where the matrix is symmetric "
             "positive definite"}};
}

}  // namespace

SetupReport Jacobi::setup(const SystemMatrix& matrix) {
    const StructMatrix& a = structured(matrix);
    symmetric_ = a.symmetric();
    if (!inverse_ || !(inverse_->layout() == a.layout()) || inverse_->dof() != a.dof()) {
        inverse_.reset();
        inverse_.emplace(context_, a.layout(), point_stencil(), a.dof(), MatrixStorage::full, label);
    }
    const PivotRules rules;
    PivotInverter inverter(rules, a.grid(), a.dof(), false);
    l1_ ? invert_diagonal(l1_diagonal(a, label), *inverse_, rules, inverter)
        : invert_diagonal(a, *inverse_, rules, inverter);
    if (a.layout().is_part()) inverter.gather(a.context());
    if (inverter.failures() > 0) refuse_pivots(name_, matrix, inverter, rules);
    SetupReport report;
    inverter.add_to(report);
    report.factor_bytes = inverse_->bytes();
    if (is_reduced(storage_)) round_factors(report);
    return report;
}

void Jacobi::round_factors(SetupReport& report) {
    const StructMatrix& d = *inverse_;
    if (!reduced_ || !reduced_->serves(storage_, d.layout(), d.stencil().offsets(), d.dof(), false)) {
        reduced_.reset();
        reduced_.emplace(context_, storage_, d.layout(), d.stencil().offsets(), d.dof(), false,
                         CoefficientOrder::apart);
    }
    judge(reduced_->round({d.layout(), block_view(d), block_view(d)}), storage_, name_, report);
    report.factor_bytes = reduced_->bytes();
    inverse_.reset();
}

void Jacobi::apply(const Vector& r, Vector& z) const {
    reduced_ ? reduced_->apply_inverse(r, z) : inverse_->apply(r, z);
}

ApplicationCheck Jacobi::check_application(const SystemMatrix& matrix, const Vector& r, const Vector& z,
                                           const MakeInDouble& /*in_double*/) const {
    const StructMatrix& a = structured(matrix);
    const double error = l1_ ? diagonal_error(l1_diagonal(a, "check"), r, z) : diagonal_error(a, r, z);
    return {error, bound_of_rounding(storage_), ""};
}

Index Jacobi::bytes_per_apply() const {
    return reduced_ ? reduced_->bytes_of_apply_inverse() : inverse_->bytes_per_apply();
}

SetupReport NoPreconditioner::setup(const SystemMatrix& matrix) {
    unknowns_ = matrix.unknowns();
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
    row.explanation =
        "M is the block diagonal of A; its dof x dof blocks are inverted by Gauss-Jordan elimination. With l1 = true, "
        "M has on its diagonal also the l1 norms of what the rows have in other points (Baker, Falgout, Kolev and Yang "
        "2011), so that for a symmetric positive definite A the eigenvalues of M^-1 A are at most 1.";
    row.parameters = jacobi_parameters();
    row.storages.assign(std::begin(all_factor_storages), std::end(all_factor_storages));
    row.kinds = {MatrixKind::structured, MatrixKind::general};
    row.on_ranks = row.on_general_ranks = true;
    row.create = [](const Parameters& parameters, const PreconditionerSetting& setting) {
        const std::string& name = parameters.text("preconditioner", "name");  // jacobi, or who uses its row
        if (setting.matrix.kind() == MatrixKind::general) {
            require_double(parameters);
            return std::unique_ptr<Preconditioner>(new GeneralJacobi(setting.context, reads_l1(parameters), name));
        }
        return std::unique_ptr<Preconditioner>(
            new Jacobi(setting.context, factor_storage(parameters), reads_l1(parameters), name));
    };
    row.plan = [](const Parameters& parameters, const PreconditionerSetting& setting) {
        if (setting.matrix.kind() == MatrixKind::general) return GeneralJacobi::plan(setting, reads_l1(parameters));
        PreconditionerPlan plan;
        plan.space = setting.natural_layout();
        plan.bytes =
            StructMatrix::bytes(Index(setting.matrix.dof()) * setting.matrix.dof(), plan.space.slots_in_memory());
        if (reads_l1(parameters)) plan.setup_bytes = plan.bytes + setting.matrix.stencil().size() * Index(sizeof(Int3));
        if (const FactorStorage storage = factor_storage(parameters); is_reduced(storage)) {
            plan.setup_bytes += plan.bytes;
            const Layout& layout = plan.space.layout();
            plan.bytes = ReducedFactors::bytes(storage, CoefficientOrder::apart, layout.slots_in_memory(), 1,
                                               setting.matrix.dof(), false);
            plan.bytes_per_apply =
                ReducedFactors::bytes_of_apply_inverse(storage, layout.slots(), setting.matrix.dof());
        }
        plan.traits = {.fixed = true, .symmetric = setting.matrix.symmetric()};
        return plan;
    };
    row.plan_by_counts = [](const Parameters& parameters, const Context&, const BlockCounts& a) {
        CountedPlan plan;
        plan.bytes = GeneralJacobi::bytes(a.rows, a.dof);
        if (reads_l1(parameters)) plan.setup_bytes = GeneralJacobi::bytes_of_l1(a.rows, a.dof);
        return plan;
    };
    row.kernels = [](const Parameters&, const PreconditionerSetting& setting) -> std::vector<KernelSet> {
        if (setting.matrix.kind() == MatrixKind::general) return {};
        if constexpr (cuda_built)
            return {{"invert_diagonal",
                     Layout(LayoutKind::natural, setting.matrix.grid(), setting.matrix.stencil().level_map()),
                     point_stencil(), setting.matrix.dof(), false, FactorStorage::double_precision,
                     [dof = setting.matrix.dof()] { return invert_diagonal_programs(dof); }}};
        return {};
    };
    return row;
}

PreconditionerRow none_row() {
    PreconditionerRow row;
    row.name = "none";
    row.summary = "no preconditioner, M is the identity";
    row.explanation = "M is the identity.";
    row.storages = {};
    row.kinds = {MatrixKind::structured, MatrixKind::general};
    row.on_ranks = row.on_general_ranks = true;
    row.create = [](const Parameters&, const PreconditionerSetting&) {
        return std::unique_ptr<Preconditioner>(new NoPreconditioner());
    };
    row.plan = [](const Parameters&, const PreconditionerSetting& setting) {
        PreconditionerPlan plan;
        plan.space = setting.matrix.kind() == MatrixKind::general ? setting.matrix.natural_space()
                                                                  : IndexSpace(setting.natural_layout());
        plan.traits = {.fixed = true, .symmetric = true};
        return plan;
    };
    row.plan_by_counts = [](const Parameters&, const Context&, const BlockCounts&) { return CountedPlan(); };
    return row;
}

}  // namespace hyperplane
