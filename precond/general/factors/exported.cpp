// SPDX-License-Identifier: BSD-3-Clause
#include "precond/general/factors/exported.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "core/error.hpp"
#include "precond/general/factors/host_values.hpp"

namespace hyperplane {
namespace {

/// Appends scalar rows.
class Rows {
public:
    Rows(CsrMatrix& to, Index rows, Index entries) : to_(to) {
        to.rows = rows;
        to.row_begin.reserve(std::size_t(rows) + 1);
        to.row_begin.push_back(0);
        to.column.reserve(std::size_t(entries));
        to.value.reserve(std::size_t(entries));
    }
    void entry(Index column, double value) {
        to_.column.push_back(column);
        to_.value.push_back(value);
    }
    void end() { to_.row_begin.push_back(Index(to_.column.size())); }

private:
    CsrMatrix& to_;
};

/// By Gauss-Jordan elimination with row exchanges: a block that was inverted without them may have an inverse that
/// needs them, such as [a b; b 0].
std::vector<double> inverse_of(const double* block, int dof, const BlockPattern& pattern, Index row) {
    std::vector<double> left(block, block + dof * dof), inverse(left.size(), 0.0);
    for (int p = 0; p < dof; ++p) inverse[p * dof + p] = 1.0;
    const auto exchange = [&](std::vector<double>& rows, int one, int other) {
        std::swap_ranges(rows.begin() + one * dof, rows.begin() + (one + 1) * dof, rows.begin() + other * dof);
    };
    for (int p = 0; p < dof; ++p) {
        int largest = p;
        for (int r = p + 1; r < dof; ++r)
            if (std::abs(left[r * dof + p]) > std::abs(left[largest * dof + p])) largest = r;
        const double pivot = left[largest * dof + p];
        if (pivot == 0.0)
            throw SetupError(
                fmt::format("block row {}: the inverse of D's block is held, and it is singular, so that the factors "
                            "cannot be exported",
                            pattern.given_row(row) + 1));
        if (largest != p) exchange(left, p, largest), exchange(inverse, p, largest);
        for (std::vector<double>* rows : {&left, &inverse})
            for (int c = 0; c < dof; ++c) (*rows)[p * dof + c] /= pivot;
        for (int r = 0; r < dof; ++r) {
            const double factor = left[r * dof + p];
            if (r == p) continue;
            for (std::vector<double>* rows : {&left, &inverse})
                for (int c = 0; c < dof; ++c) (*rows)[r * dof + c] -= factor * (*rows)[p * dof + c];
        }
    }
    return inverse;
}

}  // namespace

LduFactors ldu_of(const GeneralFactors& factors, const Buffer<Index>& diagonals) {
    const BlockPattern& p = factors.pattern();
    const HostValues<double> host(factors.values);
    const HostValues<Index> middles(diagonals);
    const int dof = factors.dof, size = dof * dof;
    const Index rows = p.rows() * dof, below = factors.filled.lower, above = p.blocks() - p.rows() - below;
    LduFactors ldu;
    Rows lower(ldu.lower, rows, below * size + rows), diagonal(ldu.diagonal, rows, rows * dof),
        upper(ldu.upper, rows, above * size + rows);
    for (Index i = 0; i < p.rows(); ++i) {
        const Index begin = p.row_begin()[i], middle = middles.data()[i], end = p.row_begin()[i + 1];
        const double* const held = host.data() + middle * size;  // D^-1
        const std::vector<double> d = inverse_of(held, dof, p, i);
        for (int r = 0; r < dof; ++r) {
            for (Index at = begin; at < middle; ++at)
                for (int c = 0; c < dof; ++c)
                    lower.entry(Index(p.column()[at]) * dof + c, host.data()[at * size + r * dof + c]);
            lower.entry(i * dof + r, 1.0);
            lower.end();
            for (int c = 0; c < dof; ++c) diagonal.entry(i * dof + c, d[r * dof + c]);
            diagonal.end();
            upper.entry(i * dof + r, 1.0);
            for (Index at = middle + 1; at < end; ++at)
                for (int c = 0; c < dof; ++c) {
                    double sum = factors.unit ? host.data()[at * size + r * dof + c] : 0.0;
                    for (int q = 0; q < dof && !factors.unit; ++q)
                        sum += held[r * dof + q] * host.data()[at * size + q * dof + c];
                    upper.entry(Index(p.column()[at]) * dof + c, sum);
                }
            upper.end();
        }
    }
    return ldu;
}

}  // namespace hyperplane
