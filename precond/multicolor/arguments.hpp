// SPDX-License-Identifier: BSD-3-Clause
// The argument of the multicolour solves' kernels (precond/multicolor/solve.cuh).
#pragma once

namespace hyperplane {

/// A neighbour in a colour's sum.
struct ColourTerm {
    long long block;  ///< the entry's first coefficient; of its mirror in upper solves of symmetric factors
    int shift;        ///< the neighbour's place minus the own
    int base;  ///< first slot of the neighbour's colour; for `enter` its offset, (x + 8) + 16 (y + 8) + 256 (z + 8)
};

/// Terms that a point can have: the entries of a stencil of radius 2 but for the diagonal.
constexpr int most_colour_terms = 124;

/// Of one colour's step.
template <class Value, int most_terms>
struct ColourArguments {
    Value* factors;
    const unsigned char* exponents;  // of scaled rows, [part][row][slot]
    const double* r;
    double *v, *w, *z;
    long long inverse;  // D^-1 of the colour
    int stride, slots;  // of a colour, of a component in coloured order
    int points;         // of a component of r and z
    int nx, ny, nz, line, plane, colour, terms;
    ColourTerm term[most_terms];
};
static_assert(sizeof(ColourTerm) == 16);
static_assert(sizeof(ColourArguments<const double, 6>) == 192);

}  // namespace hyperplane
