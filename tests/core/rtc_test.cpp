// SPDX-License-Identifier: BSD-3-Clause
// Texts of kernels that include one another, without a GPU.
#include "core/device/rtc.hpp"

#include <gtest/gtest.h>

#include <atomic>
#include <chrono>
#include <filesystem>
#include <thread>

#include "core/error.hpp"
#include "core/grid/grid_point.hpp"
#include "core/grid/slots.hpp"
#include "core/timer.hpp"
#include "kept_in.hpp"

namespace hyperplane {
namespace {

using rtc::Texts;
using Names = std::vector<std::string_view>;
struct SlotCount {
    int slots;
};

TEST(KernelTexts, ListAllThatTheyInclude) {
    const Texts texts{
        {"room/kernel.cuh", "#include \"room/b.cuh\"\n # include \"room/a.hpp\" // both\n"},
        {"room/a.hpp", "#pragma once\n#include \"core/C.hpp\"\n"},
        {"room/b.cuh",
         "int b;\n#if B\n#include \"room/a.hpp\"\n#include <cmath>\n#endif\n// #include \"room/d.cuh\"\n"},
        {"core/C.hpp", "int c;  // no #include \"of this line\"\n"},
        {"room/d.cuh", "not included"}};
    EXPECT_EQ(rtc::included_texts({texts, "room/kernel.cuh"}),
              (Names{"room/kernel.cuh", "room/b.cuh", "room/a.hpp", "core/C.hpp"}));
    EXPECT_EQ(rtc::included_texts({texts, "core/C.hpp"}), Names{"core/C.hpp"});
}

TEST(KernelTexts, ThatAreNotEmbeddedAreNamed) {
    const Texts texts{{"room/kernel.cuh", "#include \"room/missing.cuh\"\n"}};
    try {
        rtc::included_texts({texts, "room/kernel.cuh"});
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::internal);
        EXPECT_EQ(std::string(error.what()), "room/kernel.cuh includes room/missing.cuh, which is not embedded");
    }
    EXPECT_THROW(rtc::included_texts({texts, "room/other.cuh"}), Error);
}

TEST(Architectures, AreThoseOfKernelsAndOfTheCompiler) {
    for (const int known : {80, 90}) EXPECT_EQ(rtc::unsupported(known), "") << known;
    for (const int unknown : {35, 75, 91, 999})
        EXPECT_NE(rtc::unsupported(unknown).find("compute capability 8.0 or newer, of which NVRTC "), std::string::npos)
            << unknown;
    const Texts texts{{"room/kernel.cuh", "extern \"C\" __global__ void fill(double* x) { x[threadIdx.x] = 1.0; }\n"}};
    EXPECT_THROW(rtc::compile({texts, "room/kernel.cuh"}, {}, "sm_91"), DeviceError);
}

TEST(KernelTexts, AreHeadersToTheCompiler) {
    const Texts texts{{"room/kernel.cuh",
                       "#include \"room/a.hpp\"\n#include \"room/b.hpp\"\n"
                       "extern \"C\" __global__ void fill(double* x) { x[threadIdx.x] = factor * twice(DOF); }\n"},
                      {"room/a.hpp", "#pragma once\n#include \"room/b.hpp\"\nconstexpr double factor = twice(2);\n"},
                      {"room/b.hpp", "#pragma once\nconstexpr int twice(int n) { return 2 * n; }\n"}};
    std::vector<rtc::KernelResources> rows;
    EXPECT_FALSE(rtc::compile({texts, "room/kernel.cuh"}, {{"DOF", "3"}}, "sm_90", &rows).empty());
    ASSERT_EQ(rows.size(), 1u);
    EXPECT_EQ(rows[0].name, "fill");
    try {
        rtc::compile({texts, "room/kernel.cuh"}, {}, "sm_90");
        FAIL();
    } catch (const Error& error) {
        EXPECT_NE(std::string(error.what()).find("room/kernel.cuh(3): error: identifier \"DOF\""), std::string::npos)
            << error.what();
    }
}

/// Programs of one text, which differ in a number.
rtc::Programs programs_of(const Texts& texts, const std::vector<const char*>& numbers) {
    rtc::Programs programs;
    for (const char* number : numbers) programs.push_back({{texts, "room/kernel.cuh"}, {{"DOF", number}}});
    return programs;
}

/// Ranks of one process ask for the same kernels at the same time.
TEST(MachineCode, IsCompiledOnceForAllThreads) {
    const std::filesystem::path folder = std::filesystem::path(testing::TempDir()) / "compiled_once";
    std::filesystem::remove_all(folder);
    const KeptIn there(folder.string());
    const Texts texts{{"room/kernel.cuh", "extern \"C\" __global__ void once(double* x) { x[threadIdx.x] = DOF; }\n"}};
    const rtc::Programs programs = programs_of(texts, {"1", "2", "3", "4", "5", "6"});
    std::atomic<int> compiled = 0, kept = 0;
    {
        std::vector<std::jthread> ranks;
        for (int rank = 0; rank < 4; ++rank)
            ranks.emplace_back([&] {
                const rtc::Compilation done = rtc::prepare(programs, "sm_90", 2);
                compiled += done.compiled, kept += done.kept + done.waited;
            });
    }
    EXPECT_EQ(compiled, 6);
    EXPECT_EQ(kept, 3 * 6);
    int files = 0;
    for (const auto& file : std::filesystem::directory_iterator(folder)) files += file.path().extension() == ".cubin";
    EXPECT_EQ(files, 6);
    std::filesystem::remove_all(folder);
}

/// They are a clock's, however many threads compile at the same time, and what is kept takes none.
TEST(CompilerSeconds, PassAsAClocksDo) {
    const KeptIn nowhere("");  // nothing is kept beyond this process
    const Texts texts{{"room/kernel.cuh", "extern \"C\" __global__ void fill(double* x) { x[threadIdx.x] = DOF; }\n"}};
    const rtc::Programs programs = programs_of(texts, {"3", "4", "5", "6"});
    const double none = rtc::compiler_seconds();
    const auto begin = std::chrono::steady_clock::now();
    EXPECT_EQ(rtc::prepare(programs, "sm_90", 4).compiled, 4);
    const double whole = seconds_since(begin), seconds = rtc::compiler_seconds() - none;
    EXPECT_GT(seconds, 0.5 * whole);
    EXPECT_LE(seconds, whole);
    EXPECT_EQ(rtc::prepare(programs, "sm_90", 4).kept, 4);
    EXPECT_EQ(rtc::compiler_seconds() - none, seconds);
}

TEST(KernelTexts, OfARoomAreEmbedded) {
    const Names names = rtc::included_texts({rtc::core_texts(), "core/matrix/spmv.cuh"});
    EXPECT_EQ(names, (Names{"core/matrix/spmv.cuh", "core/matrix/spmv_rows.cuh", "core/grid/grid_point.cuh",
                            "core/grid/slots.hpp", "core/host_device.hpp", "core/matrix/arguments.hpp",
                            "core/matrix/sums.cuh", "core/matrix/spmv_dot.cuh", "core/vector/block_sum.cuh"}));
}

TEST(KernelTexts, InitialiseArraysThatAreNeverEmpty) {
    EXPECT_EQ(rtc::array_of({3, -1, 2}), "{3,-1,2}");
    EXPECT_EQ(rtc::array_of({}), "{0}");
}

/// Slots of a neighbour minus that of its point; an argument without room for all entries is refused.
TEST(KernelArguments, HoldTheSlotsOfNeighbours) {
    const Layout layout(LayoutKind::natural, {5, 3, 2}, {});
    const std::vector<Int3> offsets{{0, 0, -1}, {0, 0, 0}, {1, 0, 0}, {0, 1, 0}};
    int deltas[4];
    slot_deltas(layout, offsets, deltas);
    EXPECT_EQ(std::vector<int>(deltas, deltas + 4), (std::vector<int>{15, 0, 1, 5}));
    EXPECT_EQ(shifted_slot(SlotCount{30}, 29, deltas[3]), 4);
    // More slots than half the largest int: the sum is none.
    EXPECT_EQ(shifted_slot(SlotCount{2147483647}, 2147483646, 2147483640), 2147483639);
    EXPECT_EQ(shifted_slot(SlotCount{1495065600}, 5, 1492992000), 1492992005);
    int few[3];
    EXPECT_THROW(slot_deltas(layout, offsets, few), UsageError);
}

}  // namespace
}  // namespace hyperplane
