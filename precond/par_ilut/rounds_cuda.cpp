// SPDX-License-Identifier: BSD-3-Clause
#include "precond/par_ilut/rounds_cuda.hpp"

#include <algorithm>
#include <cstdint>
#include <iterator>
#include <optional>
#include <utility>

#include "core/profile.hpp"
#include "precond/general/factors/search_factor.hpp"
#include "precond/general/fixed_point/fixed_point_cuda.hpp"
#include "precond/general/solves/solve_cuda.hpp"
#include "precond/par_ilut/candidates.hpp"

namespace hyperplane::par_ilut {
namespace {

constexpr const char* rounds_label = "factor";

Index size_of_block(int dof) {
    return Index(dof) * dof * Index(sizeof(double));
}

/// The most candidates of a round; those of a symmetric matrix are counted once.
Index most_found(const ParIlutOptions& options, const BlockPattern& a, bool symmetric) {
    return most_candidates(a, symmetric, options.candidates) / (symmetric ? 2 : 1);
}

/// X = A, in the pattern of A with all diagonal blocks, whose values are still to come.
GpuFactors begun(const BsrMatrix& a) {
    auto pattern = std::make_unique<GpuPattern>(a, rounds_label);
    if (pattern->counts.missing > 0) {
        const FilledPattern filled = filled_pattern(a.context().host(), a.pattern(), 0, rounds_label);
        pattern = std::make_unique<GpuPattern>(a.context(), a, filled, rounds_label);
    }
    pattern->find_a_diagonal(a, rounds_label);
    const Index numbers = pattern->pattern->blocks() * a.dof() * a.dof();
    return {std::move(pattern), Buffer<double>(a.context(), rounds_label, numbers, Initially::anything)};
}

/// What the kernels are specialised on: rows have the lanes that suit the fullest factors.
SearchShape shape_of(const FillLimits& limits, Index rows, int dof, bool symmetric) {
    RowCounts counts;
    counts.rows = rows;
    counts.lower = limits.lower;
    for (int at = 0; at < RowCounts::lengths; ++at)
        counts.longer[at] = rows + limits.lower + limits.upper > (Index(4) << at) * rows ? rows : 0;
    return SearchShape::of(counts, dof, symmetric);
}

/// Bytes of what a plan counts, of a matrix of which so many blocks are stored.
struct Sizes {
    Index rows, a_blocks;
    int dof;

