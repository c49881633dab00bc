// SPDX-License-Identifier: BSD-3-Clause
#include "io/vtkhdf.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "core/with_place.hpp"
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
    check(H5Awrite(attribute, hdf5::native_type<T>(), values), std::string("write attribute ") + name);
}

/// Writes ASCII text of fixed length; VTK cannot read text of variable length.
void write_text(hid_t object, const char* name, const std::string& text) {
    const Id type(H5Tcopy(H5T_C_S1), H5Tclose, "make a text type");
    check(H5Tset_size(type, text.size()), "set the size of text");
    check(H5Tset_strpad(type, H5T_STR_NULLPAD), "set the padding of text");
    const Id space(H5Screate(H5S_SCALAR), H5Sclose, "make a data space");
    const Id attribute(H5Acreate2(object, name, type, space, H5P_DEFAULT, H5P_DEFAULT), H5Aclose,
                       std::string("create attribute ") + name);
    check(H5Awrite(attribute, type, text.data()), std::string("write attribute ") + name);
}

/// Number of points along each axis of the image. VTK's reader up to 9.2 (ParaView 5.11) writes past its buffer if y or
/// z has one point, so such an axis becomes two equal layers, one spacing apart.
Int3 image_points(const Grid& grid) {
    return {grid.nx, std::max(grid.ny, 2), std::max(grid.nz, 2)};
}

void write_geometry(hid_t image, const Grid& grid, Index version) {
    const Int3 last = image_points(grid) + Int3{-1, -1, -1};
    const auto& [hx, hy, hz] = grid.spacing;
    const auto& [x, y, z] = grid.origin;
    write_attribute(image, "Version", (const Index[]){version, 0});
    write_text(image, "Type", "ImageData");
    write_text(image, "Creator", made_by_mark);
    write_attribute(image, "WholeExtent", (const Index[]){0, last.x, 0, last.y, 0, last.z});
    write_attribute(image, "Origin", (const double[]){x, y, z});
    write_attribute(image, "Spacing", (const double[]){hx, hy, hz});
    write_attribute(image, "Direction", (const double[]){1, 0, 0, 0, 1, 0, 0, 0, 1});
}

Id make_group(hid_t parent, const char* name) {
    return {H5Gcreate2(parent, name, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT), H5Gclose,
            std::string("create group ") + name};
}

/// The extents of a field's array: z, y, x and, of a vector, its components.
std::vector<hsize_t> array_extents(const Grid& grid, const NamedField& field) {
    const Int3 points = image_points(grid);
    std::vector<hsize_t> extents{hsize_t(points.z), hsize_t(points.y), hsize_t(points.x)};
    if (field.components > 1) extents.push_back(hsize_t(field.components));
    return extents;
}

Id make_space(const std::vector<hsize_t>& extents) {
    return {H5Screate_simple(int(extents.size()), extents.data(), nullptr), H5Sclose, "make a data space"};
}

Id create_array(hid_t group, const NamedField& field, const std::vector<hsize_t>& extents, hid_t how) {
    check(H5Pset_obj_track_times(how, false), "leave the time out");  // the same field gives the same file
    Id data(
        H5Dcreate2(group, field.name.c_str(), H5T_NATIVE_DOUBLE, make_space(extents), H5P_DEFAULT, how, H5P_DEFAULT),
        H5Dclose, "create array " + field.name);
    write_text(data, "units", field.unit);
    if (!field.description.empty()) write_text(data, "description", field.description);
    return data;
}

/// Creates the array of a field, allocates its space in the file, and returns the offset of that.
Index create_stored_array(hid_t group, const Grid& grid, const NamedField& field) {
    const Id data = create_array(group, field, array_extents(grid, field), hdf5::with_room());
    return hdf5::place_of(data, "array " + field.name);
}

/// Writes everything except the values of the arrays; returns the offsets of these.
std::vector<Index> write_structure(const std::string& name, const Grid& grid, const std::vector<NamedField>& fields) {
    const Id file = hdf5::create_on_disk(name, 0);
    std::vector<Index> offsets;
    {
        const Id image = make_group(file, "VTKHDF");
        write_geometry(image, grid, 1);
        const Id group = make_group(image, "PointData");
        for (const NamedField& field : fields) offsets.push_back(create_stored_array(group, grid, field));
    }
    check(H5Fflush(file, H5F_SCOPE_GLOBAL), "write the file's structure");
    return offsets;
}

constexpr Index most_points_at_once = 1 << 15;
constexpr Index structure_bytes = 64 * 1024;  ///< more than groups and attributes take

/// Writes one field at `offset`, without HDF5, which cannot close a file when the disk is full.
void write_values(AtomicFile& file, const Grid& grid, const NamedField& field, Index offset, Buffer<double>& some) {
    const Int3 points = image_points(grid);
    const Index plane = Index(grid.nx) * grid.ny, bytes = field.components * Index(sizeof(double));
    for (int k = 0; k < grid.nz; ++k)
        for (Index first = 0; first < plane; first += vtkhdf_points_at_once(grid)) {
            const Index count = std::min(vtkhdf_points_at_once(grid), plane - first);
            field.values(k * plane + first, count, some.data());
            for (int z = 0; z < points.z / grid.nz; ++z)
                for (int y = 0; y < points.y / grid.ny; ++y) {
                    const Index at = (k + z) * (Index(points.x) * points.y) + y * plane + first;
                    file.write(some.data(), count * bytes, offset + at * bytes);
                }
        }
}

