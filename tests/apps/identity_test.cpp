// SPDX-License-Identifier: BSD-3-Clause
// Which defaults resolved decks have, and that decks of earlier programs with other defaults ask for the same.
#include "apps/deck/identity.hpp"

#include <gtest/gtest.h>

#include "apps/deck/schema.hpp"

namespace hyperplane {
namespace {

Parameters resolved_deck(const std::string& text) {
    return resolve(parse_deck(text, "test.ini"), {}, deck_schema());
}

TEST(DeckIdentity, DefaultLengthsFollowTheProblem) {
    const std::pair<const char*, const char*> cases[] = {
        {"[problem]\nname = poisson\n", "\nlengths ?= 1  ; default\n"},
        {"[problem]\nname = euler\n", "\nlengths ?= 1  ; default\n"},
        {"[problem]\nname = euler\ncase = vortex\n", "\nlengths ?= 10  ; default\n"},
        {"[problem]\nname = ch\n", "\n; lengths is not set\n"}};
    for (const auto& [text, line] : cases) {
        const Parameters parameters = resolved_deck(text);
        std::string ini = to_ini(parameters);
        const std::size_t at = ini.find(line);
        ASSERT_NE(at, ini.npos) << ini;
        EXPECT_FALSE(parameters.is_given("grid", "lengths"));
        EXPECT_TRUE(deck_differences(parameters, ini, {}).empty());
        ini.replace(at, std::string(line).size(), "\nlengths ?= 1  ; default\n");  // as earlier programs have it
        EXPECT_TRUE(deck_differences(parameters, ini, {}).empty());
        EXPECT_NE(to_ini(resolved_deck(ini)).find(line), std::string::npos);
        ini.replace(ini.find("lengths ?= 1"), 12, "lengths = 3");  // which somebody gave
        EXPECT_EQ(deck_differences(parameters, ini, {}).size(), 1u);
    }
}

}  // namespace
}  // namespace hyperplane
