// SPDX-License-Identifier: BSD-3-Clause
#include "io/vtkhdf.hpp"

#include <fmt/format.h>

#include <algorithm>

#include "core/error.hpp"
#include "core/ranks/cuts.hpp"
#include "io/atomic_file.hpp"
#include "io/hdf5.hpp"

namespace hyperplane {
namespace {

using hdf5::check;
using hdf5::Id;

template <class T, std::size_t N>
void write_attribute(hid_t object, const char* name, const T (&values)[N]) {
    const hsize_t extent = N;
    const Id space(H5Screate_simple(1, &extent, nullptr), H5Sclose, "make a data space");
    const Id attribute(H5Acreate2(object, name, hdf5::native_type<T>(), space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
                       std::string("create attribute ") + name);
    check(H5Awrite(attribute, hdf5::native_type<T>(), values), std::string("cannot write attribute ") + name);
}

/// Writes ASCII text of fixed length; VTK cannot read text of variable length.
void write_text(hid_t object, const char* name, const std::string& text) {
    const Id type(H5Tcopy(H5T_C_S1), H5Tclose, "make a text type");
    check(H5Tset_size(type, text.size()), "cannot set the size of text");
    check(H5Tset_strpad(type, H5T_STR_NULLPAD), "cannot set the padding of text");
    const Id space(H5Screate(H5S_SCALAR), H5Sclose, "make a data space");
    const Id attribute(H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
                       std::string("create attribute ") + name);
    check(H5Awrite(attribute, type, text.data()), std::string("cannot write attribute ") + name);
}

/// Number of points along each axis of the image. VTK's reader up to 9.2 (ParaView 5.11) writes past its buffer if y or
/// z has one point, so such an axis becomes two equal layers, one spacing apart.
Int3 image_points(const Grid& grid) {
    return {grid.nx, std::max(grid.ny, 2), std::max(grid.nz, 2)};
}

void write_geometry(hid_t image, const Grid& grid) {
    const Int3 last = image_points(grid) + Int3{-1, -1, -1};
    const auto& [hx, hy, hz] = grid.spacing;
    const auto& [x, y, z] = grid.origin;
    write_attribute(image, "Version", (const Index[]){1, 0});
    write_text(image, "Type", "ImageData");
    write_text(image, "Creator", made_by_mark);
    write_attribute(image, "WholeExtent", (const Index[]){0, last.x, 0, last.y, 0, last.z});
    write_attribute(image, "Origin", (const double[]){x, y, z});
    write_attribute(image, "Spacing", (const double[]){hx, hy, hz});
    write_attribute(image, "Direction", (const double[]){1, 0, 0, 0, 1, 0, 0, 0, 1});
}

/// Creates a dataset of shape (z, y, x), allocates its space in the file, and returns the offset of that.
Index create_array(hid_t group, Int3 points, const std::string& name) {
    const hsize_t extents[] = {hsize_t(points.z), hsize_t(points.y), hsize_t(points.x)};
    const Id space(H5Screate_simple(3, extents, nullptr), H5Sclose, "make a data space");
    const Id how(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "make dataset properties");
    check(H5Pset_alloc_time(how, H5D_ALLOC_TIME_EARLY), "cannot set the time of allocation");
    check(H5Pset_fill_time(how, H5D_FILL_TIME_NEVER), "cannot do without fill values");
    check(H5Pset_obj_track_times(how, false), "cannot leave the time out");  // the same field gives the same file
    const Id data(H5Dcreate2(group, name.c_str(), H5T_NATIVE_DOUBLE, space, H5P_DEFAULT, how, H5P_DEFAULT), H5Dclose,
                  "create array " + name);
    const haddr_t offset = H5Dget_offset(data);
    check(offset == HADDR_UNDEF ? -1 : 0, "cannot locate array " + name);
    return Index(offset);
}

/// Writes everything except the values of the arrays; returns the offsets of these.
std::vector<Index> write_structure(const std::string& name, const Grid& grid, const std::vector<NamedField>& fields) {
    const Id access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose, "make file access properties");
    check(H5Pset_fapl_stdio(access), "cannot choose a driver");  // the default driver refuses files without a name
    const Id file(H5Fcreate(name.c_str(), H5F_ACC_TRUNC, H5P_DEFAULT, access), H5Fclose, "create an HDF5 file");
    std::vector<Index> offsets;
    {
        const Id image(H5Gcreate2(file, "VTKHDF", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose, "create /VTKHDF");
        write_geometry(image, grid);
        const Id group(H5Gcreate2(image, "PointData", H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose,
                       "create /VTKHDF/PointData");
        for (const NamedField& field : fields) offsets.push_back(create_array(group, image_points(grid), field.name));
    }
    check(H5Fflush(file, H5F_SCOPE_GLOBAL), "cannot write the file's structure");
    return offsets;
}

/// Writes one field at `offset`, without HDF5, which cannot close a file when the disk is full.
void write_values(AtomicFile& file, const Grid& grid, const std::vector<double>& values, Index offset) {
    const Int3 points = image_points(grid);
    const Index plane = Index(grid.nx) * grid.ny;
    const Index plane_bytes = plane * Index(sizeof(double));
    for (int k = 0; k < points.z; ++k)
        for (int copy = 0; copy < points.y / grid.ny; ++copy, offset += plane_bytes)
            file.write(values.data() + std::min(k, grid.nz - 1) * plane, plane_bytes, offset);
}

}  // namespace

void write_vtkhdf(const std::string& path, const Grid& grid, const std::vector<NamedField>& fields,
                  Overwrite overwrite) {
    for (const NamedField& field : fields)
        if (Index(field.values.size()) != grid.points() || field.name.empty() ||
            field.name.find('/') != std::string::npos)
            throw Error(ExitCode::internal, fmt::format("{}: field '{}' with {} values on {} points", path, field.name,
                                                        field.values.size(), grid.points()));
    constexpr Index structure = 64 * 1024;  // bytes, more than groups and attributes take
    const Int3 points = image_points(grid);
    const Index field_bytes = Index(points.x) * points.y * points.z * Index(sizeof(double));
    AtomicFile file(path, FileKind::fields, overwrite);
    file.reserve(structure + Index(fields.size()) * (field_bytes + 1024));
    std::vector<Index> offsets;
    try {
        const hdf5::Quiet quiet;
        offsets = write_structure(file.open_name(), grid, fields);
    } catch (const FileError& error) {
        throw FileError(fmt::format("{}: {}", path, error.what()));
    }
    for (std::size_t f = 0; f < fields.size(); ++f) write_values(file, grid, fields[f].values, offsets[f]);
    file.commit();
}

std::vector<double> natural_order(const Vector& x, int component) {
    const double* values = x.component(component);
    std::vector<double> ordered(static_cast<std::size_t>(x.space().block_rows()));
    if (!x.space().has_grid()) {
        for (std::size_t row = 0; row < ordered.size(); ++row)
            ordered[row] = x.data()[x.first(component) + Index(row) * x.step()];
        return ordered;
    }
    for_each_point(x.context(), x.layout(), [&](Int3 p, Index slot) {
        ordered[static_cast<std::size_t>(x.layout().grid().row(p) - x.space().first_block_row())] = values[slot];
    });
    return x.layout().is_part() ? on_first_rank(x.context(), std::move(ordered)) : ordered;
}

}  // namespace hyperplane
