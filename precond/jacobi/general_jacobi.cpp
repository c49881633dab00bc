// SPDX-License-Identifier: BSD-3-Clause
#include "precond/jacobi/general_jacobi.hpp"

#include <numeric>

#include "precond/checks/applications.hpp"
#include "precond/checks/general_applications.hpp"
#include "precond/factors/pivot_error.hpp"
#include "precond/general/pattern/diagonal_pattern.hpp"
#include "precond/jacobi/invert_rows.hpp"
#include "precond/jacobi/l1_diagonal.hpp"

namespace hyperplane {
namespace {

constexpr const char* general_label = "factor";

/// The places of the diagonal blocks, -1 where one is not stored.
Buffer<Index> places_of_diagonal(const Context& host, const std::string& label, const BlockPattern& pattern) {
    Buffer<Index> places(host, label, pattern.rows());
#pragma omp parallel for schedule(static) num_threads(host.threads_for(pattern.rows()))
    for (Index row = 0; row < pattern.rows(); ++row) places[row] = pattern.find(row, int(row));
    return places;
}

}  // namespace

void GeneralJacobi::analyse(const BsrMatrix& a) {
    if (served_ == a.pattern() && inverse_ && inverse_->dof() == a.dof()) return;
    const BlockPattern& pattern = *a.pattern();
    inverse_.reset();
    places_ = moved_to(context_, general_label, places_of_diagonal(context_.host(), general_label, pattern));
    inverse_ = std::make_unique<BsrMatrix>(context_, diagonal_pattern(context_.host(), pattern.rows(), general_label),
                                           a.dof(), a.symmetric(), general_label);
    served_ = a.pattern();
}

SetupReport GeneralJacobi::setup(const SystemMatrix& matrix) {
    const BsrMatrix& a = general(matrix);
    analyse(a);
    symmetric_ = a.symmetric();
    const PivotRules rules;
    PivotInverter inverter(rules, places_of(a), a.dof(), false, order_of(a));
    inverter.set_first_row(a.space().first_block_row());
    if (l1_) {
        BsrMatrix d(context_, inverse_->pattern(), a.dof(), a.symmetric(), general_label);
        l1_diagonal(a, places_, d);
        Buffer<Index> rows(context_.host(), general_label, places_.size());
        std::iota(rows.begin(), rows.end(), Index(0));
        invert_diagonal_blocks(d, moved_to(context_, general_label, std::move(rows)), *inverse_, rules, inverter);
    } else {
        invert_diagonal_blocks(a, places_, *inverse_, rules, inverter);
    }
    if (a.space().is_part()) inverter.gather(a.context());
    if (inverter.failures() > 0) refuse_pivots(name_, a, inverter, rules);
    SetupReport report;
    inverter.add_to(report);
    report.factor_bytes = inverse_->bytes();
    return report;
}

ApplicationCheck GeneralJacobi::check_application(const SystemMatrix& matrix, const Vector& r, const Vector& z,
                                                  const MakeInDouble& /*in_double*/) const {
    std::unique_ptr<BsrMatrix> copy;
    const BsrMatrix& a = on_host(general(matrix), copy);
    const auto checked = [&](const BsrMatrix& d) {
        return ApplicationCheck{diagonal_error(d, r, z), bound_of_double(), ""};
    };
    if (!l1_) return checked(a);
    const Context host = a.context();
    BsrMatrix d(host, diagonal_pattern(host, a.pattern()->rows(), "check"), a.dof(), a.symmetric(), "check");
    l1_diagonal(a, places_of_diagonal(host, "check", *a.pattern()), d);
    return checked(d);
}

Index GeneralJacobi::bytes_of_l1(Index rows, int dof) {
    return rows * dof * dof * Index(sizeof(double)) + rows * Index(sizeof(Index));
}

Index GeneralJacobi::bytes(Index rows, int dof) {
    return bytes_of_l1(rows, dof) + BlockPattern::bytes(rows, rows);  // on the backend
}

PreconditionerPlan GeneralJacobi::plan(const PreconditionerSetting& setting, bool l1) {
    const MatrixShape& a = setting.matrix;
    PreconditionerPlan plan;
    plan.space = a.natural_space();
    const Index rows = plan.space.block_rows();
    plan.bytes = bytes(rows, a.dof());
    if (l1) {
        plan.setup_bytes = bytes_of_l1(rows, a.dof());
        if (setting.context.backend() == Backend::cuda) plan.setup_bytes += BlockPattern::bytes(rows, rows);
    }
    plan.bytes_per_apply = BlockPattern::bytes(rows, rows) + rows * a.dof() * (a.dof() + 2) * Index(sizeof(double));
    plan.traits = {.fixed = true, .symmetric = a.symmetric()};
    return plan;
}

}  // namespace hyperplane
