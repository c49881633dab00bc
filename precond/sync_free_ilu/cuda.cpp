// SPDX-License-Identifier: BSD-3-Clause
#include "precond/sync_free_ilu/cuda.hpp"

#include <bit>

#include "precond/graph/levels.hpp"
#include "precond/kernel_set.hpp"

namespace hyperplane {
namespace {

constexpr const char* label = "factor";
static_assert(sizeof(long long) == sizeof(Index));

/// A power of two between dof and 32, and near `wanted`.
int lanes_near(double wanted, int dof) {
    const int least = int(std::bit_ceil(unsigned(dof)));
    return std::max(least, int(std::bit_ceil(unsigned(std::clamp(wanted, 1.0, 32.0)))));
}

rtc::Source source(const char* main) {
    return {rtc::precond_texts(), main};
}
constexpr const char *factor_text = "precond/sync_free_ilu/factor.cuh", *solve_text = "precond/sync_free_ilu/solve.cuh";

rtc::Definitions factor_definitions(const SyncFreeShape& shape) {
    return {{"DOF", std::to_string(shape.dof)},
            {"LANES", std::to_string(shape.factor_lanes)},
            {"SYMMETRIC", std::to_string(shape.symmetric)},
            {"WARPS", std::to_string(shape.factor_warps())}};
}

rtc::Definitions solve_definitions(const SyncFreeShape& shape, bool upper) {
    return {{"DOF", std::to_string(shape.dof)},
            {"LANES", std::to_string(shape.solve_lanes)},
            {"UPPER", std::to_string(upper)}};
}

unsigned parts_of(Index rows, Index each) {
    return unsigned((rows + each - 1) / each);
}

Buffer<int> order_of(const Context& context, const BlockPattern& pattern, Side side) {
    return moved_to(context, label, levels_of(context.host(), pattern, side, label).rows);
}

/// Where A's diagonal blocks lie in A.
Buffer<Index> diagonal_places(const Context& context, const BlockPattern& a) {
    Buffer<Index> places(context.host(), label, a.rows());
    for (Index row = 0; row < a.rows(); ++row) places[row] = a.find(row, int(row));
    return moved_to(context, label, std::move(places));
}

template <class T>
Buffer<T> copy_on(const Context& context, const Buffer<T>& host) {
    Buffer<T> copy(context, label, host.size());
    copy_between(host.context(), host.data(), context, copy.data(), host.size() * Index(sizeof(T)));
    return copy;
}

const long long* as_pointers(const Index* at) {
    return reinterpret_cast<const long long*>(at);
}

}  // namespace

SyncFreeShape SyncFreeShape::of(double mean, int dof, bool symmetric) {
    return {dof, symmetric, dof > 1 ? 32 : std::max(4, lanes_near(mean, 1)), lanes_near(0.5 * (mean - 1.0) * dof, dof)};
}

SyncFreeCuda::SyncFreeCuda(const Context& context, const BsrMatrix& a, const GeneralFactors& factors)
    : shape_(SyncFreeShape::of(factors.pattern().mean(), factors.dof, factors.symmetric)),
      rows_(factors.pattern().rows()),
      pattern_(factors.pattern().copied_to(context, label)),
      diagonal_(copy_on(context, factors.filled.diagonal)),
      lower_order_(order_of(context, factors.pattern(), Side::lower)),
      upper_order_(order_of(context, factors.pattern(), Side::upper)),
      finished_(context, label, rows_),
      lower_(context, label, rows_ * factors.dof),
      upper_(context, label, rows_ * factors.dof),
      pivots_(context, parts_of(rows_, shape_.factor_rows())),
      factor_kernel_(context, source(factor_text), factor_definitions(shape_), "general_factor"),
      lower_kernel_(context, source(solve_text), solve_definitions(shape_, false), "general_solve"),
      upper_kernel_(context, source(solve_text), solve_definitions(shape_, true), "general_solve") {
    if (factors.filled.place.size() > 0) {
        place_ = copy_on(context, factors.filled.place);
        a_diagonal_ = diagonal_places(context, *a.pattern());
    }
    states_ = hyperplane::copied_to(context, label, std::vector<TicketState>(3, {0, 0, 1}));
}

void SyncFreeCuda::factor(const BsrMatrix& a, double alpha, const PivotRules& rules, double* values,
                          PivotInverter& inverter) {
    if (rows_ == 0) return;
    pivots_.clear_log();
    const bool same = place_.size() == 0;
    const GeneralFactorArguments arguments{.row_begin = as_pointers(pattern_->row_begin()),
                                           .column = pattern_->column(),
                                           .diagonal = as_pointers(diagonal_.data()),
                                           .values = values,
                                           .a_row_begin = as_pointers(a.here().row_begin()),
                                           .a_values = a.values(),
                                           .place = same ? nullptr : place_.data(),
                                           .a_diagonal = same ? nullptr : as_pointers(a_diagonal_.data()),
                                           .order = lower_order_.data(),
                                           .finished = finished_.data(),
                                           .state = states_.data(),
                                           .ratios = pivots_.ratios(),
                                           .rule = rule_of(rules, shape_.symmetric),
                                           .log = pivots_.log(),
                                           .shift = alpha,
                                           .rows = rows_,
                                           .parts = parts_of(rows_, shape_.factor_rows())};
    factor_kernel_.launch({arguments.parts}, unsigned(32 * shape_.factor_warps()), 0, arguments);
    pivots_.report(inverter);
}

void SyncFreeCuda::solve(const double* values, const Vector& r, Vector& z) const {
    if (rows_ == 0) return;
    GeneralSolveArguments arguments{.row_begin = as_pointers(pattern_->row_begin()),
                                    .column = pattern_->column(),
                                    .diagonal = as_pointers(diagonal_.data()),
                                    .values = values,
                                    .order = lower_order_.data(),
                                    .in = r.data(),
                                    .in_record = nullptr,
                                    .records = lower_.data(),
                                    .out = nullptr,
                                    .state = states_.data() + 1,
                                    .rows = rows_,
                                    .parts = parts_of(rows_, shape_.solve_rows())};
    lower_kernel_.launch({arguments.parts}, 128, 0, arguments);
    arguments.order = upper_order_.data();
    arguments.in = nullptr;
    arguments.in_record = lower_.data();
    arguments.records = upper_.data();
    arguments.out = z.data();
    arguments.state = states_.data() + 2;
    upper_kernel_.launch({arguments.parts}, 128, 0, arguments);
}

Index SyncFreeCuda::bytes(const FilledPattern& filled, Index a_blocks, const SyncFreeShape& shape) {
    const Index rows = filled.pattern->rows();
    const bool same = filled.place.size() == 0;
    return filled.pattern->bytes() + rows * Index(2 * sizeof(Index) + 2 * sizeof(int)) +
           (same ? 0 : a_blocks * Index(sizeof(int)) + rows * Index(sizeof(Index))) +
           2 * rows * shape.dof * Index(sizeof(RowRecord)) + 3 * Index(sizeof(TicketState)) +
           PivotRecord::bytes(parts_of(rows, shape.factor_rows()));
}

rtc::Programs SyncFreeCuda::programs(const SyncFreeShape& shape) {
    return {{source(factor_text), factor_definitions(shape)},
            {source(solve_text), solve_definitions(shape, false), "lower"},
            {source(solve_text), solve_definitions(shape, true), "upper"}};
}

}  // namespace hyperplane
