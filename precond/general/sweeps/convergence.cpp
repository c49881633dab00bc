// SPDX-License-Identifier: BSD-3-Clause
#include "precond/general/sweeps/convergence.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include "core/error.hpp"
#include "core/matrix/bsr_matrix.hpp"
#include "core/vector/blas1.hpp"
#include "precond/general/sweeps/block_sweeps.hpp"

namespace hyperplane {
namespace {

constexpr const char* convergence_label = "sweeps";

/// Whether an entry makes its row depend on another one.
bool couples(const CsrMatrix& t, Index row, Index at) {
    return t.column[at] != row && t.value[at] != 0.0;
}

/// The rows of a triangle so that each one follows those that it depends on, and the number of levels.
struct Chains {
    std::vector<Index> rows;
    Index levels = 0;
};
Chains chains_of(const CsrMatrix& t) {
    std::vector<Index> begin(std::size_t(t.rows) + 1, 0), missing(std::size_t(t.rows), 0), level(missing);
    for (Index row = 0; row < t.rows; ++row)
        for (Index at = t.row_begin[row]; at < t.row_begin[row + 1]; ++at)
            if (couples(t, row, at)) ++begin[t.column[at] + 1], ++missing[row];
    for (Index row = 0; row < t.rows; ++row) begin[row + 1] += begin[row];
    std::vector<Index> dependent(std::size_t(begin.back())), next(begin.begin(), begin.end() - 1);
    for (Index row = 0; row < t.rows; ++row)
        for (Index at = t.row_begin[row]; at < t.row_begin[row + 1]; ++at)
            if (couples(t, row, at)) dependent[next[t.column[at]]++] = row;
    Chains chains;
    chains.rows.reserve(std::size_t(t.rows));
    for (Index row = 0; row < t.rows; ++row)
        if (missing[row] == 0) chains.rows.push_back(row);
    for (std::size_t at = 0; at < chains.rows.size(); ++at) {
        const Index row = chains.rows[at];
        chains.levels = std::max(chains.levels, level[row] + 1);
        for (Index to = begin[row]; to < begin[row + 1]; ++to) {
            level[dependent[to]] = std::max(level[dependent[to]], level[row] + 1);
            if (--missing[dependent[to]] == 0) chains.rows.push_back(dependent[to]);
        }
    }
    if (Index(chains.rows.size()) < t.rows)
        throw SetupError("sweeps: a row of a triangle depends on itself through others, so there is no exact solve");
    return chains;
}

/// b - N x in a row, with b of ones.
double rest_of_row(const CsrMatrix& t, Index row, const std::vector<double>& x) {
    double rest = 1.0;
    for (Index at = t.row_begin[row]; at < t.row_begin[row + 1]; ++at)
        if (t.column[at] != row) rest -= t.value[at] * x[t.column[at]];
    return rest;
}

std::vector<double> exact_solution(const CsrMatrix& t, const std::vector<Index>& rows) {
    std::vector<double> x(std::size_t(t.rows), 0.0);
    for (const Index row : rows) x[row] = rest_of_row(t, row, x);
    return x;
}

/// N in blocks of dof x dof.
BsrMatrix without_diagonal(const Context& context, const CsrMatrix& t, int dof) {
    std::vector<Index> row_begin{0};
    std::vector<int> column, of_row;
    for (Index point = 0; point < t.rows / dof; ++point) {
        of_row.clear();
        for (Index row = point * dof; row < (point + 1) * dof; ++row)
            for (Index at = t.row_begin[row]; at < t.row_begin[row + 1]; ++at)
                if (t.column[at] != row) of_row.push_back(int(t.column[at] / dof));
        std::sort(of_row.begin(), of_row.end());
        column.insert(column.end(), of_row.begin(), std::unique(of_row.begin(), of_row.end()));
        row_begin.push_back(Index(column.size()));
    }
    const Context host = context.host();
    const auto pattern = std::make_shared<const BlockPattern>(host, row_begin, column, convergence_label);
    BsrMatrix n(host, pattern, dof, false, convergence_label);
    for (Index row = 0; row < t.rows; ++row)
        for (Index at = t.row_begin[row]; at < t.row_begin[row + 1]; ++at)
            if (t.column[at] != row)
                n.values()[(pattern->find(row / dof, int(t.column[at] / dof)) * dof + row % dof) * dof +
                           t.column[at] % dof] = t.value[at];
    if (context.backend() == Backend::cpu) return n;
    BsrMatrix there(context, pattern, dof, false, convergence_label);
    there.assign(n);
    return there;
}

double norm(const std::vector<double>& x) {
    double sum = 0.0;
    for (const double value : x) sum += value * value;
    return std::sqrt(sum);
}

}  // namespace

SweepConvergence sweep_convergence(const Context& context, const CsrMatrix& triangle, int dof, Side side,
                                   const SweepOptions& options, int most) {
    const Chains chains = chains_of(triangle);
    const std::vector<double> exact = exact_solution(triangle, chains.rows);
    const double size = norm(exact), size_of_b = std::sqrt(double(triangle.rows));
    const BsrMatrix n = without_diagonal(context, triangle, dof);
    std::optional<BlockSweeps> blocks;
    if (options.mode == SweepMode::block_async) blocks.emplace(n, side, options.order);
    Vector b(context, n.space(), dof, convergence_label), x(context, n.space(), dof, convergence_label),
        product(context, n.space(), dof, convergence_label);
    fill(b, 1.0);
    set_zero(x);
    SweepConvergence found;
    found.levels = chains.levels;
    std::vector<double> rest(exact.size()), before;
    for (int sweep = 1; sweep <= most; ++sweep) {
        if (blocks) {
            blocks->sweep(n, b, x);
        } else {
            n.apply(x, product);
            add(b, -1.0, product, x);
        }
        std::vector<double> values = to_natural(x);
        for (Index row = 0; row < triangle.rows; ++row) rest[row] = rest_of_row(triangle, row, values) - values[row];
        found.residual.push_back(norm(rest) / size_of_b);
        for (Index row = 0; row < triangle.rows; ++row) rest[row] = values[row] - exact[row];
        found.error.push_back(norm(rest) / size);
        if (found.residual.back() == 0.0 || !std::isfinite(found.residual.back())) break;
        if (values == before) break;  // so all blocks have read it
        before = std::move(values);
    }
    return found;
}

}  // namespace hyperplane
