// SPDX-License-Identifier: BSD-3-Clause
// Matrices and vectors in PETSc's binary files.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <functional>
#include <limits>

#include "io/bad_luck.hpp"
#include "io/file_error.hpp"
#include "io/matrix_files.hpp"
#include "io/petsc_binary.hpp"
#include "io/scratch.hpp"
#include "io/written_files.hpp"

namespace hyperplane {
namespace {

using Indices = std::vector<Index>;
using Values = std::vector<double>;

/// Writes numbers as PETSc does: big-endian, integers of 4 or 8 bytes.
class PetscBytes {
public:
    explicit PetscBytes(int integer_bytes) : integer_bytes_(integer_bytes) {}
    PetscBytes& integers(const Indices& values) {
        for (const Index value : values)
            for (int byte = integer_bytes_; byte-- > 0;) bytes += char(std::uint64_t(value) >> (8 * byte) & 255);
        return *this;
    }
    PetscBytes& reals(const Values& values) {
        for (const double value : values) real(value);
        return *this;
    }
    PetscBytes& in_single(const Values& values) {
        for (const double value : values) real(float(value));
        return *this;
    }
    std::string bytes;

private:
    template <class Real>
    void real(Real value) {
        char of_value[sizeof value];
        std::memcpy(of_value, &value, sizeof value);
        bytes.append(std::rbegin(of_value), std::rend(of_value));
    }
    int integer_bytes_;
};

constexpr const char* complex_values =
    "its values have 16 bytes and so are complex; only real ones, of 8 bytes, can be solved with: write it with a "
    "PETSc that was configured for real numbers";

TEST(PetscFiles, MatrixAndVectorOfEitherIntegers) {
    const Scratch scratch;
    for (const int integers : {4, 8}) {
        PetscBytes file(integers);
        file.integers({1211216, 3, 3, 5, 2, 1, 2, 2, 0, 1, 1, 2}).reals({0.5, -1, 2, 1e-300, 7});
        file.integers({1211214, 3}).reals({1, 2, -3});
        const std::string path = scratch.write("system.petsc", file.bytes);
        const InputMatrix m = read_matrix(path);
        EXPECT_FALSE(m.declared_symmetric);
        EXPECT_EQ(m.csr.rows, 3);
        EXPECT_EQ(m.csr.row_begin, (Indices{0, 2, 3, 5}));
        EXPECT_EQ(m.csr.column, (Indices{0, 2, 1, 1, 2}));  // sorted
        EXPECT_EQ(m.csr.value, (Values{-1, 0.5, 2, 1e-300, 7}));
        EXPECT_EQ(read_vector(path), (Values{1, 2, -3}));
        EXPECT_EQ(error_of([&] { read_matrix(path, FileSymmetry::symmetric); }),
                  path + ": a PETSc file holds all entries of its matrix; leave problem.symmetry out");
        EXPECT_EQ(read_matrix(scratch.write("system.petsc.gz", gzip(file.bytes))).csr.value, m.csr.value);
    }
}

TEST(PetscFiles, EmptyRowsAreToldWithTheirNumbers) {
    PetscBytes file(4);
    file.integers({1211216, 3, 3, 2, 1, 0, 1, 0, 2}).reals({0.5, 7});
    EXPECT_EQ(error_of([&] { parse_petsc_matrix(file.bytes, "a.petsc"); }),
              "a.petsc: row 2 of 3 has no entry, so the matrix is singular and no preconditioner can be built from it");
}

TEST(PetscFiles, AreWrittenAsPetscWritesThem) {
    const CsrMatrix csr{3, {0, 2, 3, 5}, {0, 2, 1, 1, 2}, {-1, 0.5, 2, 1e-300, 7}};
    const Values b{1, 2, -3};
    for (const int integers : {4, 8}) {
        std::string bytes;
        write_petsc_matrix(
            csr, [&](const std::string& more) { bytes += more; }, integers);
        PetscBytes expected(integers);
        expected.integers({1211216, 3, 3, 5, 2, 1, 2, 0, 2, 1, 1, 2}).reals(csr.value);
        EXPECT_EQ(bytes, expected.bytes);
    }
    const Scratch scratch;
    const auto write_csr = [&](AtomicFile& file) { write_petsc(file, csr); };
    write_file(scratch.path("a"), write_csr);
    write_file(scratch.path("b"), [&](AtomicFile& file) { write_petsc(file, b); });
    const InputMatrix m = read_matrix(scratch.path("a"));
    EXPECT_EQ(m.csr.row_begin, csr.row_begin);
    EXPECT_EQ(m.csr.column, csr.column);
    EXPECT_EQ(m.csr.value, csr.value);
    EXPECT_EQ(read_vector(scratch.path("b")), b);
    EXPECT_EQ(
        error_of([&] { write_file(scratch.path("a"), write_csr); }),
        scratch.path("a") +
            " exists and is no exported matrix or vector that this program wrote, so it is left as it is; move it "
            "away, name another file, or give --force to write over it");
    write_file(scratch.path("a"), write_csr, Overwrite::any);
    // Larger than a piece.
    Values many(300000);
    for (std::size_t at = 0; at < many.size(); ++at) many[at] = 1.0 / double(at + 1);
    const auto write_many = [&](AtomicFile& file) { write_petsc(file, many); };
    write_file(scratch.path("many"), write_many);
    EXPECT_EQ(read_vector(scratch.path("many")), many);
    error_with_full_disk(10, [&] { write_file(scratch.path("c"), write_many); });
    EXPECT_NE(error_of([&] { read_vector(scratch.path("c")); }), "");
}

TEST(PetscFiles, WrongMatrices) {
    const double nan = std::numeric_limits<double>::quiet_NaN();
    const auto error = [](const Indices& integers, const Values& reals) {
        const std::string bytes = PetscBytes(4).integers(integers).reals(reals).bytes;
        return error_of([&] { parse_petsc_matrix(bytes, "a"); });
    };
    const std::string a = "a: PETSc binary file: ";
    EXPECT_EQ(error({1211214, 1}, {1}), a + "it begins with a vector, not with a matrix");
    EXPECT_EQ(error({1211216, 2, 3, 0, 0, 0}, {}), a + "the matrix is 2 x 3; a square one is needed");
    EXPECT_EQ(error({1211216, 0, 0, 0}, {}), a + "the matrix has no rows, so there is nothing to solve");
    EXPECT_EQ(error({1211216, 1, 1, -1}, {1}), a + "the matrix is dense; a sparse one is needed (MATAIJ)");
    EXPECT_EQ(error({1211216, -1, 1, 0}, {1}), a + "-1 x 1 with 0 nonzeros is no matrix");
    EXPECT_EQ(error({1211216, 1000000, 1000000, 1, 1, 0}, {1}),
              a + "1000000 rows are announced, but the file has only 32 bytes; is it truncated?");
    const std::string too_many = PetscBytes(8).integers({1211216, 3000000000, 3000000000, 1, 1, 0}).reals({1}).bytes;
    const std::string many_rows =
        a +
        "3000000000 rows are more than 2147483647, the most block rows of a matrix, and the file has too few entries "
        "for blocks of several unknowns";
    EXPECT_EQ(error_of([&] { parse_petsc_matrix(too_many, "a"); }), many_rows);
    EXPECT_EQ(error_of([&] { parse_petsc_head(too_many, too_many.size(), "a"); }), many_rows);
    EXPECT_EQ(error({1211216, 1, 1, 2000000000, 2000000000, 0}, {1}),
              a + "row 1 has 2000000000 nonzeros, of 1 columns");
    EXPECT_EQ(error({1211216, 2, 2, 3, 1, 1, 0, 1, 0}, {1, 1, 1}), a + "its rows have 2 nonzeros, but 3 are announced");
    EXPECT_EQ(error({1211216, 2, 2, 2, 1, 1, 0, 1}, {}),
              a + "2 nonzeros are announced, but the file has only 32 bytes; is it truncated?");
    EXPECT_EQ(error({1211216, 2, 2, 2, 1, 1, 0, 2}, {1, 1}), a + "row 2: column 3 is outside 1..2");
    EXPECT_EQ(error({1211216, 2, 2, 2, 1, 1, 0, 1}, {1, nan}), a + "row 2, column 2: the value is not finite");
    EXPECT_EQ(error({1211216, 2, 2, 2, 2, 0, 1, 1}, {1, 1}), a + "row 1 has column 2 twice");
    EXPECT_EQ(error({1211216, 2, 2, 2, 1, 1, 0, 1}, {1, 0.5, 2, 0}), a + complex_values);
    EXPECT_EQ(error({1211216, 2, 2, 2, 1, 1, 0, 1}, {1, 1, 1}),
              a + "8 bytes follow the matrix, and no object of PETSc begins with them: the file is damaged, or its "
                  "values are not real numbers of 8 bytes; write it with a PETSc that was configured for real numbers "
                  "in double precision");
}

TEST(PetscFiles, ValuesInSinglePrecisionAreTold) {
    const Scratch scratch;
    const std::string told =
        ": PETSc binary file: its values have 4 bytes and so are of single precision; ones of 8 bytes are needed: "
        "write "
        "it with a PETSc that was configured for double precision";
    for (const int integers : {4, 8}) {
        const std::string head =
            PetscBytes(integers).integers({1211216, 3, 3, 9, 3, 3, 3, 0, 1, 2, 0, 1, 2, 0, 1, 2}).bytes;
        const std::string matrix = head + PetscBytes(4).in_single({4, -1, 0.5, -1, 4, -1, 0.5, -1, 4}).bytes,
                          vector = PetscBytes(integers).integers({1211214, 3}).in_single({1, 2, 3}).bytes,
                          begins = scratch.write("begins.petsc", matrix + vector);
        for (const std::string& path : {scratch.write("a.petsc", matrix), begins}) {
            EXPECT_EQ(error_of([&] { read_matrix(path); }), path + told);
            EXPECT_EQ(error_of([&] { read_matrix_head(path, FileSymmetry::by_file); }), path + told);
            EXPECT_EQ(error_of([&] { read_vector(path); }), path + told);
        }
        const std::string b = scratch.write("b.petsc", vector);
        EXPECT_EQ(error_of([&] { read_vector(b); }), b + told);
        // One byte less is no whole file of either precision.
        const std::string cut = scratch.write("cut.petsc", matrix.substr(0, matrix.size() - 1));
        EXPECT_EQ(
            error_of([&] { read_matrix(cut); }),
            cut + fmt::format(": PETSc binary file: 9 nonzeros are announced, but the file has only {} bytes; is it "
                              "truncated?",
                              matrix.size() - 1));
    }
}

TEST(PetscFiles, OtherObjectsMayFollow) {
    const std::string index_set = PetscBytes(4).integers({1211218, 1, 0}).bytes,
                      vector = PetscBytes(4).integers({1211214, 2}).reals({3, 4}).bytes;
    const std::string matrix = PetscBytes(4).integers({1211216, 2, 2, 2, 1, 1, 0, 1}).reals({1, 2}).bytes;
    EXPECT_EQ(parse_petsc_matrix(matrix + vector + vector, "a").csr.value, (Values{1, 2}));
    EXPECT_TRUE(parse_petsc_matrix(matrix + vector + vector, "a").warnings.empty());
    for (const std::string& between : {std::string(), vector}) {
        const InputMatrix found = parse_petsc_matrix(fmt::format("{}{}{}{}", matrix, between, index_set, matrix), "a");
        EXPECT_EQ(found.csr.value, (Values{1, 2}));
        EXPECT_EQ(found.warnings, std::vector<std::string>{
                                      "a: PETSc binary file: an object of PETSc that is neither matrix nor vector, "
                                      "of class 1211218, follows the matrix; it is not read, nor is what follows "
                                      "it"});
        EXPECT_EQ(error_of([&] { parse_petsc_matrix(fmt::format("{}{}{}", matrix, between, matrix), "a"); }),
                  "a: PETSc binary file: it holds a second matrix, and nothing says which of them is meant; write each "
                  "to a file of its own");
    }
    EXPECT_NE(error_of([&] { parse_petsc_matrix(matrix + vector.substr(0, 12), "a"); }), "");
    EXPECT_EQ(parse_petsc_vector(matrix + vector + vector, "a"), (Values{3, 4}));
    EXPECT_EQ(parse_petsc_vector(vector + matrix, "a"), (Values{3, 4}));
}

TEST(PetscFiles, WrongVectors) {
    const auto error = [](const Indices& integers, const Values& reals) {
        const std::string bytes = PetscBytes(4).integers(integers).reals(reals).bytes;
        return error_of([&] { parse_petsc_vector(bytes, "b"); });
    };
    const std::string b = "b: PETSc binary file: ";
    EXPECT_EQ(error({1211214, 3}, {1, 2}),
              b + "3 values are announced, but the file has only 24 bytes; is it truncated?");
    EXPECT_EQ(error({1211214, -3}, {1, 2}), b + "-3 is no size of a vector");
    EXPECT_EQ(error({1211216, 1, 1, 1, 1, 0}, {1}), b + "it holds no vector, or not where one would begin");
    EXPECT_EQ(error({1211214, 2}, {1, std::numeric_limits<double>::infinity()}), b + "value 2 is not finite");
    EXPECT_EQ(error({1211214, 2}, {1, 0.5, 2, 0}), b + complex_values);
    EXPECT_EQ(error({1211216, 1, 1, 1, 1, 0}, {1, 2}), b + complex_values);
}

}  // namespace
}  // namespace hyperplane
