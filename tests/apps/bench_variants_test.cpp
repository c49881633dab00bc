// SPDX-License-Identifier: BSD-3-Clause
// The variants of struct_ilu's kernels that bench times, and what NVRTC would compile for them.
#include "apps/bench/variants.hpp"

#include <gtest/gtest.h>

#include <set>

#include "core/types.hpp"

namespace hyperplane {
namespace {

std::set<std::string> names(const std::vector<Variant>& variants) {
    std::set<std::string> found;
    for (const Variant& variant : variants) found.insert(variant.name);
    EXPECT_EQ(found.size(), variants.size());  // one name, one variant
    return found;
}

const BenchCase star7{Stencil::by_name("star7"), 1, 512, false}, box27{Stencil::by_name("box27"), 4, 128, false};

TEST(BenchTunings, AreThoseWithOneOfTheWordsInTheirNames) {
    EXPECT_EQ(names(tunings("lookahead,2 blocks")),
              (std::set<std::string>{"lookahead 1", "lookahead 2", "lookahead 4", "2 blocks"}));
    EXPECT_EQ(names(tunings("8 stages,stages")).size(), 5u);
    EXPECT_TRUE(tunings("tilse,,").empty());
    EXPECT_LT(names(tunings("tiles,stages")).size(), names(tunings("all")).size());
}

TEST(BenchTunings, OfTheSameKernelsAreFound) {
    if constexpr (!cuda_built) GTEST_SKIP() << "built without CUDA";
    const Context context = Context::cpu(1);
    const auto same = [&](const BenchCase& setting, const std::string& words) {
        return same_kernels(context, setting, LayoutKind::hyperplane, tunings(words));
    };
    // The solves of star7 have six stages and two sets of threads that poll.
    EXPECT_EQ(same(star7, "6 stages,lookahead"), (std::vector<std::string>{"the default", "", "the default", ""}));
    // A tile of blocks that does not fit is halved until it does, so that two tunings may end alike.
    for (const std::string& name : same(box27, "tiles 32 x 4,tiles 32 x 16")) EXPECT_NE(name, "tiles 32 x 16");
    EXPECT_EQ(same(box27, "storage single").front(), "");
}

TEST(BenchVariants, OfEveryPieceHaveKernels) {
    if constexpr (!cuda_built) GTEST_SKIP() << "built without CUDA";
    const Context context = Context::cpu(1);
    for (const BenchCase& setting : {star7, box27}) {
        const std::size_t usual = programs_of(context, setting, LayoutKind::hyperplane, {}).size();
        EXPECT_GE(usual, 3u);  // product, solves, factorisation
        for (const Variant& piece : pieces(Backend::cuda, setting))
            EXPECT_EQ(programs_of(context, setting, LayoutKind::hyperplane, piece).empty(), false) << piece.name;
    }
}

}  // namespace
}  // namespace hyperplane
