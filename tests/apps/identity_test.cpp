// SPDX-License-Identifier: BSD-3-Clause
// Which defaults resolved decks have, and that decks of earlier programs with other defaults ask for the same.
#include "apps/deck/identity.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <string>
#include <utility>
#include <vector>

#include "apps/deck/schema.hpp"

namespace hyperplane {
namespace {

Parameters resolved_deck(const std::string& text) {
    return resolve(parse_deck(text, "test.ini"), {}, deck_schema());
}

/// The same of the text that a record holds.
Parameters resolved_again(const std::string& text) {
    Deck deck = parse_deck(text, "test.h5");
    deck.of_record = true;
    return resolve(deck, {}, deck_schema());
}

TEST(DeckIdentity, DefaultLengthsFollowTheProblem) {
    const std::pair<const char*, const char*> cases[] = {
        {"[problem]\nname = poisson\n", "\nlengths ?= 1  ; default\n"},
        {"[problem]\nname = poisson\ncase ?= vortex\n", "\nlengths ?= 1  ; default\n"},  // which is euler's
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
        EXPECT_NE(to_ini(resolved_again(ini)).find(line), std::string::npos);
        ini.replace(ini.find("lengths ?= 1"), 12, "lengths = 3");  // which somebody gave
        EXPECT_EQ(deck_differences(parameters, ini, {}).size(), 1u);
    }
}

TEST(DeckIdentity, GivenLengthsAreComparedWithTheBoxOfTheRecord) {
    const auto with_lengths = [](const std::string& problem, const std::string& lengths) {
        return resolved_deck(fmt::format("{}[grid]\nlengths = {}\n", problem, lengths));
    };
    for (const char* problem : {"[problem]\nname = euler\ncase = vortex\n", "[problem]\nname = ch\n"}) {
        std::string earlier = to_ini(resolved_deck(problem));
        const bool vortex = earlier.find("\nlengths ?= 10  ; default\n") != earlier.npos;
        const std::string line = vortex ? "\nlengths ?= 10  ; default\n" : "\n; lengths is not set\n";
        for (bool as_earlier : {false, true}) {
            const std::size_t at = earlier.find(line);
            ASSERT_NE(at, earlier.npos) << earlier;
            if (as_earlier) earlier.replace(at, line.size(), "\nlengths ?= 1  ; default\n");
            EXPECT_EQ(deck_differences(with_lengths(problem, "1"), earlier, {}),
                      std::vector<std::string>{vortex ? "grid.lengths is 1, was 10" : "grid.lengths is 1, was unset"});
            EXPECT_EQ(deck_differences(with_lengths(problem, "10"), earlier, {}).empty(), vortex);
        }
    }
    const std::string cube = to_ini(resolved_deck("[problem]\nname = poisson\n"));
    EXPECT_TRUE(deck_differences(with_lengths("[problem]\nname = poisson\n", "1"), cube, {}).empty());
    EXPECT_FALSE(deck_differences(with_lengths("[problem]\nname = poisson\n", "2"), cube, {}).empty());
}

/// The same keys as earlier programs hashed them, with lengths of 1 where a deck does not give them.
Parameters of_earlier_program(const Parameters& parameters) {
    ParameterTable table;
    for (const auto& [spec, text, provenance] : parameters.all()) {
        table.push_back(spec);
        if (spec.name() == "grid.lengths") table.back().default_value = "1";
    }
    Parameters earlier(table);
    for (const auto& [spec, text, provenance] : parameters.all())
        if (parameters.is_given(spec.section, spec.key)) earlier.set(spec.section, spec.key, text, provenance);
    if (!parameters.is_given("grid", "lengths"))
        earlier.set("grid", "lengths", "1", {.source = Provenance::Source::deck, .file = "test.ini", .line = 1});
    return earlier;
}

TEST(DeckIdentity, HashesAreThoseOfEarlierPrograms) {
    for (const char* problem :
         {"[problem]\nname = poisson\n", "[problem]\nname = euler\ncase = vortex\n",
          "[problem]\nname = euler\ncase = taylor_green\n", "[problem]\nname = ch\n", "[problem]\nname = ns\n"}) {
        const Parameters by_default = resolved_deck(problem);
        const Parameters given = resolved_deck(fmt::format("{}[grid]\nlengths = 3\n", problem));
        const Parameters cube = resolved_deck(fmt::format("{}[grid]\nlengths = 1\n", problem));
        EXPECT_EQ(deck_hash(by_default, {}), deck_hash(of_earlier_program(by_default), {})) << problem;
        EXPECT_EQ(deck_hash(given, {}), deck_hash(of_earlier_program(given), {})) << problem;
        EXPECT_NE(deck_hash(given, {}), deck_hash(by_default, {})) << problem;
        const bool is_cube = by_default.text("grid", "lengths") == "1";
        EXPECT_EQ(deck_hash(cube, {}) == deck_hash(by_default, {}), is_cube) << problem;
    }
}

}  // namespace
}  // namespace hyperplane
