// SPDX-License-Identifier: BSD-3-Clause
// Matchings of rows and columns by trying all permutations.
#pragma once

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

#include "reference/block_matrix.hpp"

namespace hyperplane::reference {

/// The determinant of the first `n` rows and columns, by expansion along the first of those rows that are left.
inline double determinant(const Dense& a, int n, int row, std::vector<bool>& used) {
    if (row == n) return 1.0;
    double sum = 0.0, sign = 1.0;
    for (int col = 0; col < n; ++col) {
        if (used[col]) continue;
        used[col] = true;
        sum += sign * a(row, col) * determinant(a, n, row + 1, used);
        used[col] = false;
        sign = -sign;
    }
    return sum;
}

/// |det a| if no leading minor is zero, else 0. Entries must be small integers, so that zeros are exact.
inline double size_of(const Dense& a) {
    double value = 0.0;
    for (int n = 1; n <= a.rows; ++n) {
        std::vector<bool> used(n, false);
        value = determinant(a, n, 0, used);
        if (value == 0.0) return 0.0;
    }
    return std::abs(value);
}

struct BestMatching {
    double product = 0.0;  ///< the largest of a diagonal; 0 if every diagonal has a zero
    int most = 0;          ///< the most places of a diagonal that are not zero
    std::vector<int> row;  ///< [column]: of the first diagonal that has this product, if that is not 0
};

/// size[row][column], by all permutations.
inline BestMatching best_matching(const std::vector<std::vector<double>>& size) {
    std::vector<int> row(size.size());
    std::iota(row.begin(), row.end(), 0);
    BestMatching best;
    do {
        double product = 1.0;
        int found = 0;
        for (std::size_t column = 0; column < row.size(); ++column) {
            product *= size[row[column]][column];
            found += size[row[column]][column] != 0.0;
        }
        if (product > best.product) best.product = product, best.row = row;
        best.most = std::max(best.most, found);
    } while (std::next_permutation(row.begin(), row.end()));
    return best;
}

}  // namespace hyperplane::reference
