// SPDX-License-Identifier: BSD-3-Clause
#include "precond/sync_free_ilu/general_ilu.hpp"

#include <chrono>
#include <utility>

#include "core/profile.hpp"
#include "core/timer.hpp"

namespace hyperplane {

void GeneralIlu::analyse(const BsrMatrix& a) {
    const ProfileScope scope(context_, "symbolic");
    symbolic_seconds_ = planned_seconds_ = 0.0;
    if (served_ == a.pattern() && factors_.dof == a.dof() && factors_.symmetric == a.symmetric()) return;
    const auto begin = std::chrono::steady_clock::now();
    served_.reset();
    forget();
    factors_ = {};
    scratch_ = {};
    factors_.dof = a.dof();
    factors_.symmetric = a.symmetric();
    find_pattern(a);
    served_ = a.pattern();
    symbolic_seconds_ = planned_seconds_ + seconds_since(begin);
}

void GeneralIlu::allocate_values(Initially initially) {
    if (factors_.values.size() == factors_.value_count()) return;
    factors_.values = Buffer<double>(context_, "factor", factors_.value_count(), initially);
    if (options_.fixed_point_sweeps > 0) scratch_ = general_cpu::fixed_point_scratch(context_, factors_, "factor");
}

SetupReport GeneralIlu::compute(const BsrMatrix& a) {
    prepare(a);
    SetupReport report = factor_with_policy(
        a, options_.pivots.rules, options_.pivots.shift, options_.name,
        [&](double alpha, PivotInverter& inverter) { factorise(a, alpha, inverter); }, remark_on_pivots(options_),
        advice_if_indefinite(a.symmetric(), options_.pivots.rules, options_.name));
    if (is_reduced(options_.storage)) judge_rounding(round(a), a, options_, report);
    hand_on();
    return report;
}

Rounding GeneralIlu::round(const BsrMatrix& a) {
    const ProfileScope scope(context_, "rounding");
    const Rounding met = rounded(a);
    factors_.values = {};
    scratch_ = {};
    return met;
}

SetupReport GeneralIlu::setup(const SystemMatrix& matrix) {
    const BsrMatrix& a = general(matrix);
    analyse(a);
    const auto begin = std::chrono::steady_clock::now();
    SetupReport report = compute(a);
    context_.synchronize();
    report.symbolic_seconds = symbolic_seconds_;
    report.planned_seconds = planned_seconds_;
    report.numeric_seconds = seconds_since(begin);
    report.factor_bytes = factor_bytes();
    return report;
}

Index GeneralIlu::factor_bytes() const {
    return bytes_of_factors(options_.storage, {factors_.pattern().rows(), factors_.pattern().blocks(), factors_.dof}) +
           factors_.filled.bytes();
}

std::vector<KernelSet> kernels_named(const std::string& name, const MatrixShape& a, FactorStorage storage,
                                     std::function<rtc::Programs()> programs) {
    return {{name, Layout(LayoutKind::natural, Grid::of_rows(a.block_rows()), {}), Stencil("general", {{0, 0, 0}}),
             a.dof(), a.symmetric(), storage, std::move(programs)}};
}

}  // namespace hyperplane
