// Classical Gram-Schmidt, twice: as orthogonal as Householder's method (Giraud, Langou, Rozloznik and
// van den Eshof 2005: "twice is enough"), with two reductions where the modified form needs one a vector.
#pragma once

#include <span>

#include "core/vector.hpp"

namespace hyperplane {

/// h = V^T w, w -= V h, done twice with h summed; returns ||w||, or 0 where w lay in the span of the
/// orthonormal V to rounding. For k vectors it moves 4 k + 6 numbers an unknown.
double orthogonalise_twice(std::span<const Vector* const> v, Vector& w, std::span<double> h);

}  // namespace hyperplane
