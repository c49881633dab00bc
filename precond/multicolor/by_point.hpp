// SPDX-License-Identifier: BSD-3-Clause
// Multicolour factorisation, point by point on either backend, for any colouring; and, for linear colourings on a CPU,
// many points at a time. The equations are at the head of precond/multicolor/multicolor.hpp.
#pragma once

#include "core/matrix/struct_matrix.hpp"
#include "precond/factors/copy.hpp"
#include "precond/factors/pivots.hpp"
#include "precond/factors/reduced_values.hpp"
#include "precond/multicolor/coloured_points.hpp"

namespace hyperplane::multicolor {

/// Computes values = W, D^-1 and G of A + alpha diag(A), colour by colour, point by point. `a_entry` holds A's entry of
/// each offset of the colouring. `ratios` receives for each point of a's layout, in natural order, its smallest |pivot|
/// / |diagonal of A|; rows of the log are counted from the first one of a's layout, too. Without elimination X stays A
/// + alpha diag(A): Gauss-Seidel.
void factor(const StructMatrix& a, const ColouredPoints& points, const Index* a_entry, double alpha,
            const PivotRules& rules, PivotLog* log, bool eliminates, double* ratios, double* values);

/// The same on a CPU for a linear colouring, many points at a time (precond/multicolor/factor_cpu.cpp).
void factor_pieces(const StructMatrix& a, const ColouredPoints& points, const Index* a_entry, double alpha,
                   PivotInverter& inverter, bool eliminates, double* values);

/// Rounds the values of all points to `rounded`, where empty places become zero; T is float or Half. The log, for the
/// points of the matrix's layout, has the rows of W, D^-1 and G (parts 0, 1 and 2) as 3 times the matrix row plus the
/// part.
template <class T>
void round(const Context& context, const Layout& layout, const ColouredPoints& points, int dof, bool symmetric,
           const double* values, T* rounded, RowExponent* exponents, RoundingLog* log);

/// Copies factors in double precision for Jacobi sweeps. The copy has an entry of the colouring's offset e both as
/// number e and as number e after the diagonal.
void copy_triangles(const ColouredView& points, const double* values, const TriangleCopy& to);

}  // namespace hyperplane::multicolor
