// SPDX-License-Identifier: BSD-3-Clause
#include "precond/sync_free_ilu/decoupled.hpp"

#include <algorithm>

namespace hyperplane {
namespace {

/// The blocks of A within the parts, and all diagonal blocks.
std::shared_ptr<const BlockPattern> within(const Context& host, const BlockPattern& a, const GraphParts& parts,
                                           const std::string& label) {
    const Buffer<int>& part = parts.part;
    Buffer<Index> row_begin(host, label, a.rows() + 1);
    const auto for_columns = [&](Index row, const auto& body) {
        bool diagonal = false;  // has been passed
        for (Index at = a.row_begin()[row]; at < a.row_begin()[row + 1]; ++at) {
            const int j = a.column()[at];
            if (!diagonal && j >= row) {
                if (j > row) body(int(row));
                diagonal = true;
            }
            if (part[j] == part[row]) body(j);
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

Decoupled decoupled_pattern(const Context& host, const std::shared_ptr<const BlockPattern>& a,
                            const PartOptions& options, const std::string& label) {
    Decoupled made;
    made.parts = options.consecutive
                     ? consecutive_parts(host, a->rows(), options.most_rows, label)
                     : metis_parts(graph_of(*a), options.most_rows, "preconditioner.parts = metis", label);
    made.filled = filled_as(*a, within(host, *a, made.parts, label), label);
    return made;
}

}  // namespace hyperplane
