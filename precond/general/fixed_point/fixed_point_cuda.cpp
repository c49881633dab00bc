// SPDX-License-Identifier: BSD-3-Clause
#include "precond/general/fixed_point/fixed_point_cuda.hpp"

#include <utility>

#include "precond/kernel_set.hpp"

namespace hyperplane {
namespace {

constexpr const char *sweep_text = "precond/general/fixed_point/fixed_point.cuh", *sweep_label = "factor";
constexpr unsigned long_threads = 256;

rtc::Definitions definitions(const FixedPointShape& shape) {
    return {{"DOF", std::to_string(shape.dof)},
            {"LANES", std::to_string(shape.lanes)},
            {"SYMMETRIC", std::to_string(shape.symmetric)},
            {"WARPS", std::to_string(shape.warps())}};
}

/// The counts, without long rows where they have no kernel.
RowCounts long_rows_of(RowCounts counts, const FixedPointShape& shape) {
    if (!shape.has_long_rows()) counts.long_rows = 0;
    return counts;
}

Index thread_blocks(Index rows, const FixedPointShape& shape) {
    return (rows + shape.rows() - 1) / shape.rows();
}

}  // namespace

FixedPointCuda::FixedPointCuda(const Context& context, const GpuPattern& pattern, const FixedPointShape& shape,
                               const std::optional<OwnRows>& own)
    : pattern_(pattern),
      shape_(shape),
      own_(own.value_or(OwnRows{0, pattern.pattern->rows()})),
      long_rows_(long_rows_on_gpu(context, *pattern.pattern, long_rows_of(pattern.counts, shape), sweep_label)),
      pivots_(context, thread_blocks(own_.count, shape)),
      sweep_(context, precond_source(sweep_text), definitions(shape), "fixed_point_sweep"),
      finish_(context, precond_source(sweep_text), definitions(shape), "finish_factors"),
      invert_(context, {precond_source(sweep_text), definitions(shape)}, "invert_diagonals",
              [count = own_.count, shape](const rtc::AnyKernel&) { return unsigned(thread_blocks(count, shape)); }) {
    if (long_rows_.size() > 0)
        sweep_long_rows_ = Kernel(context, precond_source(sweep_text), definitions(shape), "sweep_long_rows");
}

FixedPointArguments FixedPointCuda::arguments(const BsrMatrix& a, double alpha, const PivotRules& rules,
                                              const double* others, Buffer<double>& inverse, Buffer<double>& values) {
    const bool same = pattern_.is_that_of_a();
    return {
        .row_begin = as_pointers(pattern_.pattern->row_begin()),
        .column = pattern_.pattern->column(),
        .diagonal = as_pointers(pattern_.diagonal.data()),
        .values = values.data(),
        .others = others,
        .inverse = inverse.data(),
        .a_row_begin = as_pointers(a.here().row_begin()) - own_.before,
        .a_values = a.values(),
        .place = same ? nullptr : pattern_.place.data(),
        .a_diagonal = same ? nullptr : as_pointers(pattern_.a_diagonal.data()) - own_.before,
        .ratios = pivots_.ratios(),
        .rule = rule_of(general_cpu::rules_of_guesses(rules), shape_.symmetric),
        .log = nullptr,
        .shift = alpha,
        .first = own_.before,
        .rows = own_.count,
        .long_row = long_rows_.size() > 0 ? RowCounts::long_row : 0,
        .long_rows = long_rows_.data(),
    };
}

void FixedPointCuda::launch(const Kernel& kernel, const FixedPointArguments& arguments) const {
    kernel.launch({unsigned(thread_blocks(own_.count, shape_))}, unsigned(32 * shape_.warps()), 0, arguments);
}

void FixedPointCuda::launch_sweep(const FixedPointArguments& arguments) const {
    launch(sweep_, arguments);
    if (long_rows_.size() > 0) sweep_long_rows_.launch({unsigned(long_rows_.size())}, long_threads, 0, arguments);
}

void FixedPointCuda::begin(const BsrMatrix& a, double alpha, const PivotRules& rules, Buffer<double>& inverse,
                           Buffer<double>& x) {
    if (own_.count == 0) return;
    const FixedPointArguments all = arguments(a, alpha, rules, nullptr, inverse, x);
    launch_sweep(all);
    launch(invert_.of(rules).kernel, all);
}

void FixedPointCuda::sweep(const BsrMatrix& a, double alpha, const PivotRules& rules, const Buffer<double>& x,
                           Buffer<double>& inverse, Buffer<double>& made) {
    if (own_.count == 0) return;
    const FixedPointArguments all = arguments(a, alpha, rules, x.data(), inverse, made);
    launch_sweep(all);
    launch(invert_.of(rules).kernel, all);
}

void FixedPointCuda::sweep_to_factors(const BsrMatrix& a, double alpha, int sweeps, const PivotRules& rules,
                                      general_cpu::FixedPointScratch& scratch, Buffer<double>& x,
                                      PivotInverter& inverter, const general_cpu::ShareRows& share) {
    if (own_.count == 0) return;
    for (int at = 1; at <= sweeps; ++at) {
        std::swap(x, scratch.spare);
        FixedPointArguments all = arguments(a, alpha, rules, scratch.spare.data(), scratch.inverse, x);
        launch_sweep(all);
        if (at == sweeps) {
            pivots_.clear_log();
            all.rule = rule_of(rules, shape_.symmetric);
            all.log = pivots_.log();
        }
        launch(invert_.of(rules).kernel, all);
        share(x.data(), scratch.inverse.data());
    }
    launch(finish_, arguments(a, alpha, rules, nullptr, scratch.inverse, x));
    pivots_.report(inverter);
}

void FixedPointCuda::factor(const BsrMatrix& a, double alpha, int sweeps, const PivotRules& rules,
                            general_cpu::FixedPointScratch& scratch, Buffer<double>& values, PivotInverter& inverter,
                            const general_cpu::ShareRows& share) {
    if (own_.count == 0) return;
    begin(a, alpha, rules, scratch.inverse, values);
    share(values.data(), scratch.inverse.data());
    sweep_to_factors(a, alpha, sweeps, rules, scratch, values, inverter, share);
}

Index FixedPointCuda::bytes(const RowCounts& counts, const FixedPointShape& shape) {
    return PivotRecord::bytes(thread_blocks(counts.rows, shape)) +
           long_rows_of(counts, shape).long_rows * Index(sizeof(int));
}

rtc::Programs FixedPointCuda::programs(const FixedPointShape& shape) {
    return {{precond_source(sweep_text), definitions(shape)}};
}

}  // namespace hyperplane
