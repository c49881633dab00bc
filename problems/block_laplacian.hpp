// SPDX-License-Identifier: BSD-3-Clause
// Block Laplacian with three unknowns a point, A = L7 (x) K + h^2 I (x) R on the interior nodes of a box.
//
// L7 is the star7 operator of poisson.hpp with u = 0 on the boundary, h the mean spacing, and
//       | 2    .5   .25 |       |  10  -10    0 |
//   K = | .5   1    .25 |   R = | -10   30  -20 |
//       | .25  .25  .5  |       |   0  -20   20 |
// Both are symmetric, K is positive definite and R semi-definite, so A is symmetric positive definite.
// With coupling = three_temperature, K is replaced by its diagonal: radiation, electrons and ions
// diffuse independently and exchange energy locally.
#pragma once

#include <memory>

#include "core/interfaces/input_files.hpp"
#include "core/interfaces/problem.hpp"
#include "core/parameters/parameters.hpp"

namespace hyperplane {

ParameterTable block_laplacian_parameters();
std::unique_ptr<Problem> create_block_laplacian(const Parameters& parameters, const Context& context,
                                                const InputFiles& files);

}  // namespace hyperplane
