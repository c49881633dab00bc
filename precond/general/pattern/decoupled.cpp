// SPDX-License-Identifier: BSD-3-Clause
#include "precond/general/pattern/decoupled.hpp"

#include <algorithm>

namespace hyperplane {
namespace {

/// The blocks of A for which keeps(row, column), and all diagonal blocks.
template <class Keeps>
std::shared_ptr<const BlockPattern> within(const Context& host, const BlockPattern& a, const Keeps& keeps,
                                           const std::string& label) {
    Buffer<Index> row_begin(host, label, a.rows() + 1);
    const auto for_columns = [&](Index row, const auto& body) {
        bool diagonal = false;  // has been passed
        for (Index at = a.row_begin()[row]; at < a.row_begin()[row + 1]; ++at) {
            const int j = a.column()[at];
            if (!diagonal && j >= row) {
                if (j > row) body(int(row));
                diagonal = true;
            }
            if (keeps(row, j)) body(j);
        }
        if (!diagonal) body(int(row));
    };
    const int threads = host.threads_for(a.blocks());
#pragma omp parallel for schedule(static) num_threads(threads)
    for (Index row = 0; row < a.rows(); ++row) {
        Index count = 0;
        for_columns(row, [&](int) { ++count; });
        row_begin[row + 1] = count;
    }
    for (Index row = 0; row < a.rows(); ++row) row_begin[row + 1] += row_begin[row];
    Buffer<int> column(host, label, row_begin[a.rows()]);
#pragma omp parallel for schedule(static) num_threads(threads)
    for (Index row = 0; row < a.rows(); ++row) {
        int* next = column.data() + row_begin[row];
        for_columns(row, [&](int j) { *next++ = j; });
    }
    return std::make_shared<const BlockPattern>(std::move(row_begin), std::move(column));
}

}  // namespace

Index PartOptions::default_rows(int dof) {
    return std::min<Index>(2048, 6144 / dof);
}

Index PartOptions::largest_rows(int dof) {
    return 16384 / dof;
}

GraphParts divided_rows(const Context& host, const BlockPattern& a, const PartOptions& options,
                        const std::string& label) {
    if (options.given) {
        Buffer<int> part(host, label, Index(options.given->size()));
        std::copy(options.given->begin(), options.given->end(), part.begin());
        const Index count = part.size() == 0 ? 0 : *std::max_element(part.begin(), part.end()) + 1;
        return listed_parts(std::move(part), count, label);
    }
    if (options.consecutive) return consecutive_parts(host, a.rows(), options.most_rows, label);
    return metis_parts(graph_of(a), options.most_rows, "preconditioner.parts = metis", label);
}

FactorPattern decoupled_pattern(const Context& host, const std::shared_ptr<const BlockPattern>& a,
                                const PartOptions& options, const std::string& label) {
    FactorPattern made;
    made.parts = divided_rows(host, *a, options, label);
    const Buffer<int>& part = made.parts.part;
    const auto same_part = [&](Index row, int column) { return part[row] == part[column]; };
    made.filled = filled_as(*a, within(host, *a, same_part, label), label);
    return made;
}

FilledPattern filled_within_rank(const Context& host, const BlockPattern& a, int k, const std::string& label) {
    const auto own = within(
        host, a, [&](Index, int column) { return column >= 0 && column < a.rows(); }, label);
    return filled_as(a, filled_pattern(host, own, k, label).pattern, label);
}

}  // namespace hyperplane
