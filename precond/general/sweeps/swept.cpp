// SPDX-License-Identifier: BSD-3-Clause
#include "precond/general/sweeps/swept.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/matrix/bsr_product_cuda.hpp"
#include "core/ranks/cuts.hpp"
#include "core/ranks/rows_cuda.hpp"
#include "core/vector/blas1.hpp"
#include "core/vector/rows_on_host.hpp"
#include "precond/general/orders/row_counts.hpp"
#include "precond/general/pattern/diagonal_pattern.hpp"
#include "precond/general/sweeps/async_sweep_cuda.hpp"
#include "precond/triangular/jacobi/solve.hpp"
#include "precond/walks/random_vector.hpp"

namespace hyperplane {
namespace {

constexpr const char* swept_label = "sweeps";

/// Between vectors with other halos.
void copy_own_rows(const Vector& from, Vector& to) {
    copy_between(from.context(), from.data(), to.context(), to.data(), from.size() * Index(sizeof(double)));
}

/// The part of a filled pattern below or above the diagonal; of several ranks, of the own rows, and all must call it.
std::shared_ptr<const BlockPattern> triangle_of(const FilledPattern& filled, bool lower,
                                                const std::shared_ptr<const RowSlab>& slab) {
    const BlockPattern& p = *filled.pattern;
    const Context& host = p.context();
    const Index rows = slab ? slab->rows : p.rows();
    Buffer<Index> row_begin(host, swept_label, rows + 1);
    const auto first = [&](Index row) {
        return lower ? p.row_begin()[filled.first + row] : filled.diagonal[filled.first + row] + 1;
    };
    const auto last = [&](Index row) {
        return lower ? filled.diagonal[filled.first + row] : p.row_begin()[filled.first + row + 1];
    };
    for (Index row = 0; row < rows; ++row) row_begin[row + 1] = row_begin[row] + last(row) - first(row);
    Buffer<int> column(host, swept_label, row_begin[rows]);
#pragma omp parallel for schedule(static) num_threads(host.threads_for(p.blocks()))
    for (Index row = 0; row < rows; ++row)
        std::transform(p.column() + first(row), p.column() + last(row), column.data() + row_begin[row],
                       [&](int j) { return j - int(filled.first); });
    std::shared_ptr<RowSlab> own;
    if (slab) {
        // A GPU's product is chosen by how many blocks the whole triangle has, and its long rows.
        Index in_long_rows = 0;
        for (Index row = 0; row < rows; ++row)
            if (const Index length = last(row) - first(row); BlockPattern::is_long_row(length)) in_long_rows += length;
        const auto over_ranks = [&](Index count) {
            const std::vector<double> of_ranks = gathered(host, {double(count)});
            return Index(std::accumulate(of_ranks.begin(), of_ranks.end(), 0.0));
        };
        own = std::make_shared<RowSlab>(*slab);
        own->whole = {
            .rows = slab->all_rows, .blocks = over_ranks(column.size()), .in_long_rows = over_ranks(in_long_rows)};
    }
    return std::make_shared<const BlockPattern>(std::move(row_begin), std::move(column), nullptr, std::move(own));
}

/// The blocks of a triangle, and those of its long rows.
struct TriangleCounts {
    Index blocks = 0, in_long_rows = 0;

