// SPDX-License-Identifier: BSD-3-Clause
// A row of a general matrix's factors in a fixed-point sweep, which reads only values from before it.
//
// Definitions: as in precond/general/factors/row.cuh. A test that compiles this text for several sets of them undefines
// its guard in between.
#ifndef HYPERPLANE_SWEPT_ROW
#define HYPERPLANE_SWEPT_ROW

#include "precond/general/factors/row.cuh"
#include "precond/general/fixed_point/arguments.hpp"

namespace hyperplane {

typedef FixedPointArguments Arguments;
using Row = RowOf<Arguments, false>;

}  // namespace hyperplane

#endif
