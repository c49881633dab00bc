// SPDX-License-Identifier: BSD-3-Clause
// The variants of struct_ilu's kernels that bench times, and what NVRTC would compile for them.
#include "apps/bench/variants.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "apps/bench/preconditioners.hpp"
#include "apps/compare/candidates.hpp"
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

/// An elimination by levels uses sweeps whose kernels NVRTC compiles, too.
TEST(BenchVariants, ByLevelHaveTheKernelsOfTheirElimination) {
    if constexpr (!cuda_built) GTEST_SKIP() << "built without CUDA";
    const Context context = Context::cpu(1);
    Variant by_level;
    by_level.choice.by_level = true;
    const auto of_a_product = [](const rtc::Program& program) { return program.source.main.starts_with("core/"); };
    for (const BenchCase& setting : {star7, box27}) {
        const rtc::Programs programs = programs_of(context, setting, LayoutKind::hyperplane, by_level);
        EXPECT_FALSE(std::ranges::all_of(programs, of_a_product)) << setting.dof;
    }
}

/// Of all preconditioners, some of which take general matrices alone, or cannot be set up for a case.
TEST(BenchPreconditioners, HaveTheirKernelsCollectedForEveryCase) {
    if constexpr (!cuda_built) GTEST_SKIP() << "built without CUDA";
    const Deck deck = parse_deck("[problem]\nname = poisson\n[grid]\ncells = 8\n[solver]\nname = fgmres\n", "bench");
    const std::vector<Candidate> all = read_candidates(deck, {}, {"fgmres", "", true}).list;
    const Context context = Context::cpu(1);
    for (const BenchCase& setting : {star7, box27}) {
        const auto collected = [&](const std::vector<Candidate>& list) {
            return programs_of_cases(context, {setting}, [&](int) { return list; }).size();
        };
        std::size_t one_by_one = 0;
        for (const Candidate& one : all) one_by_one += collected({one});
        EXPECT_GT(one_by_one, 10u);
        EXPECT_EQ(collected(all), one_by_one);
    }
}

}  // namespace
}  // namespace hyperplane
