// SPDX-License-Identifier: BSD-3-Clause
// A row of a general matrix's factors that is computed by elimination: the rows that it is reduced by change while the
// kernel runs.
//
// Definitions: as in row.cuh. A test that compiles this text for several sets of them undefines its guard in between.
#ifndef HYPERPLANE_ELIMINATED_ROW
#define HYPERPLANE_ELIMINATED_ROW

#include "precond/general/factors/arguments.hpp"
#include "precond/general/factors/row.cuh"

namespace hyperplane {

typedef GeneralFactorArguments Arguments;
using Row = RowOf<Arguments, true>;

}  // namespace hyperplane

#endif
