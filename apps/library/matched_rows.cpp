// SPDX-License-Identifier: BSD-3-Clause
#include "apps/library/matched_rows.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "core/error.hpp"
#include "core/graph/row_matching.hpp"

namespace hyperplane {
namespace {

constexpr const char* matched_label = "matrix";

ReorderedPattern matched_pattern(const BsrMatrix& a) {
    std::unique_ptr<BsrMatrix> copy;
    const BsrMatrix& host = on_host(a, copy);
    RowMatching matching = match_rows(host);
    if (matching.unmatched > 0)
        throw SetupError("ordering.rows = matching: " + unmatched_text(matching, a.dof(), "leave ordering.rows out"));
    Buffer<int> given(host.context(), matched_label, matching.row.size());
    std::iota(given.begin(), given.end(), 0);
    RowOrder order = make_row_order(host.context(), "natural (rows = matching)", std::move(given));
    order.equation = std::move(matching.row);
    return in_order(*a.pattern(), std::make_shared<const RowOrder>(std::move(order)), matched_label);
}

}  // namespace

MatchedRows::MatchedRows(const BsrMatrix& a) : matched_(matched_pattern(a)) {}

std::unique_ptr<BsrMatrix> MatchedRows::with_rows_of(const BsrMatrix& a, bool symmetric) const {
    std::unique_ptr<BsrMatrix> copy;
    const BsrMatrix& host = on_host(a, copy);
    const Index size = Index(a.dof()) * a.dof();
    Buffer<double> values(host.context(), matched_label, host.nonzeros());
#pragma omp parallel for schedule(static) num_threads(host.context().threads_for(host.nonzeros()))
    for (Index at = 0; at < matched_.from.size(); ++at)
        std::copy_n(host.values() + matched_.from[at] * size, size, values.data() + at * size);
    return std::make_unique<BsrMatrix>(matched_.pattern, a.dof(), symmetric, std::move(values));
}

std::vector<double> MatchedRows::with_rows_of(std::span<const double> b, int dof) const {
    return matched_.pattern->order()->equations_to_places(b, dof);
}

}  // namespace hyperplane
