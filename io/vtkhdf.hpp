// SPDX-License-Identifier: BSD-3-Clause
// Fields as VTKHDF ImageData, for ParaView: one state a file (version 1.0, opened by ParaView 5.11 and later), and a
// file that joins such files to a series in time (version 2.0, opened by ParaView 5.12 and later). Format: VTK
// documentation, "VTKHDF File Format", sections Image Data and Temporal Data.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "core/vector/vector.hpp"
#include "io/output_guard.hpp"

namespace hyperplane {

/// A field of a file: a number or a vector at each point.
struct NamedField {
    std::string name;        ///< not empty, without '/'
    int components = 1;      ///< 3: a vector
    std::string unit = "1";  ///< "1" if it has none
    std::string description;
    /// Writes the values of points [first, first + count) in natural order, components fastest.
    std::function<void(Index first, Index count, double* values)> values = {};
};

/// How many points' values are asked for at once, at most.
Index vtkhdf_points_at_once(const Grid& grid);

/// Bytes of the file of these fields, and of the memory that writing it takes.
Index vtkhdf_bytes(const Grid& grid, const std::vector<NamedField>& fields);
Index vtkhdf_memory(const Grid& grid, const std::vector<NamedField>& fields);

/// Writes point data, the whole file or none. Values at cell centres are written as point data, and a y or z axis with
/// one point becomes two equal layers, because ParaView 5.11 reads neither cell data nor flat images. `host` holds the
/// values of a few points on their way, under the label "fields". Throws FileError.
void write_vtkhdf(const std::string& path, const Grid& grid, const std::vector<NamedField>& fields, const Context& host,
                  Overwrite overwrite = Overwrite::own);

/// A file of a series and the time of its state. `file` is relative to the folder of the series' file.
struct TimedFile {
    double time;
    std::string file;
};

/// Writes a file that shows files of write_vtkhdf, all with these fields on this grid, as one series in time. It holds
/// no values but says where they are: its arrays are virtual datasets. Throws FileError.
void write_vtkhdf_series(const std::string& path, const Grid& grid, const std::vector<NamedField>& fields,
                         const std::vector<TimedFile>& files, Overwrite overwrite = Overwrite::own);

}  // namespace hyperplane