void check_fields(const std::string& path, const std::vector<NamedField>& fields) {
    for (const NamedField& field : fields)
        if (field.name.empty() || field.name.find('/') != std::string::npos || field.components < 1)
            throw Error(ExitCode::internal,
                        fmt::format("{}: field '{}' with {} components", path, field.name, field.components));
}

/// The array of a series whose layer n is the array of files[n].
void create_joined_array(hid_t group, const Grid& grid, const NamedField& field, const std::vector<TimedFile>& files) {
    const std::vector<hsize_t> part = array_extents(grid, field);
    std::vector<hsize_t> whole = part, start(part.size() + 1, 0), layer = part;
    whole.insert(whole.begin(), files.size());
    layer.insert(layer.begin(), 1);
    const Id space = make_space(whole), source = make_space(part);
    const Id how(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "make dataset properties");
    const std::string array = "/VTKHDF/PointData/" + field.name;
    for (std::size_t n = 0; n < files.size(); ++n) {
        start[0] = n;
        check(H5Sselect_hyperslab(space, H5S_SELECT_SET, start.data(), nullptr, layer.data(), nullptr),
              "select a layer");
        check(H5Pset_virtual(how, space, files[n].file.c_str(), array.c_str(), source), "join " + files[n].file);
    }
    create_array(group, field, whole, how);
}

template <class T>
void write_numbers(hid_t group, const char* name, const std::vector<T>& values) {
    const Id space = make_space({values.size()});
    const Id how(H5Pcreate(H5P_DATASET_CREATE), H5Pclose, "make dataset properties");
    check(H5Pset_obj_track_times(how, false), "leave the time out");
    const Id data(H5Dcreate2(group, name, hdf5::native_type<T>(), space, H5P_DEFAULT, how, H5P_DEFAULT), H5Dclose,
                  std::string("create dataset ") + name);
    check(H5Dwrite(data, hdf5::native_type<T>(), H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data()),
          std::string("write ") + name);
}

void write_series(hid_t file, const Grid& grid, const std::vector<NamedField>& fields,
                  const std::vector<TimedFile>& files) {
    const Id image = make_group(file, "VTKHDF");
    write_geometry(image, grid, 2);
    const Id steps = make_group(image, "Steps"), offsets = make_group(steps, "PointDataOffsets");
    write_attribute(steps, "NSteps", (const Index[]){Index(files.size())});
    std::vector<double> times;
    for (const TimedFile& timed : files) times.push_back(timed.time);
    write_numbers(steps, "Values", times);
    std::vector<Index> layers(files.size());
    std::iota(layers.begin(), layers.end(), Index(0));
    const Id group = make_group(image, "PointData");
    for (const NamedField& field : fields) {
        write_numbers(offsets, field.name.c_str(), layers);
        create_joined_array(group, grid, field, files);
    }
}

}  // namespace

Index vtkhdf_points_at_once(const Grid& grid) {
    return std::min(Index(grid.nx) * grid.ny, most_points_at_once);
}

Index vtkhdf_bytes(const Grid& grid, const std::vector<NamedField>& fields) {
    const Int3 points = image_points(grid);
    Index bytes = structure_bytes;
    for (const NamedField& field : fields)
        bytes += Index(points.x) * points.y * points.z * field.components * Index(sizeof(double)) + 1024;
    return bytes;
}

Index vtkhdf_memory(const Grid& grid, const std::vector<NamedField>& fields) {
    int components = 0;
    for (const NamedField& field : fields) components = std::max(components, field.components);
    return vtkhdf_points_at_once(grid) * components * Index(sizeof(double));
}

void write_vtkhdf(const std::string& path, const Grid& grid, const std::vector<NamedField>& fields, const Context& host,
                  Overwrite overwrite) {
    check_fields(path, fields);
    AtomicFile file(path, FileKind::fields, overwrite);
    file.reserve(vtkhdf_bytes(grid, fields));
    const std::vector<Index> offsets = with_place(path, [&] {
        const hdf5::Quiet quiet;
        return write_structure(file.open_name(), grid, fields);
    });
    Buffer<double> some(host, "fields", vtkhdf_memory(grid, fields) / Index(sizeof(double)));
    for (std::size_t f = 0; f < fields.size(); ++f) write_values(file, grid, fields[f], offsets[f], some);
    file.commit();
}

void write_vtkhdf_series(const std::string& path, const Grid& grid, const std::vector<NamedField>& fields,
                         const std::vector<TimedFile>& files, Overwrite overwrite) {
    check_fields(path, fields);
    const std::vector<char> image = with_place(path, [&] {
        const hdf5::Quiet quiet;
        const Id file = hdf5::create_in_memory();
        write_series(file, grid, fields, files);
        return hdf5::image_of(file);
    });
    write_atomically(path, {image.data(), image.size()}, FileKind::fields, overwrite);
}

}  // namespace hyperplane
