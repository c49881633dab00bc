// SPDX-License-Identifier: BSD-3-Clause
#include "core/device/for_each_point.hpp"
#include "problems/matrix_market_rows.hpp"

namespace hyperplane {

void copy_rows(const StructMatrix& from, StructMatrix& to) {
    for_each_point(to.context(), to.layout(), "copy of the file's matrix", HeldCopy{HeldMatrix(from), view(to)});
}

void residual_of_rows(const StructMatrix& a, const double* b, const Vector& u, Vector& f) {
    for_each_point(f.context(), f.layout(), "residual", HeldResidual{HeldMatrix(a), b, view(u), view(f)});
}

}  // namespace hyperplane
