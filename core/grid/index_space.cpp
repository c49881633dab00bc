// SPDX-License-Identifier: BSD-3-Clause
#include "core/grid/index_space.hpp"

#include "core/error.hpp"

namespace hyperplane {

void IndexSpace::refuse() {
    throw Error(ExitCode::internal, "a grid was asked for where there are plain rows");
}

}  // namespace hyperplane