    Index block() const { return size_of_block(dof); }
    Index inverse() const { return rows * block(); }
    Index pattern(Index blocks) const {
        return BlockPattern::bytes(rows, blocks) + rows * Index(sizeof(Index)) + a_blocks * Index(sizeof(int));
    }
    Index a_diagonal() const { return rows * Index(sizeof(Index)); }
    Index x(Index blocks) const { return pattern(blocks) + a_diagonal() + blocks * block(); }
};

/// What a part of the set-up holds at its peak if factors have `kept` blocks, and `more` of at most `limit` candidates
/// are found among at most `items` products.
Index peak_of_rounds(const Sizes& sizes, const ParIlutOptions& options, bool symmetric, Index kept, Index limit,
                     Index more, Index items) {
    const bool with_residual = options.tolerance > 0.0;
    const Index added = symmetric ? 2 * more : more, large = std::min(kept + added, sizes.rows * sizes.rows);
    const Index lists = list_bytes(sizes.rows, limit, sizes.dof);
    const Index searching =
        sizes.x(kept) + lists + search_bytes_on_gpu(sizes.rows, kept, items, sizes.dof, with_residual);
    const Index joining = sizes.x(kept) + lists + joining_bytes_on_gpu(sizes.rows, more, symmetric) + sizes.x(large);
    const Index sweeping = sizes.x(large) + large * sizes.block();
    const Index selecting = sizes.x(large) + selection_bytes_on_gpu(large) + sizes.x(kept);
    return sizes.inverse() + std::max({searching, joining, sweeping, selecting});
}

}  // namespace

Index search_bytes_on_gpu(Index rows, Index blocks, Index items, int dof, bool with_residual) {
    const Index size = size_of_block(dof);
    // Keys and items while they are sorted; then, of each item at most one block, with what sorts them.
    const Index of_item = 2 * 16 + 4 + size + 2 * (8 + 4 + 4) + 4 + 1;
    return blocks * size + (blocks + 1) * Index(sizeof(Index)) + items * of_item +
           (with_residual ? (rows + blocks) * Index(sizeof(double)) : 0) + (items > 0 ? rows * Index(sizeof(int)) : 0);
}

Index joining_bytes_on_gpu(Index rows, Index candidates, bool symmetric) {
    if (!symmetric) return 0;
    return 2 * candidates * Index(sizeof(int) + sizeof(Index)) + candidates / 2 + (rows + 1) * Index(sizeof(Index));
}

Index selection_bytes_on_gpu(Index blocks) {
    return blocks * Index(sizeof(std::uint64_t) + sizeof(unsigned char) + sizeof(Index)) + blocks / 4;
}

std::unique_ptr<FactorsOnGpu> factors_on_gpu(const BsrMatrix& a, const ParIlutOptions& options, double alpha,
                                             PivotInverter& inverter, int& rounds) {
    const Context& gpu = a.context();
    const PivotRules& rules = inverter.rules();
    GpuFactors x = begun(a);
    const Index rows = x.pattern->pattern->rows(), lower = x.pattern->counts.lower;
    const FillLimits limits = limits_of(rows, lower, x.pattern->pattern->blocks() - rows - lower, options.fill_limit);
    const SearchShape shape = shape_of(limits, rows, a.dof(), a.symmetric());
    Buffer<double> inverse(gpu, rounds_label, rows * a.dof() * a.dof(), Initially::anything);
    const auto sweep = [&] {
        const ProfileScope scope(gpu, "sweep");
        FixedPointCuda one(gpu, *x.pattern, shape.swept());
        Buffer<double> made(gpu, rounds_label, x.values.size(), Initially::anything);
        one.sweep(a, alpha, rules, x.values, inverse, made);
        std::swap(x.values, made);
    };
    FixedPointCuda(gpu, *x.pattern, shape.swept()).begin(a, alpha, rules, inverse, x.values);
    const Index limit = options.rounds > 0 ? most_found(options, *a.pattern(), a.symmetric()) : 0;
    double before = 0.0;
    for (rounds = 0; rounds < options.rounds; ++rounds) {
        {
            const ProfileScope scope(gpu, "candidates");
            GpuCandidates more =
                candidates_on_gpu(a, alpha, x, inverse, options.candidates, limit, options.tolerance > 0.0);
            if (options.tolerance > 0.0 && rounds > 0 && !(more.residual < (1.0 - options.tolerance) * before)) break;
            before = more.residual;
            x = with_candidates(a, std::move(x), std::move(more));
        }
        sweep();
        {
            const ProfileScope scope(gpu, "selection");
            x = with_largest(a, std::move(x), inverse, limits);
        }
        sweep();
    }
    const ProfileScope scope(gpu, "factors");
    if (options.sweeps > 0) {
        general_cpu::FixedPointScratch scratch{Buffer<double>(gpu, rounds_label, x.values.size(), Initially::anything),
                                               std::move(inverse)};
        FixedPointCuda(gpu, *x.pattern, shape.swept())
            .sweep_to_factors(a, alpha, options.sweeps, rules, scratch, x.values, inverter);
    }
    inverse = {};
    Orders orders = orders_on_gpu(gpu, *x.pattern->pattern, x.pattern->diagonal,
                                  {.dof = a.dof(), .slices = true, .way = options.way, .by_level = options.sweeps == 0},
                                  rounds_label);
    if (options.sweeps == 0)
        SearchFactor(gpu, *x.pattern, shape, std::move(orders.by_level))
            .factor(a, alpha, rules, x.values.data(), inverter);
    x.pattern->a_diagonal = {};
    return std::make_unique<FactorsOnGpu>(gpu, std::move(x.pattern), std::move(x.values), std::move(orders), a.dof());
}

rtc::Programs programs_of_rounds(const FillLimits& limits, const MatrixShape& a) {
    const SearchShape shape = shape_of(limits, a.block_rows(), a.dof(), a.symmetric());
    rtc::Programs programs = FixedPointCuda::programs(shape.swept());
    std::ranges::move(SearchFactor::programs(shape), std::back_inserter(programs));
    return programs;
}

void plan_on_gpu(const ParIlutOptions& options, const PreconditionerSetting& setting, const FilledPattern& own,
                 const FillLimits& limits, PreconditionerPlan& plan) {
    const MatrixShape& a = setting.matrix;
    const Index rows = a.block_rows(), blocks = own.pattern->blocks(), kept = rows + limits.lower + limits.upper;
    const Sizes sizes{rows, a.pattern()->blocks(), a.dof()};
    const SearchShape shape = shape_of(limits, rows, a.dof(), a.symmetric());
    const Index positions = 2 * rows * Index(sizeof(int));
    RowCounts counts;
    counts.rows = rows;
    const auto last = [&](Index of_blocks, Index x, const OrderSizes& orders) {
        // Fixed-point sweeps, an elimination, or the copies for solves.
        const Index values = of_blocks * sizes.block(), records = FixedPointCuda::bytes(counts, shape.swept());
        const Index slices = (orders.lower->slices + orders.upper->slices) * Index(sizeof(SolveSlice)) + positions;
        const Index eliminating = slices + SearchFactor::bytes(own.pattern->rows(), shape);
        return std::max({x + sizes.inverse() + records, options.sweeps > 0 ? x + values + sizes.inverse() + records : 0,
                         options.sweeps > 0 ? 0 : x + eliminating,
                         x - sizes.a_diagonal() + SlicedSolve::bytes(rows, orders, a.dof()) + positions});
    };
    if (options.rounds == 0) {
        const OrderSizes orders =
            sizes_of_orders(setting.context, own, {.dof = a.dof(), .slices = true, .way = options.way}, rounds_label);
        const Index values = blocks * sizes.block();
        plan.bytes = GpuPattern::bytes(own, sizes.a_blocks, false) + values + SlicedSolve::bytes(rows, orders, a.dof());
        plan.most_bytes = plan.bytes;
        plan.setup_bytes = last(blocks, GpuPattern::bytes(own, sizes.a_blocks, true) + values, orders) - plan.bytes;
        return;
    }
    const Index upper = blocks - rows - own.lower;
    const OrderSizes least{SlicedSizes::least(rows, own.lower, a.dof()), SlicedSizes::least(rows, upper, a.dof()), {}};
    OrderSizes most{SlicedSizes::most(rows, limits.lower), SlicedSizes::most(rows, limits.upper), {}};
    if (options.way != SolveWay::sync_free)
        for (std::optional<SlicedSizes>* side : {&most.lower, &most.upper}) (*side)->by_level = {rows, rows, 0};
    const Index limit = most_found(options, *a.pattern(), a.symmetric());
    plan.bytes = sizes.x(blocks) - sizes.a_diagonal() + SlicedSolve::bytes(rows, least, a.dof());
    const Index least_peak = std::max(peak_of_rounds(sizes, options, a.symmetric(), blocks, limit, 0, 0),
                                      last(blocks, sizes.x(blocks), least));
    plan.setup_bytes = std::max<Index>(0, least_peak - plan.bytes);
    // A row has at most as many products as the upper triangle has blocks.
    const Index items = std::max(most_items(kept), limits.upper + rows);
    const Index most_peak = std::max(peak_of_rounds(sizes, options, a.symmetric(), kept, limit, limit, items),
                                     last(kept, sizes.x(kept), most));
    const Index most_held = sizes.x(kept) + SlicedSolve::bytes(rows, most, a.dof());
    plan.most_bytes = std::max(most_held, most_peak - plan.setup_bytes);
}

}  // namespace hyperplane::par_ilut
