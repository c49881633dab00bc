// SPDX-License-Identifier: BSD-3-Clause
// The argument of the kernels of multicolour solves (precond/multicolor/solve.cuh).
#pragma once

namespace hyperplane {

/// A term of the sum at the points of one colour.
struct ColourTerm {
    long long block;  ///< first coefficient of the entry or, in upper solves of a symmetric matrix, of its mirror
    int shift;        ///< the neighbour's place minus the point's
    int base;  ///< first slot of the neighbour's colour; in `enter` its offset as (x + 8) + 16 (y + 8) + 256 (z + 8)
};

/// The largest number of terms: the entries of a stencil of radius 2 without the diagonal.
constexpr int most_colour_terms = 124;

/// The last step writes z = M^-1 r, or omega times it, or adds that to what is there.
enum ColourResult { writes_result, scales_result, adds_result };

/// The argument for the step of one colour. Real: double or float.
template <class Value, int most_terms, class Real = double>
struct ColourArguments {
    Value* factors;
    const unsigned char* exponents;  // of scaled rows, [part][row][slot]
    const Real* r;
    Real *v, *w, *z;
    long long inverse;  // first coefficient of the colour's D^-1
    int stride, slots;  // slots of a colour; of a vector component in coloured order
    int points;         // from one component of r and z to the next
    int nx, ny, nz, line, plane, colour, terms;
    // On a rank's part of the grid nz counts the planes that have places, those of the ranks on either side included.
    // The addresses of r and z are those of the first of these planes, and `before` numbers precede that plane. The
    // places [first, last) are computed.
    int first, last, before;
    int result;    // a ColourResult
    double omega;  // of the result
    ColourTerm term[most_terms];
};
static_assert(sizeof(ColourTerm) == 16);
static_assert(sizeof(ColourArguments<const double, 6>) == 216);

}  // namespace hyperplane