    void add_row(Index length) {
        blocks += length;
        if (BlockPattern::is_long_row(length)) in_long_rows += length;
    }
};

/// Returns the counts of the blocks below the diagonal, and of those above it.
[[maybe_unused]] std::pair<TriangleCounts, TriangleCounts> triangles_of(const BlockPattern& p) {
    std::pair<TriangleCounts, TriangleCounts> counts;
    for (Index row = 0; row < p.rows(); ++row) {
        const int *const begin = p.column() + p.row_begin()[row], *const end = p.column() + p.row_begin()[row + 1];
        const auto [diagonal, above] = std::equal_range(begin, end, int(row));
        counts.first.add_row(diagonal - begin);
        counts.second.add_row(end - above);
    }
    return counts;
}

/// out = x y for dof x dof blocks.
void multiply(int dof, const double* x, const double* y, double* out) {
    std::fill_n(out, dof * dof, 0.0);
    for (int row = 0; row < dof; ++row)
        for (int q = 0; q < dof; ++q)
            for (int col = 0; col < dof; ++col) out[row * dof + col] += x[row * dof + q] * y[q * dof + col];
}

/// What an application moves: sweeps with both triangles, whose products move so many bytes, and the product with D^-1.
Index bytes_of_application(const SweepOptions& options, Index lower, Index upper, Index inverse, Index vector) {
    // An asynchronous sweep reads b beside its product, and the first one begins with x = 0. A synchronous one is a
    // product and an addition, and the first one copies b.
    if (options.mode == SweepMode::block_async)
        return options.lower * (lower + vector) + options.upper * (upper + vector) + inverse + 2 * vector;
    return (options.lower - 1) * (lower + 3 * vector) + (options.upper - 1) * (upper + 3 * vector) + inverse +
           4 * vector;
}

}  // namespace

SweptFactors::SweptFactors(const Context& context, const GeneralFactors& factors, const SweepOptions& options,
                           std::shared_ptr<const RowSlab> slab, const RowSlab* of_vectors)
    : context_(context), options_(options) {
    constexpr const char* rank_label = "factor";
    const bool apart = slab && slab.get() != of_vectors;
    if constexpr (cuda_built)
        if (slab && context.backend() == Backend::cuda && !slab->on_gpu) {
            auto made = std::make_shared<RowSlab>(*slab);
            made->on_gpu = cuda::rows_on_gpu(context, *made, factors.dof, rank_label);
            slab = std::move(made);
        }
    const auto make = [&](std::shared_ptr<const BlockPattern> pattern) {
        return std::make_unique<BsrMatrix>(context, std::move(pattern), factors.dof, false, swept_label);
    };
    w_ = make(triangle_of(factors.filled, true, slab));
    g_ = make(triangle_of(factors.filled, false, slab));
    inverse_ = make(diagonal_pattern(factors.pattern().context(), w_->pattern()->rows(), swept_label));
    for (Vector* vector : {&product_, &scaled_}) *vector = Vector(context, w_->space(), factors.dof, swept_label);
    if (options.mode == SweepMode::block_async) {
        blocks_of_w_.emplace(*w_, Side::lower, options.order);
        blocks_of_g_.emplace(*g_, Side::upper, options.order);
    }
    if (!apart) return;
    for (Vector* vector : {&r_, &z_}) *vector = Vector(context, IndexSpace::plain(slab), factors.dof, rank_label);
}

void SweptFactors::take(const GeneralFactors& factors, const std::string& name) {
    const BlockPattern& p = factors.pattern();
    const int dof = factors.dof, size = dof * dof;
    const Context host = context_.host();
    const bool far = context_.backend() == Backend::cuda;
    Buffer<double> copy;
    const bool copies_values = factors.values.backend() == Backend::cuda;
    if (copies_values) {
        copy = Buffer<double>(host, swept_label, factors.values.size());
        copy_between(context_, factors.values.data(), host, copy.data(), copy.size() * Index(sizeof(double)));
    }
    const double* const values = copies_values ? copy.data() : factors.values.data();
    std::unique_ptr<BsrMatrix> copies[3];
    BsrMatrix* here[3] = {w_.get(), g_.get(), inverse_.get()};
    for (int at = 0; far && at < 3; ++at) {
        copies[at] = std::make_unique<BsrMatrix>(host, here[at]->pattern(), dof, false, swept_label);
        here[at] = copies[at].get();
    }
#pragma omp parallel for schedule(static) num_threads(host.threads_for(p.blocks() * size))
    for (Index row = 0; row < w_->pattern()->rows(); ++row) {
        const Index place = factors.filled.first + row, begin = p.row_begin()[place], end = p.row_begin()[place + 1];
        const Index diagonal = factors.filled.diagonal[place];
        const double* const inverse = values + diagonal * size;
        std::copy(values + begin * size, inverse, here[0]->values() + w_->pattern()->row_begin()[row] * size);
        std::copy_n(inverse, size, here[2]->values() + row * size);
        for (Index at = diagonal + 1; at < end; ++at)
            multiply(dof, inverse, values + at * size,
                     here[1]->values() + (g_->pattern()->row_begin()[row] + at - diagonal - 1) * size);
    }
    if (far) {
        w_->assign(*copies[0]);
        g_->assign(*copies[1]);
        inverse_->assign(*copies[2]);
    }
    refuse_divergence(Side::lower, name);
    refuse_divergence(Side::upper, name);
}

void SweptFactors::sweep(const BsrMatrix& triangle, int sweeps, const Vector& b, Vector& x) const {
    transfer(b, x);
    for (int at = 1; at < sweeps; ++at) {
        triangle.apply(x, product_);
        add(b, -1.0, product_, x);
    }
}

void SweptFactors::sweep_by_blocks(Side side, int sweeps, const Vector& b, Vector& x) const {
    const bool lower = side == Side::lower;
    set_zero(x);
    for (int at = 0; at < sweeps; ++at) (lower ? blocks_of_w_ : blocks_of_g_)->sweep(lower ? *w_ : *g_, b, x);
}

void SweptFactors::apply(const Vector& r, Vector& z) const {
    if (z_.memory().size() == 0) return sweep_both(r, z);
    copy_own_rows(r, r_);
    sweep_both(r_, z_);
    copy_own_rows(z_, z);
}

void SweptFactors::sweep_both(const Vector& r, Vector& z) const {
    if (options_.mode == SweepMode::block_async) {
        sweep_by_blocks(Side::lower, options_.lower, r, z);
        inverse_->apply(z, scaled_);
        return sweep_by_blocks(Side::upper, options_.upper, scaled_, z);
    }
    sweep(*w_, options_.lower, r, z);
    inverse_->apply(z, scaled_);
    sweep(*g_, options_.upper, scaled_, z);
}

// The error of a sweep is multiplied by N = -T. Its growth on a positive random vector is measured as in
// precond/triangular/jacobi/solve.hpp.
void SweptFactors::refuse_divergence(Side side, const std::string& name) const {
    const bool lower = side == Side::lower;
    const BsrMatrix& triangle = lower ? *w_ : *g_;
    const int sweeps = lower ? options_.lower : options_.upper;
    Vector &x = product_, &y = scaled_;  // which nothing else uses during a set-up
    HostCopy start(x);
    set_random(start.vector(), 17, 0.0);
    start.store();
    const double norm = norm2(x);
    std::vector<double> growth;
    while (int(growth.size()) < sweeps && (growth.empty() || growth.back() <= most_growth)) {
        triangle.apply(x, y);
        std::swap(x, y);
        growth.push_back(norm > 0.0 ? norm2(x) / norm : 0.0);
    }
    judge_growth(growth, sweeps, side, name, "sync_free_ilu", "ordering.name = rcm, ");
}

Index SweptFactors::bytes_per_apply() const {
    return bytes_of_application(options_, w_->bytes_per_apply(), g_->bytes_per_apply(), inverse_->bytes_per_apply(),
                                inverse_->unknowns() * Index(sizeof(double)));
}

Index SweptFactors::least_bytes(const BlockCounts& factors, const SweepOptions& options, Backend backend) {
    // Three patterns, which share the blocks of the factors, their values, and two vectors.
    const auto [rows, blocks, dof] = factors;
    Index held = 2 * BlockPattern::bytes(rows, 0) + BlockPattern::bytes(rows, blocks) + factors.value_bytes() +
                 2 * rows * dof * Index(sizeof(double));
    if constexpr (cuda_built)
        if (backend == Backend::cuda && options.mode == SweepMode::block_async) held += 2 * AsyncSweepCuda::bytes();
    return held;
}

Index SweptFactors::most_bytes(const BlockCounts& factors, const SweepOptions& options, Backend backend) {
    Index held = least_bytes(factors, options, backend);
    if constexpr (cuda_built)
        if (backend == Backend::cuda) held += BsrProductCuda::most_bytes_of_rows(factors.blocks, factors.dof);
    return held;
}

Index SweptFactors::bytes(const FilledPattern& filled, int dof, const SweepOptions& options, Backend backend,
                          const std::shared_ptr<const RowSlab>& slab, const RowSlab* of_vectors) {
    const Index* const begin = filled.pattern->row_begin() + filled.first;
    const Index rows = slab ? slab->rows : filled.pattern->rows(), value = dof * Index(sizeof(double));
    Index held = least_bytes({rows, begin[rows] - begin[0], dof}, options, backend);
    if (slab) {
        const Index in_memory = IndexSpace::plain(slab).slots_in_memory();
        held += 2 * (in_memory - rows) * value;
        if (slab.get() != of_vectors) held += 2 * in_memory * value;
    }
    if constexpr (cuda_built)
        if (backend == Backend::cuda) {
            for (Index row = filled.first; row < filled.first + rows; ++row) {
                const RowEntries entries = entries_of(filled, row);
                for (const Index length : {entries.below, entries.from - 1})
                    held += BsrProductCuda::bytes_of_row(length, dof);
            }
            if (slab && !slab->on_gpu)
                for (const RowSlab::Neighbour& other : slab->neighbours)
                    held += Index(other.sent.size()) * (value + Index(sizeof(int)));
        }
    return held;
}

Index SweptFactors::bytes_per_apply(const FilledPattern& filled, Index rows, int dof, const SweepOptions& options) {
    const Index* const begin = filled.pattern->row_begin() + filled.first;
    Index lower = 0;
    for (Index row = 0; row < rows; ++row) lower += filled.diagonal[filled.first + row] - begin[row];
    return bytes_per_apply(rows, lower, begin[rows] - begin[0] - rows - lower, dof, options);
}

Index SweptFactors::bytes_per_apply(Index rows, Index lower, Index upper, int dof, const SweepOptions& options) {
    const Index vector = rows * dof * Index(sizeof(double));
    const auto product = [&](Index blocks) {
        return BlockPattern::bytes(rows, blocks) + blocks * dof * dof * Index(sizeof(double)) + 2 * vector;
    };
    return bytes_of_application(options, product(lower), product(upper), product(rows), vector);
}

rtc::Programs SweptFactors::programs(const FilledPattern& filled, int dof, const SweepOptions& options) {
    const BlockPattern& p = *filled.pattern;
    return programs(p, filled.lower, p.blocks() - p.rows() - filled.lower, dof, options);
}

rtc::Programs SweptFactors::programs([[maybe_unused]] const BlockPattern& a, [[maybe_unused]] Index lower,
                                     [[maybe_unused]] Index upper, [[maybe_unused]] int dof,
                                     [[maybe_unused]] const SweepOptions& options) {
    rtc::Programs all;
    if constexpr (cuda_built) {
        if (a.rows() == 0) return all;
        const auto add = [&](rtc::Programs programs, const std::string& which) {
            for (rtc::Program& program : programs) {
                program.title = which + " " + program.title;
                all.push_back(std::move(program));
            }
        };
        const auto add_triangle = [&](const TriangleCounts& of_a, Index blocks, const std::string& which) {
            const double mean = double(blocks) / double(a.rows());
            const bool uneven = BlockPattern::is_uneven(mean, of_a.in_long_rows, of_a.blocks);
            add(BsrProductCuda::programs(BsrProductCuda::row_threads(mean, uneven, dof), dof), which);
            if (options.mode == SweepMode::block_async) add(AsyncSweepCuda::programs(mean, dof), which);
        };
        const auto [below, above] = triangles_of(a);
        add_triangle(below, lower, "lower");
        add_triangle(above, upper, "upper");
        add(BsrProductCuda::programs(1.0, dof), "inverse");
    }
    return all;
}

}  // namespace hyperplane
