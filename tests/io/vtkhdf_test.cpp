// SPDX-License-Identifier: BSD-3-Clause
// Fields as ParaView expects them, read back through HDF5 and through h5py.
#include "io/vtkhdf.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>

#include <algorithm>
#include <cstdlib>
#include <filesystem>

#include "core/error.hpp"
#include "io/bad_luck.hpp"
#include "io/scratch.hpp"

namespace hyperplane {
namespace {

Grid small_grid(bool cell_centred) {
    Grid grid;
    grid.nx = 4;
    grid.ny = 3;
    grid.nz = 2;
    grid.spacing = {0.5, 0.25, 2.0};
    grid.origin = {1.0, 2.0, 3.0};
    grid.cell_centred = cell_centred;
    return grid;
}

/// 100 k + 10 j + i at point (i, j, k), times `factor`.
std::vector<double> digits(const Grid& grid, double factor) {
    std::vector<double> values;
    for (Index row = 0; row < grid.points(); ++row) {
        const Int3 p = grid.point(row);
        values.push_back(factor * (100 * p.z + 10 * p.y + p.x));
    }
    return values;
}

/// A field with these values, components fastest.
NamedField field(const std::string& name, std::vector<double> values, int components = 1) {
    NamedField made;
    made.name = name, made.components = components;
    made.values = [values = std::move(values), components](Index first, Index count, double* to) {
        std::copy_n(values.begin() + first * components, count * components, to);
    };
    return made;
}

const Context host = Context::cpu(1);

/// An HDF5 file, which is open as long as this object exists.
class Contents {
public:
    explicit Contents(const std::string& path) : file_(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT)) {
        EXPECT_GE(file_, 0) << path;
    }
    ~Contents() { H5Fclose(file_); }

