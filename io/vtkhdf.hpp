// SPDX-License-Identifier: BSD-3-Clause
// Fields as VTKHDF ImageData (version 1.0), opened by ParaView 5.11 and later.
// Format: VTK documentation, "VTKHDF File Format", section Image Data.
#pragma once

#include <string>
#include <vector>

#include "core/vector/vector.hpp"
#include "io/output_guard.hpp"

namespace hyperplane {

struct NamedField {
    std::string name;            ///< not empty, without '/'
    std::vector<double> values;  ///< one for each point, in natural order
};

/// Writes point data, the whole file or none. Values at cell centres are written as point data, and a y or z axis with
/// one point becomes two equal layers, because ParaView 5.11 reads neither cell data nor flat images. Needs no memory
/// besides the fields. Throws FileError.
void write_vtkhdf(const std::string& path, const Grid& grid, const std::vector<NamedField>& fields,
                  Overwrite overwrite = Overwrite::own);

/// One component of a vector in natural order; where several ranks have parts of it, all of it on rank 0 alone.
std::vector<double> natural_order(const Vector& x, int component);

}  // namespace hyperplane
