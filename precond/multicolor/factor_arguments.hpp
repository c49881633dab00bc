// SPDX-License-Identifier: BSD-3-Clause
// The argument of the kernels of multicolour factorisation (precond/multicolor/factor.cuh, factor_point.cuh).
#pragma once

#include "precond/factors/pivot_log.hpp"

namespace hyperplane {

/// An offset of the colouring, at the points of one colour.
struct ColourEntry {
    long long kept;  ///< first coefficient of the factors; -1: only the mirrored one is stored
    int x, y, z;
    int a_entry;  ///< A's
    int later;    ///< whether it leads to a later colour
};

/// A product with E_l(p): X_e(p) -= E_l(p) G_u(q) or, if e is negative, W_l(p) = E_l(p) D^-1(q), where q = p + l.
struct ColourProduct {
    enum {
        of_pivot = -1,
        of_pivot_and_diagonal = -2,  ///< X_0(p) -= W_l(p) E_l(p), too
        nothing = -3,                ///< fills up products that are computed together
    };
    /// On tensor cores: products whose right operands a thread block requests together, and products with one E_l whose
    /// operands a warp loads together.
    static constexpr int group = 4, together = 2;

    long long from;  ///< first coefficient of G_u or of D^-1 at place 0, plus the place where it is read minus p's
    short l, e;      ///< e of the diagonal: the number of entries
};

/// The largest number of entries for which the blocks of a thread block's points fit shared memory, and of products at
/// the points of one colour: with each entry there are products for all others at most, W, and what fills them up.
constexpr int most_colour_entries = 38, most_colour_products = most_colour_entries * (most_colour_entries + 2);

/// The argument for the points of one colour. A launch copies all of it, so a kernel is compiled for few products if
/// the colouring has few: its argument is then the beginning of the host's, ColourFactorArguments.
template <int most_products>
struct ColourFactorArgumentsOf {
    const double* a;  // A's coefficients [entry][row][col][a_stride]; slots are those of the layout
    double* values;
    float* rounded;  // the same coefficients in single precision, if factors are kept in it; else null
    double* ratios;  // of the layout's points in natural order
    PivotLog* log;
    RoundingLog* roundings;  // the rows of W, D^-1 and G are 3 times the matrix row, plus 0, 1 and 2
    double alpha, tolerance, boost;
    long long a_stride, pitch, inverse;          // from one coefficient to the next; first coefficient of D^-1
    long long base, first_row;                   // the number at place 0 of colour 0; the first row of the layout
    int natural, level_y, level_z, begin_plane;  // the layout
    int nx, ny, nz, line, plane, colours, colour;
    int first, last;  // places that are factored
    int a_diagonal, entries, products, definite;
    int keeps_doubles;  // whether a later colour reads `values`, or nothing is rounded
    int stages;         // groups of products in shared memory, two or three
    ColourEntry entry[most_colour_entries];
    ColourProduct product[most_products];  // the last member; the products of a lower entry follow each other
};
using ColourFactorArguments = ColourFactorArgumentsOf<most_colour_products>;
static_assert(sizeof(ColourEntry) == 32 && sizeof(ColourProduct) == 16);
static_assert(sizeof(ColourFactorArgumentsOf<8>) == 1536);
static_assert(sizeof(ColourFactorArguments) <= 32764);  // what a kernel takes

}  // namespace hyperplane
