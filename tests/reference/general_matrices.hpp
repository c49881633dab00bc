// SPDX-License-Identifier: BSD-3-Clause
// General sparse block matrices of many kinds, seeded, and their conversion to a BsrMatrix.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "core/matrix/bsr_matrix.hpp"
#include "reference/block_matrix.hpp"

namespace hyperplane::reference {

inline Pattern pattern_of(const BlockMatrix& a) {
    Pattern pattern(a.rows.size());
    for (std::size_t row = 0; row < a.rows.size(); ++row)
        for (const auto& [column, block] : a.rows[row]) pattern[row].insert(column);
    return pattern;
}

/// Random blocks on a pattern. Diagonal blocks, where there are any, dominate their rows.
inline BlockMatrix random_blocks(const Pattern& pattern, int dof, std::uint64_t seed) {
    Random random(seed);
    BlockMatrix a{dof, std::vector<std::map<int, Dense>>(pattern.size())};
    for (int row = 0; row < int(pattern.size()); ++row) {
        for (int column : pattern[row]) a.rows[row][column] = random.block(dof);
        const auto diagonal = a.rows[row].find(row);
        if (diagonal == a.rows[row].end()) continue;
        for (int r = 0; r < dof; ++r) {
            double sum = 1.0;
            for (const auto& [column, block] : a.rows[row])
                for (int c = 0; c < dof; ++c) sum += std::abs(block(r, c));
            diagonal->second(r, r) += sum;
        }
    }
    return a;
}

/// The symmetric part of a matrix whose pattern is symmetric; diagonals stay dominant.
inline BlockMatrix symmetric_part(const BlockMatrix& a) {
    BlockMatrix s = a;
    for (int row = 0; row < int(a.rows.size()); ++row)
        for (auto& [column, block] : s.rows[row]) {
            const Dense mirrored = transpose(a.rows[column].at(row));
            const double more = column == row ? double(a.dof * a.rows[row].size()) : 0.0;
            for (int r = 0; r < a.dof; ++r)
                for (int c = 0; c < a.dof; ++c)
                    block(r, c) = 0.5 * (block(r, c) + mirrored(r, c)) + (r == c ? more : 0.0);
        }
    return s;
}

inline Pattern uneven_pattern(int rows, bool far) {
    constexpr int lengths[] = {32, 33, 512, 513, 0, 150, 64, 65, 300, 100};
    Pattern pattern(static_cast<std::size_t>(rows));
    for (int row = 0; row < rows; ++row) {
        const int length = std::min(row % 23 == 5 ? lengths[row / 23 % 10] : 1 + row % 7, rows);
        const int middle = far ? (row + rows / 2) % rows : row;
        const int first = std::clamp(middle - length / 2, 0, rows - length);
        for (int at = 0; at < length; ++at) pattern[row].insert(first + at);
    }
    return pattern;
}

/// Patterns by name, each with its diagonal unless the name says otherwise.
///   random        about `mean` entries a row, unsymmetric
///   symmetric     the same with its transpose
///   arrow         a dense first row and first column
///   dense_row     random, and one dense row in the middle
///   dense         all entries
///   lower         a random triangle
///   empty_rows    the diagonal in most rows, nothing else
///   uneven        1 to 7 entries a row around the diagonal, and in every 23rd row 32, 33, 512, 513 or other numbers
///   uneven_far    the same around the column that is half of all rows away
///   no_diagonal   random without the diagonal entry of row 2
inline Pattern pattern_named(const std::string& name, int rows, int mean, std::uint64_t seed) {
    if (name == "uneven" || name == "uneven_far") return uneven_pattern(rows, name == "uneven_far");
    Random random(seed);
    const auto any = [&] { return int((random() + 1.0) * 0.5 * rows) % rows; };
    Pattern pattern(rows);
    for (int row = 0; row < rows; ++row) {
        pattern[row].insert(row);
        for (int at = 1; at < mean && name != "empty_rows" && name != "arrow"; ++at) {
            const int column = any();
            if (name == "lower" && column > row) continue;
            pattern[row].insert(column);
            if (name == "symmetric") pattern[column].insert(row);
        }
    }
    for (int at = 0; at < rows; ++at) {
        if (name == "arrow") pattern[0].insert(at), pattern[at].insert(0);
        if (name == "dense_row") pattern[rows / 2].insert(at);
        if (name == "dense")
            for (int row = 0; row < rows; ++row) pattern[row].insert(at);
    }
    if (name == "no_diagonal" && rows > 2) pattern[2].erase(2);
    return pattern;
}

inline BsrMatrix to_bsr_matrix(const Context& context, const BlockMatrix& a, bool symmetric = false) {
    std::vector<Index> row_begin{0};
    std::vector<int> column;
    std::vector<double> values;
    for (const auto& row : a.rows) {
        for (const auto& [j, block] : row) {
            column.push_back(j);
            values.insert(values.end(), block.values.begin(), block.values.end());
        }
        row_begin.push_back(Index(column.size()));
    }
    const Context host = context.host();
    const auto pattern = std::make_shared<const BlockPattern>(host, row_begin, column, "test pattern");
    BsrMatrix made(host, pattern, a.dof, symmetric);
    std::copy(values.begin(), values.end(), made.values());
    if (context.backend() == Backend::cpu) return made;
    BsrMatrix there(context, pattern, a.dof, symmetric);
    there.assign(made);
    return there;
}

/// x[row * dof + component] as a vector of plain rows in any context.
inline Vector to_plain_vector(const Context& context, int dof, const std::vector<double>& x) {
    Vector result(context, IndexSpace::plain(Index(x.size()) / dof), dof, "test vector");
    from_natural(x, result);
    return result;
}

}  // namespace hyperplane::reference