    template <class T>
    std::vector<T> attribute(const char* name, hid_t type) const {
        const hid_t id = H5Aopen_by_name(file_, "/VTKHDF", name, H5P_DEFAULT, H5P_DEFAULT);
        const hid_t space = H5Aget_space(id);
        std::vector<T> values(std::size_t(H5Sget_simple_extent_npoints(space)));
        H5Aread(id, type, values.data());
        H5Sclose(space);
        H5Aclose(id);
        return values;
    }
    std::string text(const char* object, const char* name) const {
        const hid_t id = H5Aopen_by_name(file_, object, name, H5P_DEFAULT, H5P_DEFAULT);
        const hid_t type = H5Aget_type(id);
        EXPECT_EQ(H5Tis_variable_str(type), 0);
        EXPECT_EQ(H5Tget_cset(type), H5T_CSET_ASCII);
        std::string text(H5Tget_size(type), '?');
        H5Aread(id, type, text.data());
        H5Tclose(type);
        H5Aclose(id);
        return text;
    }
    std::vector<double> array(const char* name, std::vector<hsize_t>& shape) const {
        const hid_t id = H5Dopen2(file_, name, H5P_DEFAULT);
        EXPECT_GE(id, 0) << name;
        const hid_t space = H5Dget_space(id);
        shape.resize(std::size_t(H5Sget_simple_extent_ndims(space)));
        H5Sget_simple_extent_dims(space, shape.data(), nullptr);
        std::vector<double> values(std::size_t(H5Sget_simple_extent_npoints(space)));
        H5Dread(id, H5T_NATIVE_DOUBLE, H5S_ALL, H5S_ALL, H5P_DEFAULT, values.data());
        H5Sclose(space);
        H5Dclose(id);
        return values;
    }
    bool has(const char* name) const { return H5Lexists(file_, name, H5P_DEFAULT) > 0; }

private:
    hid_t file_;
};

using Indices = std::vector<Index>;
using Values = std::vector<double>;

TEST(VtkHdf, FieldsAreThePointDataOfAnImage) {
    const Scratch scratch;
    const Grid grid = small_grid(false);
    const std::string path = scratch.path("run.vtkhdf");
    write_vtkhdf(path, grid, {field("u", digits(grid, 1)), field("p q", digits(grid, -1))}, host);
    const Contents contents(path);
    EXPECT_EQ(contents.text("/VTKHDF", "Type"), "ImageData");
    EXPECT_EQ(contents.attribute<Index>("Version", H5T_NATIVE_INT64), (Indices{1, 0}));
    EXPECT_EQ(contents.attribute<Index>("WholeExtent", H5T_NATIVE_INT64), (Indices{0, 3, 0, 2, 0, 1}));
    EXPECT_EQ(contents.attribute<double>("Origin", H5T_NATIVE_DOUBLE), (Values{1, 2, 3}));
    EXPECT_EQ(contents.attribute<double>("Spacing", H5T_NATIVE_DOUBLE), (Values{0.5, 0.25, 2}));
    EXPECT_EQ(contents.attribute<double>("Direction", H5T_NATIVE_DOUBLE), (Values{1, 0, 0, 0, 1, 0, 0, 0, 1}));
    std::vector<hsize_t> shape;
    EXPECT_EQ(contents.array("/VTKHDF/PointData/u", shape), digits(grid, 1));
    EXPECT_EQ(shape, (std::vector<hsize_t>{2, 3, 4}));
    EXPECT_EQ(contents.array("/VTKHDF/PointData/p q", shape), digits(grid, -1));
    EXPECT_FALSE(contents.has("/VTKHDF/CellData"));
}

TEST(VtkHdf, CellCentresAreWrittenAsPoints) {
    const Scratch scratch;
    const std::string path = scratch.path("run.vtkhdf");
    write_vtkhdf(path, small_grid(true), {field("u", digits(small_grid(true), 1))}, host);
    const Contents contents(path);
    EXPECT_EQ(contents.attribute<Index>("WholeExtent", H5T_NATIVE_INT64), (Indices{0, 3, 0, 2, 0, 1}));
    EXPECT_EQ(contents.attribute<double>("Origin", H5T_NATIVE_DOUBLE), (Values{1, 2, 3}));
    EXPECT_FALSE(contents.has("/VTKHDF/CellData"));
}

/// Each flat axis of y and z has two equal layers in the file.
TEST(VtkHdf, FlatAxesAreDoubled) {
    const Scratch scratch;
    for (const auto& [ny, nz] : {std::pair{3, 1}, {1, 2}, {1, 1}}) {
        Grid grid = small_grid(false);
        grid.ny = ny;
        grid.nz = nz;
        const std::string path = scratch.path("run.vtkhdf");
        write_vtkhdf(path, grid, {field("u", digits(grid, 1))}, host);
        const Contents contents(path);
        const int rows = std::max(ny, 2), planes = std::max(nz, 2);
        EXPECT_EQ(contents.attribute<Index>("WholeExtent", H5T_NATIVE_INT64),
                  (Indices{0, 3, 0, rows - 1, 0, planes - 1}));
        std::vector<hsize_t> shape;
        const Values u = contents.array("/VTKHDF/PointData/u", shape);
        EXPECT_EQ(shape, (std::vector<hsize_t>{hsize_t(planes), hsize_t(rows), 4}));
        for (int k = 0; k < planes; ++k)
            for (int j = 0; j < rows; ++j)
                for (int i = 0; i < 4; ++i)
                    EXPECT_EQ(u[std::size_t(i + 4 * (j + rows * k))],
                              100 * std::min(k, nz - 1) + 10 * std::min(j, ny - 1) + i);
    }
}

TEST(VtkHdf, ManyFieldsReplaceAnEarlierFile) {
    const Scratch scratch;
    const Grid grid = small_grid(false);
    std::vector<NamedField> fields;
    for (int f = 0; f < 100; ++f) fields.push_back(field("field" + std::to_string(f), digits(grid, f)));
    scratch.write("run.vtkhdf", "an earlier file");
    write_vtkhdf(scratch.path("run.vtkhdf"), grid, fields, host, Overwrite::any);
    const Contents contents(scratch.path("run.vtkhdf"));
    std::vector<hsize_t> shape;
    for (int f = 0; f < 100; ++f)
        EXPECT_EQ(contents.array(("/VTKHDF/PointData/field" + std::to_string(f)).c_str(), shape), digits(grid, f));
    EXPECT_EQ(scratch.names(), std::vector<std::string>{"run.vtkhdf"});
}

TEST(VtkHdf, FullDiskLeavesTheEarlierFile) {
    const Scratch scratch;
    const Grid grid = small_grid(false);
    scratch.write("run.vtkhdf", "an earlier file");
    for (const rlim_t limit : {0, 1000, 4096, 65000}) {
        const std::string error = error_with_full_disk(limit, [&] {
            write_vtkhdf(scratch.path("run.vtkhdf"), grid, {field("u", digits(grid, 1))}, host, Overwrite::any);
        });
        EXPECT_EQ(error,
                  scratch.path("run.vtkhdf") +
                      ": cannot reserve 66752 bytes: File too large; the file size limit (ulimit -f) is too low; "
                      "any earlier file of that name is intact");
        EXPECT_EQ(scratch.read("run.vtkhdf"), "an earlier file");
    }
    EXPECT_EQ(scratch.names(), std::vector<std::string>{"run.vtkhdf"});
}

TEST(VtkHdf, RefusesNamesThatAreNone) {
    const Scratch scratch;
    EXPECT_THROW(write_vtkhdf(scratch.path("run.vtkhdf"), small_grid(false), {field("a/b", {})}, host), Error);
    EXPECT_THROW(write_vtkhdf(scratch.path("none/run.vtkhdf"), small_grid(false), {}, host), FileError);
    EXPECT_TRUE(scratch.names().empty());
}

/// A plane of more points than are held at once, and a flat axis: the values of a vector arrive in their places.
TEST(VtkHdf, VectorsAreWrittenInPieces) {
    const Scratch scratch;
    Grid grid = small_grid(false);
    grid.nx = 211, grid.ny = 307, grid.nz = 1;
    std::vector<double> values;
    for (Index at = 0; at < 3 * grid.points(); ++at) values.push_back(double(at));
    NamedField velocity = field("velocity", values, 3);
    velocity.unit = "length/time";
    write_vtkhdf(scratch.path("run.vtkhdf"), grid, {velocity}, host);
    EXPECT_EQ(host.ledger().held(), 0);
    EXPECT_LE(host.ledger().peak(), vtkhdf_memory(grid, {velocity}));
    const Contents contents(scratch.path("run.vtkhdf"));
    std::vector<hsize_t> shape;
    std::vector<double> twice = values;
    twice.insert(twice.end(), values.begin(), values.end());
    EXPECT_EQ(contents.array("/VTKHDF/PointData/velocity", shape), twice);
    EXPECT_EQ(shape, (std::vector<hsize_t>{2, 307, 211, 3}));
    EXPECT_EQ(contents.text("/VTKHDF/PointData/velocity", "units"), "length/time");
}

/// The file of a series shows the values of its files, wherever the reader works.
TEST(VtkHdf, SeriesShowsItsFiles) {
    const Scratch scratch;
    const Grid grid = small_grid(false);
    std::filesystem::create_directory(scratch.path("run_series"));
    std::vector<TimedFile> files;
    for (int n = 0; n < 3; ++n) {
        files.push_back({0.5 * n, "run_series/" + std::to_string(n) + ".vtkhdf"});
        write_vtkhdf(scratch.path(files.back().file), grid, {field("u", digits(grid, n + 1))}, host);
    }
    const std::string path = scratch.path("run_series.vtkhdf");
    write_vtkhdf_series(path, grid, {field("u", {})}, files);
    EXPECT_LT(std::filesystem::file_size(path), 100000U);
    const Contents contents(path);
    EXPECT_EQ(contents.attribute<Index>("Version", H5T_NATIVE_INT64), (Indices{2, 0}));
    std::vector<hsize_t> shape;
    EXPECT_EQ(contents.array("/VTKHDF/Steps/Values", shape), (Values{0.0, 0.5, 1.0}));
    EXPECT_EQ(contents.array("/VTKHDF/Steps/PointDataOffsets/u", shape), (Values{0, 1, 2}));
    Values all;
    for (int n = 0; n < 3; ++n)
        for (const double value : digits(grid, n + 1)) all.push_back(value);
    EXPECT_EQ(contents.array("/VTKHDF/PointData/u", shape), all);
    EXPECT_EQ(shape, (std::vector<hsize_t>{3, 2, 3, 4}));
    EXPECT_TRUE(is_own(path, FileKind::fields));
}

TEST(VtkHdf, AFileIsReadByH5py) {
    const std::string python = "/usr/bin/python3 -c 'import h5py' 2>/dev/null";
    if (std::system(python.c_str()) != 0) GTEST_SKIP() << "python3 with h5py is not installed";
    const Scratch scratch;
    const Grid grid = small_grid(false);
    write_vtkhdf(scratch.path("run.vtkhdf"), grid, {field("u", digits(grid, 1))}, host);
    const std::string script = scratch.write("read.py",
                                             "import h5py, sys\n"
                                             "image = h5py.File(sys.argv[1], 'r')['VTKHDF']\n"
                                             "assert image.attrs['Type'] == b'ImageData', image.attrs['Type']\n"
                                             "assert list(image.attrs['WholeExtent']) == [0, 3, 0, 2, 0, 1]\n"
                                             "u = image['PointData/u']\n"
                                             "assert u.shape == (2, 3, 4) and u.dtype == 'float64'\n"
                                             "assert u[1, 2, 3] == 123\n");
    EXPECT_EQ(std::system(("/usr/bin/python3 " + script + " " + scratch.path("run.vtkhdf")).c_str()), 0);
}

}  // namespace
}  // namespace hyperplane
