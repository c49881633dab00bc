// SPDX-License-Identifier: BSD-3-Clause
#include "precond/general/solves/solve_cuda.hpp"

#include <algorithm>
#include <utility>

#include "core/profile.hpp"
#include "precond/general/factors/cpu.hpp"
#include "precond/general/factors/stored_on_host.hpp"
#include "precond/general/pattern/on_gpu.hpp"
#include "precond/general/solves/solve_way.hpp"
#include "precond/kernel_set.hpp"

namespace hyperplane {
namespace {

constexpr const char* slices_label = "factor";
constexpr const char *slice_text = "precond/general/solves/slice.cuh", *solve_text = "precond/general/solves/solve.cuh",
                     *level_solve_text = "precond/general/solves/level_solve.cuh";

rtc::Definitions definitions(int dof, Side side, FactorStorage storage) {
    return {{"DOF", std::to_string(dof)},
            {"UPPER", std::to_string(side == Side::upper)},
            {"STORAGE", std::to_string(int(storage))}};
}
rtc::Definitions definitions_of_solve(int dof, Side side, FactorStorage storage, bool of_ranks) {
    rtc::Definitions made = definitions(dof, side, storage);
    made["RANKS"] = std::to_string(of_ranks);
    return made;
}

/// The threads of a thread block of a solve by levels; blocks of many unknowns need more registers.
int level_threads(int dof) {
    return dof > 8 ? 256 : 512;
}
rtc::Definitions definitions_of_level_solve(int dof, Side side, FactorStorage storage) {
    rtc::Definitions made = definitions(dof, side, storage);
    made["THREADS"] = std::to_string(level_threads(dof));
    made["NARROW"] = std::to_string(most_narrow_slices) + "u";
    return made;
}

std::vector<int> on_host(const Buffer<int>& values) {
    std::vector<int> copy(static_cast<std::size_t>(values.size()));
    values.context().stream().copy(values.data(), copy.data(), values.size() * Index(sizeof(int)));
    return copy;
}

Index bytes_of(Index rows, const SlicedSizes& sliced, int dof, FactorStorage storage) {
    const LevelCounts& by_level = sliced.by_level;
    const Index of_levels = by_level.levels > 0 ? (by_level.levels + by_level.steps + 2) * Index(sizeof(int)) : 0;
    return of_levels + sliced.slices * Index(sizeof(SolveSlice)) +
           rows * Index(sizeof(int) + sizeof(SliceRow) + dof * sizeof(EpochRecord)) +
           sliced.places * Index(sizeof(int)) + StoredValues::bytes(storage, sliced.places * dof * dof, rows * dof);
}

}  // namespace

SlicedSolve::Triangle::Triangle(const Context& context, SlicedOrder sliced, Side side, int dof, FactorStorage storage,
                                const RowSlab* slab)
    : count(sliced.slices.size()),
      places(sliced.places),
      slices(std::move(sliced.slices)),
      order(std::move(sliced.row)),
      column(context, slices_label, places, Initially::anything),
      rows(context, slices_label, order.size(), Initially::anything),
      values(context, storage, places * dof * dof, order.size() * dof, slices_label, Initially::anything),
      records(context, slices_label, (order.size() + (slab ? Index(slab->halo.size()) : 0)) * dof),
      slice(context, precond_source(slice_text), definitions(dof, side, storage), "slice_factors"),
      threads(unsigned(sliced.level_begin.empty() ? slices::threads : level_threads(dof))) {
    if (sliced.level_begin.empty()) {
        solve = {context, precond_source(solve_text), definitions_of_solve(dof, side, storage, slab != nullptr),
                 "general_solve"};
        blocks =
            unsigned(std::min(slices::resident_blocks(context, solve.occupancy(int(threads), 0), count, sliced.levels),
                              slices::blocks_for(count)));
        return;
    }
    level_solve = {context, precond_source(level_solve_text), definitions_of_level_solve(dof, side, storage),
                   "general_level_solve"};
    level_begin = hyperplane::copied_to(context, slices_label, sliced.level_begin);
    step = hyperplane::copied_to(context, slices_label, steps_of_levels(sliced.level_begin));
    const Index warps = threads / 32, widest = counts_of_levels(sliced.level_begin).widest;
    const Index resident = level_solve.occupancy(int(threads), 0) * context.stream().properties().multiprocessors;
    blocks = unsigned(widest > most_narrow_slices ? std::min((widest + warps - 1) / warps, resident) : 1);
}

SlicedSolve::SlicedSolve(const Context& context, const GpuPattern& pattern, SlicedOrder lower, SlicedOrder upper,
                         int dof, FactorStorage storage, const std::shared_ptr<const RowSlab>& slab)
    : pattern_(pattern),
      ranks_(slab ? std::make_unique<const RowsBetweenRanks>(context, slab, dof) : nullptr),
      rows_(lower.row.size()),
      dof_(dof),
      storage_(storage),
      lower_(context, std::move(lower), Side::lower, dof, storage, slab.get()),
      upper_(context, std::move(upper), Side::upper, dof, storage, slab.get()),
      lower_position_(positions(context, lower_, Side::lower)),
      upper_position_(positions(context, upper_, Side::upper)),
      from_(between_on_gpu(context, lower_position_, upper_.order, slices_label)),
      inverse_(context, storage, rows_ * dof * dof, rows_ * dof, slices_label, Initially::anything),
      states_(hyperplane::copied_to(context, slices_label, std::vector<TicketState>(2, {0, 0, 1}))) {}

Buffer<int> SlicedSolve::positions(const Context& context, Triangle& triangle, Side side) const {
    if (!ranks_) return positions_on_gpu(context, triangle.order, slices_label);
    const std::vector<int> made = ranks_->positions(on_host(triangle.order));
    triangle.sent = ranks_->sent(side, made, triangle.records.data(), slices_label);
    return hyperplane::copied_to(context, slices_label, made);
}

void SlicedSolve::launch(const Context& context, Side side, const GeneralSolveArguments& arguments) const {
    const bool upper = side == Side::upper;
    const Index bytes = bytes_per_apply() / 2;
    const ProfileScope scope(context, upper ? "upper" : "lower", bytes);
    const Triangle& triangle = upper ? upper_ : lower_;
    if (triangle.level_solve)
        return triangle.level_solve.launch_together({triangle.blocks}, triangle.threads, 0,
                                                    {.solve = arguments,
                                                     .level_begin = triangle.level_begin.data(),
                                                     .step = triangle.step.data(),
                                                     .steps = unsigned(triangle.step.size() - 1)});
    const auto queue = [&] { triangle.solve.launch_together({triangle.blocks}, triangle.threads, 0, arguments); };
    ranks_ ? ranks_->solve(side, triangle.sent, queue) : queue();
}

void SlicedSolve::copy(Triangle& triangle, const StoredView& factors, const int* position) {
    const SliceArguments arguments{.slices = triangle.slices.data(),
                                   .rows = triangle.rows.data(),
                                   .order = triangle.order.data(),
                                   .position = position,
                                   .row_begin = as_pointers(pattern_.pattern->row_begin()),
                                   .column = pattern_.pattern->column(),
                                   .diagonal = as_pointers(pattern_.diagonal.data()),
                                   .values = factors.values,
                                   .sliced_column = triangle.column.data(),
                                   .sliced = triangle.values.data(),
                                   .inverse = inverse_.data(),
                                   .exponents = factors.exponents,
                                   .sliced_exponents = triangle.values.exponents(),
                                   .inverse_exponents = inverse_.exponents(),
                                   .rows_of_pattern = pattern_.pattern->rows(),
                                   .count = triangle.count};
    triangle.slice.launch({unsigned(slices::blocks_for(triangle.count))}, slices::threads, 0, arguments);
}

void SlicedSolve::copy(const StoredView& factors) {
    if (rows_ == 0) return;
    copy(lower_, factors, lower_position_.data());
    copy(upper_, factors, upper_position_.data());
    lower_position_ = {};
    upper_position_ = {};
}

Rounding SlicedSolve::round(const GeneralFactors& factors, const BsrMatrix& a) {
    RoundedFactors rounded(pattern_, storage_, dof_, slices_label);
    const Rounding met = rounded.round(pattern_, factors.values.data(), a, ranks_ ? ranks_->slab().before : 0);
    copy(rounded.stored());
    return met;
}

Index SlicedSolve::bytes_per_apply() const {
    return general_cpu::bytes_per_apply(rows_, pattern_.pattern->blocks(), dof_, storage_);
}

std::string SlicedSolve::way() const {
    if (ranks_ || rows_ == 0) return "";
    return name_of(lower_.level_solve ? SolveWay::levels : SolveWay::sync_free);
}

void SlicedSolve::apply(const Vector& r, Vector& z) const {
    if (rows_ == 0) return;
    // Orders count a rank's rows from the first one in memory.
    const Index before = ranks_ ? ranks_->slab().before * r.dof() : 0;
    if (ranks_) ranks_->begin();
    launch(r.context(), Side::lower,
           {.slices = lower_.slices.data(),
            .column = lower_.column.data(),
            .values = lower_.values.data(),
            .inverse = nullptr,
            .from = lower_.order.data(),
            .to = nullptr,
            .in = r.data() - before,
            .in_record = nullptr,
            .records = lower_.records.data(),
            .out = nullptr,
            .state = states_.data(),
            .sent_begin = lower_.sent.begin.data(),
            .sent_to = lower_.sent.to.data(),
            .exponents = lower_.values.exponents(),
            .inverse_exponents = nullptr,
            .count = unsigned(lower_.count)});
    launch(r.context(), Side::upper,
           {.slices = upper_.slices.data(),
            .column = upper_.column.data(),
            .values = upper_.values.data(),
            .inverse = inverse_.data(),
            .from = from_.data(),
            .to = upper_.order.data(),
            .in = nullptr,
            .in_record = lower_.records.data(),
            .records = upper_.records.data(),
            .out = z.data() - before,
            .state = states_.data() + 1,
            .sent_begin = upper_.sent.begin.data(),
            .sent_to = upper_.sent.to.data(),
            .exponents = upper_.values.exponents(),
            .inverse_exponents = inverse_.exponents(),
            .count = unsigned(upper_.count)});
}

GeneralFactors SlicedSolve::widened(const GeneralFactors& shape) const {
    UnitFactorsOnHost wide(shape, pattern_.diagonal);
    const HostValues<int> lower_order(lower_.order), upper_order(upper_.order);
    const StoredOnHost lower(lower_.values), upper(upper_.values), inverse(inverse_);
    for (const Side side : {Side::lower, Side::upper}) {
        const bool is_upper = side == Side::upper;
        const HostValues<SolveSlice> slices((is_upper ? upper_ : lower_).slices);
        const StoredOnHost& stored = is_upper ? upper : lower;
        for (Index which = 0; which < (is_upper ? upper_ : lower_).count; ++which) {
            const SolveSlice& slice = slices.data()[which];
            const Index together = Index(slice.rows) * slice.lanes;
            for (int i = 0; i < slice.rows; ++i) {
                const Index position = slice.first + i, row = (is_upper ? upper_order : lower_order).data()[position];
                for (int r = 0; r < dof_; ++r) {
                    const double scale = stored.scale(position * dof_ + r);
                    const auto [first, last] = wide.blocks_of(row, side);
                    for (Index b = 0; b < last - first; ++b)
                        for (int c = 0; c < dof_; ++c) {
                            const Index group = i * slice.lanes + b % slice.lanes;
                            const Index at = ((slice.begin + b / slice.lanes * together) * dof_ + c * together) * dof_;
                            wide.element(first + b, r, c) = scale * stored.value(at + group * dof_ + r);
                        }
                    if (!is_upper) continue;
                    for (int c = 0; c < dof_; ++c)
                        wide.element(first - 1, r, c) =
                            inverse.scale(position * dof_ + r) *
                            inverse.value((Index(slice.first) * dof_ + c * slice.rows) * dof_ + i * dof_ + r);
                }
            }
        }
    }
    return std::move(wide).factors();
}

Index SlicedSolve::bytes(Index rows, const OrderSizes& sizes, int dof, FactorStorage storage) {
    return bytes_of(rows, *sizes.lower, dof, storage) + bytes_of(rows, *sizes.upper, dof, storage) +
           rows * Index(sizeof(int)) + StoredValues::bytes(storage, rows * dof * dof, rows * dof) +
           2 * Index(sizeof(TicketState));
}

Index SlicedSolve::bytes_between_ranks(const RowSlab& slab, int dof) {
    return 2 * Index(slab.halo.size()) * dof * Index(sizeof(EpochRecord)) + RowsBetweenRanks::bytes(slab);
}

namespace {

rtc::Programs programs_of(int dof, FactorStorage storage, bool sync_free, bool levels, bool of_ranks) {
    rtc::Programs programs;
    for (const Side side : {Side::lower, Side::upper}) {
        const auto add = [&](const char* text, const rtc::Definitions& made) {
            programs.push_back({precond_source(text), made, side == Side::lower ? "lower" : "upper"});
        };
        add(slice_text, definitions(dof, side, storage));
        if (sync_free) add(solve_text, definitions_of_solve(dof, side, storage, of_ranks));
        if (levels) add(level_solve_text, definitions_of_level_solve(dof, side, storage));
    }
    return programs;
}

}  // namespace

rtc::Programs SlicedSolve::programs(int dof, SolveWay way, FactorStorage storage) {
    return programs_of(dof, storage, way != SolveWay::levels, way != SolveWay::sync_free, false);
}

rtc::Programs SlicedSolve::programs_of_ranks(int dof, FactorStorage storage) {
    return programs_of(dof, storage, true, false, true);
}

}  // namespace hyperplane
