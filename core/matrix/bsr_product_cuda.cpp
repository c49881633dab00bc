// SPDX-License-Identifier: BSD-3-Clause
#include "core/matrix/bsr_product_cuda.hpp"

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstdint>
#include <cstdlib>

#include "core/device/cuda.hpp"

namespace hyperplane {
namespace {

/// Blocks of a row beyond which it is cut into pieces, and the blocks of a piece.
constexpr Index longest = 512, piece_length = 512;

struct LongRows {
    std::vector<BlockRange> pieces, rows;
};

LongRows long_rows_of(const BlockPattern& pattern) {
    LongRows found;
    for (Index row = 0; row < pattern.rows(); ++row) {
        const Index begin = pattern.row_begin()[row], end = pattern.row_begin()[row + 1];
        if (end - begin <= longest) continue;
        const Index first = Index(found.pieces.size());
        for (Index at = begin; at < end; at += piece_length)
            found.pieces.push_back({at, std::min(at + piece_length, end), Index(found.rows.size())});
        found.rows.push_back({first, Index(found.pieces.size()), row});
    }
    return found;
}

rtc::Source bsr_source() {
    return {rtc::core_texts(), "core/matrix/bsr_product.cuh"};
}

rtc::Definitions definitions(const BsrProductCuda::RowThreads& rows, int dof, bool exact) {
    return {{"DOF", std::to_string(dof)},
            {"LANES", std::to_string(rows.lanes)},
            {"EXACT", std::to_string(exact)},
            {"UNEVEN", std::to_string(rows.uneven)}};
}

/// Room for so many blocks, whole lines of them, and for those before them in a line, which are not copied.
Index with_skipped(Index blocks, int line) {
    return (blocks / 4 * 4 + (line - 4) + line - 1) / line * line;
}

/// Blocks that bsr_staged's shared memory has room for: those of a thread block's rows and a tenth more, or four tenths
/// where rows are uneven, so that most thread blocks copy all of their rows at once.
Index capacity_for(double mean, const BsrProductCuda::RowThreads& rows, int dof) {
    constexpr double most_bytes = 40.0 * 1024.0;  // with what is declared below 48 KiB, which need not be asked for
    const double room = rows.uneven ? 1.4 : 1.1;
    const double wanted = room * std::max(mean, 1.0) * staged_rows(rows.lanes, dof) + 8.0;
    return with_skipped(Index(std::min(wanted, most_bytes / (8.0 * dof * dof + 4.0))), staged_line(rows.lanes, dof));
}

/// Whether rows are so long that a row's lanes read enough at a time by themselves, and bsr_rows is the faster one.
bool fills_lanes(double mean, int dof) {
    return dof > 1 && mean * dof > 64.0;
}

/// Entries that a warp of bsr_short needs room for: those of its rows and a twentieth more.
Index short_capacity(double mean) {
    return with_skipped(Index(1.05 * std::max(mean, 1.0) * 32 + 8.0), line_blocks);
}

Index shared_bytes(Index capacity, int dof) {
    return capacity * (dof * dof * Index(sizeof(double)) + Index(sizeof(int)));
}

}  // namespace

BsrProductCuda::BsrProductCuda(const BsrMatrix& a)
    : rows_(row_threads(*a.pattern(), a.dof())),
      staged_(!fills_lanes(a.pattern()->mean(), a.dof()) && reads_nearby(*a.pattern())),
      capacity_(capacity_for(a.pattern()->mean(), rows_, a.dof())),
      apply_(kernels(a.context(), rows_, a.dof(), false)),
      residual_(kernels(a.context(), rows_, a.dof(), true)) {
    const LongRows found = long_rows_of(*a.pattern());
    pieces_ = copied_to(a.context(), "long rows", found.pieces);
    long_rows_ = copied_to(a.context(), "long rows", found.rows);
    partial_ = Buffer<double>(a.context(), "long rows", Index(found.pieces.size()) * a.dof() * 2);
    arrived_ = Buffer<unsigned>(a.context(), "long rows", Index(found.rows.size()));
    // Thread blocks of bsr_short take rows in turns, so those that come after the pieces of long rows would be late.
    if (!apply_.few || !found.rows.empty()) return;
    few_capacity_ = short_capacity(a.pattern()->mean());
    const Index bytes = 2 * short_threads / 32 * shared_bytes(few_capacity_, 1);
    apply_.few.allow_shared(bytes);
    few_groups_ = apply_.few.occupancy(short_threads, bytes) * cuda::multiprocessors(a.context());
}

BsrProductCuda::RowThreads BsrProductCuda::row_threads(double mean, bool uneven, int dof) {
    if (uneven && dof == 1) return {4, true};
    return {lanes_for(mean, dof)};
}

int BsrProductCuda::lanes_for(double mean, int dof) {
    const double wanted = std::min(32.0, std::max(1.0, mean) * dof);
    const int lanes = int(std::bit_floor(unsigned(std::max(wanted, 2.0))));
    return std::max(lanes, int(std::bit_ceil(unsigned(dof))));
}

bool BsrProductCuda::reads_nearby(const BlockPattern& pattern) {
    constexpr Index samples = 1024, always_near = 4096;
    const Index near = std::max(pattern.rows() / 16, always_near), step = std::max<Index>(pattern.rows() / samples, 1);
    Index seen = 0, far = 0;
    for (Index row = 0; row < pattern.rows(); row += step) {
        const Index begin = pattern.row_begin()[row], end = pattern.row_begin()[row + 1];
        if (end - begin > longest) continue;
        for (Index at = begin; at < end; ++at, ++seen) far += std::abs(pattern.column()[at] - row) > near;
    }
    return 2 * far <= seen;
}

Index BsrProductCuda::bytes(const BlockPattern& pattern, int dof) {
    Index bytes = 0;
    for (Index row = 0; row < pattern.rows(); ++row)
        bytes += bytes_of_row(pattern.row_begin()[row + 1] - pattern.row_begin()[row], dof);
    return bytes;
}

Index BsrProductCuda::bytes_of_row(Index blocks, int dof) {
    if (blocks <= longest) return 0;
    const Index pieces = (blocks + piece_length - 1) / piece_length;
    return (pieces + 1) * Index(sizeof(BlockRange)) + pieces * dof * 2 * Index(sizeof(double)) +
           Index(sizeof(unsigned));
}

Index BsrProductCuda::most_bytes_of_rows(Index blocks, int dof) {
    // A row has at most one piece that is not full.
    const Index rows = blocks / (longest + 1), pieces = blocks / piece_length + rows;
    return (pieces + rows) * Index(sizeof(BlockRange)) + pieces * dof * 2 * Index(sizeof(double)) +
           rows * Index(sizeof(unsigned));
}

BsrProductCuda::Kernels BsrProductCuda::kernels(const Context& context, const RowThreads& rows, int dof, bool exact) {
    const rtc::Definitions all = definitions(rows, dof, exact);
    Kernels made{Kernel(context, bsr_source(), all, "bsr_rows"),
                 Kernel(context, bsr_source(), all, "bsr_rows_long"),
                 {},
                 {},
                 {}};
    if (!exact && dof <= most_staged_dof && context.stream().properties().major >= 9) {
        made.staged = Kernel(context, bsr_source(), all, "bsr_staged");
        made.staged_long = Kernel(context, bsr_source(), all, "bsr_staged_long");
        if (dof == 1 && !rows.uneven && rows.lanes <= most_short_lanes)
            made.few = Kernel(context, bsr_source(), all, "bsr_short");
    }
    return made;
}

bool BsrProductCuda::stages(const Kernels& kernels, const BsrMatrix& a) const {
    // Bulk copies need addresses that are multiples of 16, which a caller's own values may not have.
    return kernels.staged && staged_ && reinterpret_cast<std::uintptr_t>(a.values()) % 16 == 0;
}

void BsrProductCuda::launch(const Kernels& kernels, const BsrMatrix& a, const Vector* b, const Vector& x,
                            Vector& y) const {
    static_assert(sizeof(long long) == sizeof(Index));
    const BlockPattern& pattern = a.here();
    if (pattern.rows() == 0) return;
    const bool staged = stages(kernels, a), few = staged && kernels.few && few_groups_ > 0;
    const unsigned threads =
        staged ? unsigned(staged_threads(a.dof())) : unsigned(rows_threads(rows_.lanes, a.dof(), b));
    const unsigned piece_groups = cuda::blocks_for(pieces_.size(), threads / 32);
    const BsrProductArguments arguments{.row_begin = reinterpret_cast<const long long*>(pattern.row_begin()),
                                        .column = pattern.column(),
                                        .values = a.values(),
                                        .x = x.data(),
                                        .b = b ? b->data() : nullptr,
                                        .y = y.data(),
                                        .rows = pattern.rows(),
                                        .longest = longest,
                                        .pieces = pieces_.data(),
                                        .long_rows = long_rows_.data(),
                                        .partial = partial_.data(),
                                        .arrived = arrived_.data(),
                                        .piece_count = pieces_.size(),
                                        .piece_groups = piece_groups,
                                        .blocks = pattern.blocks(),
                                        .capacity = few ? few_capacity_ : capacity_};
    if (few)
        return kernels.few.launch({std::min(few_groups_, cuda::blocks_for(pattern.rows(), short_threads))},
                                  short_threads, 2 * short_threads / 32 * shared_bytes(few_capacity_, 1), arguments);
    const unsigned groups =
        cuda::blocks_for(pattern.rows(), staged ? staged_rows(rows_.lanes, a.dof()) : int(threads) / rows_.lanes) +
        piece_groups;
    if (staged)
        (piece_groups > 0 ? kernels.staged_long : kernels.staged)
            .launch({groups}, threads, shared_bytes(capacity_, a.dof()), arguments);
    else
        (piece_groups > 0 ? kernels.rows_long : kernels.rows).launch({groups}, threads, 0, arguments);
}

rtc::Programs BsrProductCuda::programs(const RowThreads& rows, int dof) {
    return {{bsr_source(), definitions(rows, dof, false), "product"},
            {bsr_source(), definitions(rows, dof, true), "residual"}};
}

}  // namespace hyperplane
