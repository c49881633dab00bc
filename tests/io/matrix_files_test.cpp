// SPDX-License-Identifier: BSD-3-Clause
// Files of matrices and vectors: Matrix Market, plain and compressed, raw numbers; and real matrices.
#include "io/matrix_files.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include "io/bad_luck.hpp"
#include "io/file_error.hpp"
#include "io/gzip.hpp"
#include "io/matrix_market.hpp"
#include "io/scratch.hpp"
#include "io/written_files.hpp"

namespace hyperplane {
namespace {

using Values = std::vector<double>;

const std::string general_banner = "%%MatrixMarket matrix coordinate real general\n";

TEST(MatrixFiles, TextIsNotTakenForABinaryFile) {
    const Scratch scratch;
    const std::string path = scratch.write("a.mtx", general_banner + std::string(3, '\0'));
    EXPECT_EQ(error_of([&] { read_matrix(path); }),
              path + ":2: byte 1 is zero; this is no text file, and it does not begin as a binary file of PETSc does");
    const std::string big = scratch.write("b.mtx", "1 1\n" + std::string(70000, '1'));
    EXPECT_EQ(error_of([&] { read_vector(big); }), big + ":2: the line has more than 65536 bytes");
}

/// Files are checked in pieces of 1 MiB.
TEST(MatrixFiles, LinesAreCountedAcrossPieces) {
    const Scratch scratch;
    std::string text;
    while (text.size() < (5u << 20) / 2) text += "% " + std::string(text.size() % 977, 'a') + "\n";
    const auto error_with = [&](const std::string& more, std::size_t lines_before_end) {
        const std::string path = scratch.write("a.mtx", text + more);
        const auto lines = std::size_t(std::count(text.begin(), text.end(), '\n')) + lines_before_end;
        const std::string error = error_of([&] { read_matrix(path); }), place = fmt::format("{}:{}: ", path, lines + 1);
        return error.substr(0, place.size()) == place ? error.substr(place.size()) : "not at " + place + error;
    };
    EXPECT_EQ(error_with("1 1\n22" + std::string(1, '\0'), 1),
              "byte 3 is zero; this is no text file, and it does not begin as a binary file of PETSc does");
    const std::string longest(65536, '%');
    EXPECT_EQ(error_with(longest + "\n1 1\n" + longest + "%\n", 2), "the line has more than 65536 bytes");
    EXPECT_EQ(error_with(longest + "%", 0), "the line has more than 65536 bytes");
    for (const std::size_t before : {0u, 1u, 65535u, 65536u}) {  // the longest line across the end of a piece
        text.resize((2u << 20) - before - 1);
        text += '\n';
        EXPECT_EQ(error_with("%" + longest.substr(1) + "\n1 1 1\n%" + longest, 2),
                  "the line has more than 65536 bytes");
    }
}

TEST(MatrixFiles, DevicesAndFifosAreNotRead) {
    const Scratch scratch;
    const std::string fifo = scratch.path("fifo");
    ASSERT_EQ(mkfifo(fifo.c_str(), 0600), 0);
    for (const std::string& path : {std::string("/dev/zero"), fifo}) {
        const std::string refused =
            path + ": is a device, FIFO or socket, which may never end; copy what it gives to a file";
        EXPECT_EQ(error_of([&] { read_matrix(path); }), refused);
        EXPECT_EQ(error_of([&] { read_vector(path); }), refused);
        EXPECT_EQ(error_of([&] { read_doubles(path, 3); }), refused);
    }
}

TEST(GzipFiles, AreExpanded) {
    const Scratch scratch;
    const std::string head = general_banner + "2 2 2\n", entries = "1 1 4\n2 2 5\n";
    for (const std::string& bytes : {gzip(head + entries), gzip(head) + gzip(entries)})  // one member, two
        EXPECT_EQ(read_matrix(scratch.write("a.mtx.gz", bytes)).csr.value, (Values{4, 5}));
    EXPECT_EQ(read_vector(scratch.write("b.mtx.gz", gzip("1\n2\n"))), (Values{1, 2}));
}

/// What both ways make of the same bytes.
void expect_same_expansion(const std::string& packed, const std::string& text) {
    const Bytes in_pieces = expand_gzip_in_pieces(packed, "a.gz", [](std::string_view) {});
    EXPECT_TRUE(std::string_view(in_pieces) == text);  // too long to be compared line by line
    const std::optional<Bytes> at_once = expand_gzip_at_once(packed);
    ASSERT_TRUE(at_once.has_value());
    EXPECT_TRUE(std::string_view(*at_once) == text);
}

TEST(GzipFiles, AreExpandedAtOnceToTheSameBytes) {
    if (!expands_at_once()) GTEST_SKIP() << "built without libdeflate";
    std::string text;
    for (int i = 0; i < 300000; ++i) text += std::to_string(i * 79 % 100003) + '\n';
    expect_same_expansion(gzip(""), "");
    expect_same_expansion(gzip(text), text);
    std::string members, expected;  // the last one is empty, as in files of bgzip, and announces nothing
    for (const std::size_t size : {0, 1, 65280, 1500000, 3, 0}) {
        members += gzip(text.substr(0, size));
        expected += text.substr(0, size);
    }
    expect_same_expansion(members, expected);
    expect_same_expansion(gzip("") + gzip(text), text);
}

TEST(GzipFiles, WhatCannotBeExpandedAtOnceIsLeftToZlib) {
    const std::string whole = gzip(general_banner + "2 2 2\n1 1 4\n2 2 5\n");
    std::string other_size = whole;
    other_size.back() = char(other_size.back() ^ 1);  // announces 16 MiB more
    for (const std::string& bytes : {std::string(), whole.substr(0, 2), whole.substr(0, whole.size() - 1), whole + "x",
                                     whole + std::string(30, '\0'), other_size})
        EXPECT_FALSE(expand_gzip_at_once(bytes).has_value());
    const Scratch scratch;
    const std::string path = scratch.write("a.mtx.gz", other_size);
    EXPECT_EQ(error_of([&] { read_matrix(path); }).substr(path.size()),
              ": gzip file: damaged near byte " + std::to_string(whole.size()) + ": incorrect length check");
}

TEST(GzipFiles, DamageIsNamed) {
    const Scratch scratch;
    const std::string whole = gzip(general_banner + "2 2 2\n1 1 4\n2 2 5\n");
    const auto error = [&](const std::string& bytes) {
        const std::string path = scratch.write("a.mtx.gz", bytes);
        return error_of([&] { read_matrix(path); }).substr(path.size());
    };
    EXPECT_EQ(error(whole.substr(0, whole.size() / 2)), ": gzip file: it ends too early; is it truncated?");
    EXPECT_EQ(error(whole.substr(0, 2)), ": gzip file: it ends too early; is it truncated?");
    EXPECT_EQ(error(whole + "x"), ": gzip file: 1 bytes follow its end");
    std::string flipped = whole;
    flipped[flipped.size() - 5] = char(flipped[flipped.size() - 5] ^ 1);  // of the checksum
    EXPECT_EQ(error(flipped),
              ": gzip file: damaged near byte " + std::to_string(whole.size() - 4) + ": incorrect data check");
    EXPECT_EQ(error(gzip(general_banner + "2 2 1\n1 1 x\n")), ":3: expected a finite number, got 'x'");
    const std::string lines(1 << 20, '\n');
    std::string bomb = general_banner;
    for (int i = 0; i < 100; ++i) bomb += lines;
    const std::string packed = gzip(bomb);
    EXPECT_EQ(error(packed), ": gzip file: it expands to more than 200 times its " + std::to_string(packed.size()) +
                                 " bytes, which no matrix does; expand it yourself if it is one");
}

TEST(MatrixFiles, WhatIsWrittenReadsBackBitForBit) {
    const Scratch scratch;
    const CsrMatrix csr{2, {0, 2, 4}, {0, 1, 0, 1}, {0.1, -1.0 / 3.0, -1.0 / 3.0, 5e-324}};
    for (const bool as_symmetric : {false, true}) {
        write_file(scratch.path("a.mtx"), [&](AtomicFile& file) { write_matrix_market(file, csr, as_symmetric); });
        const InputMatrix m = read_matrix(scratch.path("a.mtx"));
        EXPECT_EQ(m.declared_symmetric, as_symmetric);
        EXPECT_EQ(m.csr.row_begin, csr.row_begin);
        EXPECT_EQ(m.csr.column, csr.column);
        EXPECT_EQ(m.csr.value, csr.value);
    }
    EXPECT_EQ(scratch.read("a.mtx").substr(0, 87),
              "%%MatrixMarket matrix coordinate real symmetric\n% made by hyperplane\n2 2 3\n1 1 0.1\n2 1 ");
    const Values b{1.0, 1e-300, -0.1, 1.7976931348623157e308};
    write_file(scratch.path("b.mtx"), [&](AtomicFile& file) { write_matrix_market(file, b); });
    EXPECT_EQ(read_vector(scratch.path("b.mtx")), b);
    EXPECT_EQ(scratch.names().size(), 2u);
}

TEST(MatrixFiles, FullDisk) {
    const Scratch scratch;
    const std::string error = error_with_full_disk(10, [&] {
        write_file(scratch.path("b.mtx"), [](AtomicFile& file) { write_matrix_market(file, Values(100, 1.0)); });
    });
    EXPECT_EQ(error,
              scratch.path("b.mtx") +
                  ": cannot write 268 bytes, stopped after 10: File too large; the file size limit (ulimit -f) is "
                  "too low; any earlier file of that name is intact");
    EXPECT_TRUE(scratch.names().empty());
}

/// Each value beside one that is rounded for certain, before it and behind it.
TEST(MatrixFiles, IntegersThatNoDoubleHoldsAreCounted) {
    const std::string banner = "%%MatrixMarket matrix coordinate integer general\n1 1 3\n";
    const std::string rounded = "1 1 9007199254740993\n";
    for (const auto& [value, counts] :
         {std::pair{"9007199254740991", false},          std::pair{"9007199254740992", false},
          std::pair{"-9007199254740993", true},          std::pair{"0009007199254740993", true},
          std::pair{"9007199254740994", false},          std::pair{"999999999999999999", true},
          std::pair{"1000000000000000000", false},       std::pair{"9223372036854774784", false},
          std::pair{"9223372036854775807", true},        std::pair{"-9223372036854775807", true},
          std::pair{"-9223372036854775808", false},      std::pair{"9223372036854775808", false},
          std::pair{"-9223372036854775809", true},       std::pair{"+9223372036854775809", true},
          std::pair{"18446744073709551615", true},       std::pair{"18446744073709551616", false},
          std::pair{"100000000000000000000", false},     std::pair{"1000000000000000000000000000001", true},
          std::pair{"9007199254740993.0", false},        std::pair{"9007199254740993e0", false},
          std::pair{"12345678901234567890123.0", false}, std::pair{"1e300", false}}) {
        SCOPED_TRACE(value);
        const std::string own = "1 1 " + std::string(value) + "\n";
        for (const std::string& text : {fmt::format("{0}{1}{0}", rounded, own), fmt::format("{0}{0}{1}", rounded, own),
                                        fmt::format("{1}{0}{0}", rounded, own)}) {
            const std::vector<std::string> told = parse_matrix_market(banner + text, "a.mtx").warnings;
            ASSERT_EQ(told.size(), 1u);
            EXPECT_NE(told[0].find(counts ? "(one of 3 such entries)" : "(one of 2 such entries)"), std::string::npos)
                << told[0];
        }
    }
}

TEST(MatrixFiles, Missing) {
    EXPECT_EQ(error_of([] { read_matrix("none.mtx"); }), "none.mtx: cannot read: No such file or directory");
    EXPECT_EQ(error_of([] { read_vector("/tmp"); }), "/tmp: cannot read: Is a directory");
}

TEST(Doubles, FileMustHoldExactlyAsManyAsAsked) {
    const Scratch scratch;
    const Values values{1.5, -0.0, 1e300};
    const std::string path =
        scratch.write("k.bin", std::string(reinterpret_cast<const char*>(values.data()), 3 * sizeof(double)));
    EXPECT_EQ(read_doubles(path, 3), values);
    EXPECT_EQ(error_of([&] { read_doubles(path, 4); }),
              path + ": 4 float64 values are needed, 32 bytes; the file has 24");
    EXPECT_EQ(error_of([&] { read_doubles(path, 2); }),
              path + ": 2 float64 values are needed, 16 bytes; the file has 24");
    EXPECT_EQ(error_of([&] { read_doubles("none.bin", 2); }), "none.bin: cannot read: No such file or directory");
    EXPECT_TRUE(read_doubles(scratch.write("empty.bin", ""), 0).empty());
}

class RealMatrix : public testing::Test {
protected:
    /// The path of a real matrix; if there is none, "", and the test is skipped.
    std::string path(const std::string& name) {
        const char* folder = std::getenv("HYPERPLANE_SHARED_DATA");
        const std::string file = std::string(folder ? folder : "") + "/" + name;
        return folder && std::filesystem::exists(file) ? file : "";
    }
};

TEST_F(RealMatrix, Orsreg1) {
    const std::string file = path("orsreg_1.mtx");
    if (file.empty()) GTEST_SKIP() << "orsreg_1.mtx is not in HYPERPLANE_SHARED_DATA";
    const InputMatrix m = read_matrix(file);
    EXPECT_FALSE(m.declared_symmetric);
    EXPECT_EQ(m.csr.rows, 2205);
    EXPECT_EQ(m.csr.row_begin.back(), 14133);
    EXPECT_EQ(m.csr.value[0], -1.66883333e+04);
}

TEST_F(RealMatrix, Nos7) {
    const std::string file = path("nos7.mtx");
    if (file.empty()) GTEST_SKIP() << "nos7.mtx is not in HYPERPLANE_SHARED_DATA";
    const InputMatrix m = read_matrix(file, FileSymmetry::symmetric);
    EXPECT_TRUE(m.declared_symmetric);
    EXPECT_EQ(m.csr.rows, 729);
    EXPECT_EQ(m.csr.row_begin.back(), 2 * 2673 - 729);
}

}  // namespace
}  // namespace hyperplane
