// SPDX-License-Identifier: BSD-3-Clause
// Sparse block matrices as maps, in natural order, and seeded random ones on a grid.
#pragma once

#include <cmath>
#include <cstdint>
#include <map>
#include <random>
#include <vector>

#include "reference/dense.hpp"
#include "reference/fill.hpp"
#include "reference/stencils.hpp"

namespace hyperplane::reference {

/// rows[i][j] is the dof x dof block that couples point i to point j.
struct BlockMatrix {
    int dof = 1;
    std::vector<std::map<int, Dense>> rows;

    int unknowns() const { return int(rows.size()) * dof; }
};

/// A block for each point and each offset whose target exists, wrapping along periodic axes.
struct StencilMatrix {
    Box box;
    std::vector<Offset> offsets;
    int dof = 1;
    std::vector<std::map<Offset, Dense>> blocks;  ///< by row and offset
};

/// The matrix A, or, without the couplings that wrap, the matrix that is factored.
inline BlockMatrix assembled(const StencilMatrix& a, bool with_wrapped = true) {
    BlockMatrix result{a.dof, std::vector<std::map<int, Dense>>(a.box.points())};
    for (int row = 0; row < a.box.points(); ++row)
        for (const auto& [offset, block] : a.blocks[row]) {
            const Offset target = a.box.point(row) + offset;
            if (with_wrapped || a.box.contains(target)) result.rows[row][a.box.row(a.box.wrapped(target))] = block;
        }
    return result;
}

inline Dense to_dense(const BlockMatrix& a) {
    Dense result(a.unknowns(), a.unknowns());
    for (int i = 0; i < int(a.rows.size()); ++i)
        for (const auto& [j, block] : a.rows[i])
            for (int r = 0; r < a.dof; ++r)
                for (int c = 0; c < a.dof; ++c) result(i * a.dof + r, j * a.dof + c) = block(r, c);
    return result;
}

inline void add_product(const Dense& block, const double* x, double sign, double* y) {
    for (int r = 0; r < block.rows; ++r)
        for (int c = 0; c < block.cols; ++c) y[r] += sign * block(r, c) * x[c];
}

struct Product {
    std::vector<double> value;      ///< A x, summed in long double
    std::vector<double> magnitude;  ///< |A| |x|, the scale of the rounding errors
};

inline Product multiply(const BlockMatrix& a, const std::vector<double>& x) {
    Product result{std::vector<double>(x.size()), std::vector<double>(x.size())};
    for (int i = 0; i < int(a.rows.size()); ++i)
        for (int r = 0; r < a.dof; ++r) {
            long double sum = 0.0L, magnitude = 0.0L;
            for (const auto& [j, block] : a.rows[i])
                for (int c = 0; c < a.dof; ++c) {
                    const long double term = (long double)block(r, c) * x[j * a.dof + c];
                    sum += term;
                    magnitude += std::abs(term);
                }
            result.value[i * a.dof + r] = double(sum);
            result.magnitude[i * a.dof + r] = double(magnitude);
        }
    return result;
}

/// b - A x, computed in quadruple precision and then rounded.
inline std::vector<double> exact_residual(const BlockMatrix& a, const std::vector<double>& b,
                                          const std::vector<double>& x) {
    std::vector<double> result(b.size());
    for (int i = 0; i < int(a.rows.size()); ++i)
        for (int r = 0; r < a.dof; ++r) {
            __float128 sum = b[i * a.dof + r];
            for (const auto& [j, block] : a.rows[i])
                for (int c = 0; c < a.dof; ++c) sum -= (__float128)block(r, c) * x[j * a.dof + c];
            result[i * a.dof + r] = double(sum);
        }
    return result;
}

/// Random numbers, uniform in [-1, 1), the same on every machine.
class Random {
public:
    explicit Random(std::uint64_t seed) : bits_(seed) {}
    double operator()() { return double(bits_() >> 11) * 0x1p-52 - 1.0; }
    Dense block(int n) {
        Dense result(n, n);
        for (double& value : result.values) value = (*this)();
        return result;
    }
    std::vector<double> vector(int n) {
        std::vector<double> result(n);
        for (double& value : result) value = (*this)();
        return result;
    }

private:
    std::mt19937_64 bits_;
};

/// Adds to each diagonal coefficient `strength` times the sum of |others| of its row, plus one.
inline void make_dominant(StencilMatrix& a, double strength) {
    for (auto& row : a.blocks)
        for (int r = 0; r < a.dof; ++r) {
            double sum = 1.0;
            for (const auto& [offset, block] : row)
                for (int c = 0; c < a.dof; ++c) sum += std::abs(block(r, c));
            row.at(Offset{})(r, r) += strength * sum;
        }
}

/// A matrix of random blocks with strictly diagonally dominant rows.
inline StencilMatrix random_matrix(const Box& box, const std::vector<Offset>& offsets, int dof, std::uint64_t seed) {
    Random random(seed);
    StencilMatrix a{box, offsets, dof, std::vector<std::map<Offset, Dense>>(box.points())};
    for (int row = 0; row < box.points(); ++row)
        for (Offset s : offsets)
            if (box.contains(box.wrapped(box.point(row) + s))) a.blocks[row][s] = random.block(dof);
    make_dominant(a, 1.0);
    return a;
}

/// A random matrix that is symmetric positive definite: it is symmetric and strictly diagonally dominant.
inline StencilMatrix random_spd_matrix(const Box& box, const std::vector<Offset>& offsets, int dof,
                                       std::uint64_t seed) {
    Random random(seed);
    StencilMatrix a{box, offsets, dof, std::vector<std::map<Offset, Dense>>(box.points())};
    for (int row = 0; row < box.points(); ++row)
        for (Offset s : offsets) {
            const Offset target = box.wrapped(box.point(row) + s);
            if (!(s < Offset{}) || !box.contains(target)) continue;
            a.blocks[row][s] = random.block(dof);
            a.blocks[box.row(target)][-s] = transpose(a.blocks[row][s]);
        }
    for (int row = 0; row < box.points(); ++row) {
        Dense block = random.block(dof);
        for (int r = 0; r < dof; ++r)
            for (int c = 0; c < r; ++c) block(r, c) = block(c, r);
        a.blocks[row][Offset{}] = block;
    }
    make_dominant(a, 1.0);
    return a;
}

}  // namespace hyperplane::reference
