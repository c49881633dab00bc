// SPDX-License-Identifier: BSD-3-Clause
// ParILUT and ParICT with synchronous sweeps: Anzt, Chow and Dongarra, SIAM J. Sci. Comput. 40, 2018, Algorithm 2.
#pragma once

#include <set>

#include "reference/block_ilu.hpp"

namespace hyperplane::reference {

struct ThresholdRules {
    double fill_limit = 2.0;
    int rounds = 5, sweeps = 0, candidates = 10;
    bool symmetric = false;
};

/// M = (D + E) D^-1 (D + F) for X = E + D + F.
inline BlockMatrix multiplied_out(const BlockMatrix& x) {
    const int n = int(x.rows.size());
    BlockMatrix m{x.dof, std::vector<std::map<int, Dense>>(n)};
    std::vector<Dense> inverse;
    for (int i = 0; i < n; ++i) inverse.push_back(gauss_jordan_inverse(x.rows[i].at(i)));
    for (int i = 0; i < n; ++i)
        for (const auto& [k, left] : x.rows[i])
            for (const auto& [j, right] : x.rows[k]) {
                if (k > i || k > j) continue;
                Dense& sum = m.rows[i].try_emplace(j, Dense(x.dof, x.dof)).first->second;
                const Dense term = product(product(left, inverse[k]), right);
                for (std::size_t at = 0; at < sum.values.size(); ++at) sum.values[at] += term.values[at];
            }
    return m;
}

/// X_ij <- A_ij - sum over k < min(i, j) of X_ik X_kk^-1 X_kj on the pattern of X.
inline BlockMatrix swept(const BlockMatrix& a, const BlockMatrix& x) {
    BlockMatrix next = x;
    std::vector<Dense> inverse;
    for (int i = 0; i < int(x.rows.size()); ++i) inverse.push_back(gauss_jordan_inverse(x.rows[i].at(i)));
    for (int i = 0; i < int(x.rows.size()); ++i)
        for (auto& [j, block] : next.rows[i]) {
            block = a.rows[i].count(j) ? a.rows[i].at(j) : Dense(a.dof, a.dof);
            for (const auto& [k, left] : x.rows[i])
                if (k < i && k < j && x.rows[k].count(j))
                    block = difference(block, product(product(left, inverse[k]), x.rows[k].at(j)));
        }
    return next;
}

inline double squares(const Dense& a) {
    double sum = 0.0;
    for (double value : a.values) sum += value * value;
    return sum;
}

/// The blocks of A - M that X does not have: of each row the largest, and their mirror images.
inline BlockMatrix with_added(const BlockMatrix& a, const BlockMatrix& x, const ThresholdRules& rules) {
    const int n = int(a.rows.size());
    const BlockMatrix m = multiplied_out(x);
    BlockMatrix larger = x;
    for (int i = 0; i < n; ++i) {
        const int first = rules.symmetric ? i : 0;
        std::map<int, Dense> r;
        for (const BlockMatrix* part : {&a, &m})
            for (const auto& [j, block] : part->rows[i])
                if (j >= first && !x.rows[i].count(j)) r.try_emplace(j, Dense(a.dof, a.dof));
        std::multimap<double, int, std::greater<>> by_size;
        for (auto& [j, block] : r) {
            if (a.rows[i].count(j)) block = a.rows[i].at(j);
            if (m.rows[i].count(j)) block = difference(block, m.rows[i].at(j));
            by_size.emplace(squares(block), j);
        }
        int left = 0;
        for (const auto& [j, block] : a.rows[i]) left += j >= first ? rules.candidates : 0;
        for (const auto& [size, j] : by_size) {
            if (left-- == 0) break;
            larger.rows[i][j] = r.at(j);
            if (rules.symmetric) larger.rows[j][i] = transpose(r.at(j));
        }
    }
    return larger;
}

/// X with the largest blocks of each triangle, as many as the limit on the entries of A's triangle allows.
inline BlockMatrix with_removed(const BlockMatrix& a, const BlockMatrix& x, const ThresholdRules& rules) {
    const int n = int(a.rows.size());
    BlockMatrix smaller{a.dof, std::vector<std::map<int, Dense>>(n)};
    for (int i = 0; i < n; ++i) smaller.rows[i][i] = x.rows[i].at(i);
    for (const bool lower : {true, false}) {
        int entries = n;
        std::multimap<double, std::pair<int, int>, std::greater<>> by_size;
        for (int i = 0; i < n; ++i) {
            for (const auto& [j, block] : a.rows[i]) entries += j != i && (j < i) == lower;
            for (const auto& [j, block] : x.rows[i]) {
                if (j == i || (j < i) != lower) continue;
                double size = squares(block);
                if (lower) size = squares(product(block, gauss_jordan_inverse(x.rows[j].at(j))));
                if (rules.symmetric) {
                    const Dense scaled = product(gauss_jordan_inverse(x.rows[i].at(i)), block);
                    size = 0.0;
                    for (std::size_t at = 0; at < block.values.size(); ++at)
                        size += block.values[at] * scaled.values[at];
                }
                by_size.emplace(std::abs(size), std::pair(i, j));
            }
        }
        if (rules.symmetric && lower) continue;
        int left = int(std::floor(rules.fill_limit * entries)) - n;
        for (const auto& [size, place] : by_size) {
            const auto [i, j] = place;
            if (left-- == 0) break;
            smaller.rows[i][j] = x.rows[i].at(j);
            if (rules.symmetric) smaller.rows[j][i] = x.rows[j].at(i);
        }
    }
    return smaller;
}

/// The most blocks that the factors may have.
inline std::int64_t par_ilut_limit(const BlockMatrix& a, const ThresholdRules& rules) {
    const auto n = std::int64_t(a.rows.size());
    std::int64_t sum = n;
    for (const bool lower : {true, false}) {
        std::int64_t entries = n;
        for (int i = 0; i < n; ++i)
            for (const auto& [j, block] : a.rows[i]) entries += j != i && (j < i) == lower;
        sum += std::min(std::int64_t(std::floor(rules.fill_limit * double(entries))) - n, n * (n - 1) / 2);
    }
    return sum;
}

inline BlockIlu par_ilut(const BlockMatrix& a, const ThresholdRules& rules) {
    BlockMatrix x = a;
    for (int round = 0; round < rules.rounds; ++round) {
        x = swept(a, with_added(a, x, rules));
        x = swept(a, with_removed(a, x, rules));
    }
    const int n = int(a.rows.size());
    Pattern pattern(n);
    for (int i = 0; i < n; ++i)
        for (const auto& [j, block] : x.rows[i]) pattern[i].insert(j);
    if (rules.sweeps == 0) return rules.symmetric ? block_ic(a, pattern) : block_ilu(a, pattern);
    for (int sweep = 0; sweep < rules.sweeps; ++sweep) x = swept(a, x);
    BlockIlu ilu{x, std::vector<Dense>(n)};
    for (int i = 0; i < n; ++i) ilu.diagonal_inverse[i] = gauss_jordan_inverse(x.rows[i].at(i));
    for (int i = 0; i < n; ++i)
        for (auto& [j, block] : ilu.factors.rows[i])
            if (j < i) block = product(block, ilu.diagonal_inverse[j]);
    return ilu;
}

}  // namespace hyperplane::reference
