// SPDX-License-Identifier: BSD-3-Clause
// A damaged file is told before HDF5 sees it; what has no seal is read where a crash harms nobody.
#include "io/sealed_file.hpp"

#include <gtest/gtest.h>
#include <hdf5.h>
#include <signal.h>
#include <unistd.h>

#include <boost/crc.hpp>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <new>

#include "io/comparison.hpp"
#include "io/file_error.hpp"
#include "io/hdf5_file.hpp"
#include "io/record_sample.hpp"
#include "io/scratch.hpp"

namespace hyperplane {
namespace {

std::string sample_record(const Scratch& scratch) {
    RecordWriter writer(scratch.path("run.h5"), sample_header());
    fill_sample(writer);
    writer.finish("preempted", ExitCode::checkpointed, "SIGTERM");
    return scratch.read("run.h5");
}

bool says_damaged(const std::string& path) {
    return error_of([&] { read_record(path); }).rfind(path + ": damaged: ", 0) == 0;
}

TEST(SealedFile, AnyFlippedBitIsTold) {
    const Scratch scratch;
    const std::string whole = sample_record(scratch);
    for (std::size_t at = 0; at < whole.size(); at += at < 700 ? 1 : 61) {
        std::string flipped = whole;
        flipped[at] = char(flipped[at] ^ (1 << at % 8));
        EXPECT_TRUE(says_damaged(scratch.write("a.h5", flipped))) << at;
    }
}

TEST(SealedFile, AnyPartCutOffOrAddedIsTold) {
    const Scratch scratch;
    const std::string whole = sample_record(scratch);
    for (std::size_t size = 0; size < whole.size(); size += 307) {
        const std::string path = scratch.write("a.h5", whole.substr(0, size));
        if (size >= 24)
            EXPECT_TRUE(says_damaged(path)) << size;
        else
            EXPECT_EQ(error_of([&] { read_record(path); }), path + ": not an HDF5 file, or not all of one");
    }
    EXPECT_EQ(error_of([&] { read_record(scratch.write("a.h5", whole + "x")); }),
              scratch.path("a.h5") + ": damaged: 1 bytes follow what was written");
}

TEST(SealedFile, OfANewerProgramIsNotCalledDamaged) {
    const Scratch scratch;
    std::string newer = sample_record(scratch);
    newer[std::string_view("hyperplane record ").size()] = '2';
    boost::crc_32_type crc;
    crc.process_bytes(newer.data(), 44);
    const std::uint32_t checksum = crc.checksum();
    std::memcpy(&newer[44], &checksum, sizeof checksum);
    const std::string path = scratch.write("a.h5", newer);
    EXPECT_EQ(error_of([&] { read_record(path); }),
              path + ": a newer program wrote it (hyperplane record 2), and reads it");
    newer[44] = char(newer[44] ^ 1);
    EXPECT_TRUE(says_damaged(scratch.write("a.h5", newer)));
}

TEST(SealedFile, SaysWhatItIs) {
    const Scratch scratch;
    sample_record(scratch);
    const auto seal = verify_seal(scratch.path("run.h5"));
    ASSERT_TRUE(seal);
    EXPECT_EQ(seal->kind, FileKind::record);
    EXPECT_TRUE(is_own(scratch.path("run.h5"), FileKind::record));
    EXPECT_FALSE(is_own(scratch.path("run.h5"), FileKind::comparison));
    take_seal_off(scratch.path("run.h5"));
    EXPECT_FALSE(verify_seal(scratch.path("run.h5")));
    EXPECT_EQ(read_record(scratch.path("run.h5")).status, "preempted");
}

TEST(SealedFile, HoldsNoTextOfVariableLength) {
    const Scratch scratch;
    sample_record(scratch);
    const auto visit = [](hid_t file, const char* name, const H5O_info_t* info, void*) -> herr_t {
        const hid_t id = H5Oopen(file, name, H5P_DEFAULT);
        const auto look = [](hid_t object, const char* attribute, const H5A_info_t*, void* of) -> herr_t {
            const hid_t a = H5Aopen(object, attribute, H5P_DEFAULT), type = H5Aget_type(a);
            EXPECT_LE(H5Tis_variable_str(type), 0) << static_cast<const char*>(of) << "@" << attribute;
            H5Tclose(type);
            H5Aclose(a);
            return 0;
        };
        H5Aiterate2(id, H5_INDEX_NAME, H5_ITER_INC, nullptr, look, const_cast<char*>(name));
        if (info->type == H5O_TYPE_DATASET) {
            const hid_t type = H5Dget_type(id);
            EXPECT_LE(H5Tis_variable_str(type), 0) << name;
            H5Tclose(type);
        }
        H5Oclose(id);
        return 0;
    };
    const hid_t file = H5Fopen(scratch.path("run.h5").c_str(), H5F_ACC_RDONLY, H5P_DEFAULT);
    ASSERT_GE(file, 0);
    H5Ovisit(file, H5_INDEX_NAME, H5_ITER_INC, visit, nullptr);
    H5Fclose(file);
}

TEST(SealedFile, TextOfVariableLengthIsRead) {
    const Scratch scratch;
    sample_record(scratch);
    const std::string path = scratch.path("run.h5");
    remove_object(path, "deck/source");
    const hid_t file = H5Fopen(path.c_str(), H5F_ACC_RDWR, H5P_DEFAULT);
    const hid_t type = H5Tcopy(H5T_C_S1), space = H5Screate(H5S_SCALAR);
    H5Tset_size(type, H5T_VARIABLE);
    const char* text = "[problem]\nname = of version 0.1\n";
    const hid_t data = H5Dcreate2(file, "deck/source", type, space, H5P_DEFAULT, H5P_DEFAULT, H5P_DEFAULT);
    H5Dwrite(data, type, H5S_ALL, H5S_ALL, H5P_DEFAULT, &text);
    H5Dclose(data);
    H5Adelete(file, "message");
    const hid_t attribute = H5Acreate2(file, "message", type, space, H5P_DEFAULT, H5P_DEFAULT);
    H5Awrite(attribute, type, &text);
    H5Aclose(attribute);
    H5Sclose(space);
    H5Tclose(type);
    H5Fclose(file);
    EXPECT_EQ(read_record(path).deck_source, text);
    EXPECT_EQ(read_record(path).message, text);
}

TEST(SealedFile, ALongTextOfAnAttributeIsCut) {
    const Scratch scratch;
    RecordWriter writer(scratch.path("run.h5"), sample_header());
    writer.finish("failed", ExitCode::internal, std::string(59999, 'x') + "\xc3\xa4" + std::string(90000, 'y'));
    EXPECT_EQ(read_record(scratch.path("run.h5")).message, std::string(59999, 'x') + " [...]");
}

/// Flips of a file that has no seal reach HDF5, in a child.
TEST(SealedFile, WithoutASealFlipsHarmNobody) {
    const Scratch scratch;
    const std::string image = sample_record(scratch).substr(512);
    for (std::size_t at = 0; at < image.size(); at += image.size() / 150) {
        std::string flipped = image;
        flipped[at] = char(flipped[at] ^ (1 << at % 8));
        const std::string path = scratch.write("a.h5", flipped);
        try {
            read_record(path);
        } catch (const FileError& error) {
            EXPECT_NE(std::string(error.what()).find(path), std::string::npos) << error.what();
        }
    }
}

TEST(TryInChild, ACrashCountsAsAFaultOfTheFile) {
    const auto message = [](const std::function<void()>& read) {
        return error_of([&] { try_in_child("/dev/null", read); });
    };
    EXPECT_NO_THROW(try_in_child("/dev/null", [] {}));
    EXPECT_EQ(message([] { throw FileError("as it was"); }), "as it was");
    EXPECT_EQ(message([] { throw std::bad_alloc(); }), "/dev/null: damaged: it claims more than it can hold");
    EXPECT_EQ(message([] { raise(SIGXCPU); }), "/dev/null: damaged: reading it does not come to an end");
    EXPECT_EQ(message([] {
                  signal(SIGSEGV, SIG_DFL);
                  raise(SIGSEGV);
              }),
              "/dev/null: damaged: HDF5 crashes when it reads it");
    EXPECT_EQ(message([] { _exit(77); }), "/dev/null: damaged: HDF5 crashes when it reads it");
}

}  // namespace
}  // namespace hyperplane
