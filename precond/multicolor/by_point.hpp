// SPDX-License-Identifier: BSD-3-Clause
// Multicolour ILU: the factorisation of every colouring, and the sweeps of those that are looked up in tables, a point
// at a time on either backend; the factorisation of others on a CPU. The equations are at the head of
// precond/multicolor/multicolor.hpp.
#pragma once

#include "core/matrix/struct_matrix.hpp"
#include "core/matrix/views.hpp"
#include "precond/factors/copy.hpp"
#include "precond/factors/pivots.hpp"
#include "precond/factors/reduced_values.hpp"
#include "precond/multicolor/coloured_points.hpp"

namespace hyperplane::multicolor {

/// What a factorisation tells of pivots, written by every point.
struct Met {
    double* ratio;  ///< [row of the grid]: smallest |pivot| / |diagonal of A|
    double* event;  ///< [row]: 1 where a pivot could not be used as it was, else 0
    double* kind;   ///< [component][row]: 1 boosted, 2 failed, else 0
    double* value;  ///< [component][row]: of these the pivot met
};

/// values = W, D^-1 and G of A + alpha diag(A), colour by colour, a point at a time.
void factor(const StructMatrix& a, const ColouredPoints& points, const Index* a_entry, double alpha,
            const PivotRules& rules, const Met& met, double* values);

/// The same on a CPU under a linear colouring, for many points at a time (precond/multicolor/factor_cpu.cpp).
void factor_pieces(const StructMatrix& a, const ColouredPoints& points, const Index* a_entry, double alpha,
                   PivotInverter& inverter, double* values);

/// Factors in the storage that they are kept in: one of the three, and the exponents of scaled rows
/// (ColouredShape::exponents).
struct Kept {
    const double* doubles = nullptr;
    const float* singles = nullptr;
    const Half* halves = nullptr;
    const RowExponent* exponents = nullptr;
};

/// `rounded` = the values of all points, those of empty places zero; T is float or Half. Rows of W, D^-1 and G are told
/// apart: three times a row of the system, plus the part.
template <class T>
void round(Backend backend, const ColouredPoints& points, int dof, bool symmetric, const double* values, T* rounded,
           RowExponent* exponents, RoundingLog* log);

/// Copies factors of double precision for sweeps: entry e, and e behind the diagonal, is the colouring's offset e.
void copy_triangles(const ColouredView& points, const double* values, const TriangleCopy& to);

/// z = M^-1 r under a colouring that is looked up, a step a colour. `v` and `w` are vectors in coloured order.
struct Sweep {
    ColouredView points;
    const double* values;
    int dof;
    ConstVectorView r;
    VectorView z;
    double *v, *w;
};
void lower(Backend backend, const Sweep& sweep, int colour, Index count);
void upper(Backend backend, const Sweep& sweep, int colour, Index count);

}  // namespace hyperplane::multicolor
