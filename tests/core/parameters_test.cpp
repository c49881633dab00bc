// SPDX-License-Identifier: BSD-3-Clause
#include "core/parameters/parameters.hpp"

#include <gtest/gtest.h>

#include "core/error.hpp"

namespace hyperplane {
namespace {

ParameterSpec spec(ParameterType type) {
    ParameterSpec result;
    result.section = "solver";
    result.key = "key";
    result.type = type;
    return result;
}

ParameterSpec ranged(ParameterType type, std::optional<Bound> minimum, std::optional<Bound> maximum) {
    ParameterSpec result = spec(type);
    result.minimum = minimum;
    result.maximum = maximum;
    return result;
}

bool accepts(const ParameterSpec& spec, const std::string& text) {
    return !check_value(spec, text);
}

TEST(CheckValue, Integers) {
    const ParameterSpec integer = spec(ParameterType::integer);
    for (const char* good : {"0", "7", "-3", "+4", "1e3", "1E3", "2.0", "9007199254740993", "-9223372036854775808",
                             "1e18", "9.223372036854775807e+18", "10e-1", "5.", ".5e1", "0e99", "-0.0"})
        EXPECT_TRUE(accepts(integer, good)) << good;
    for (const char* bad : {"",
                            "1.5",
                            "1e-1",
                            "nan",
                            "inf",
                            "-inf",
                            "infinity",
                            "abc",
                            "12abc",
                            "1 2",
                            "0x10",
                            "1e30",
                            "9223372036854775808",
                            "--1",
                            "+-1",
                            "+",
                            "-",
                            "1e",
                            "1e+",
                            "1e+-1",
                            "e5",
                            ".",
                            "1.0.0",
                            "1e-9999999999",
                            "1,2",
                            " 1"})
        EXPECT_FALSE(accepts(integer, bad)) << bad;
}

TEST(CheckValue, IntegersAreExact) {
    Parameters parameters({ranged(ParameterType::integer, std::nullopt, std::nullopt)});
    const std::vector<std::pair<std::string, Index>> values = {{"1e18", 1000000000000000000},
                                                               {"9.007199254740993e15", 9007199254740993},
                                                               {"-9.223372036854775808e18", -9223372036854775807 - 1},
                                                               {"+1234.5e1", 12345},
                                                               {"1200e-2", 12},
                                                               {"00.000", 0}};
    for (const auto& [text, value] : values) {
        parameters.set("solver", "key", text);
        EXPECT_EQ(parameters.integer("solver", "key"), value) << text;
    }
}

TEST(CheckValue, IntegersBeyond64BitsAreOutOfRange) {
    const ParameterSpec any = spec(ParameterType::integer), positive = ranged(ParameterType::integer, Bound{1}, {}),
                        few = ranged(ParameterType::integers, Bound{1}, Bound{100000});
    for (const auto& text :
         std::vector<std::string>{"1e30", "9223372036854775808", "99999999999999999999", "1e9999999999"}) {
        EXPECT_EQ(*check_value(any, text), text + " is out of range; expected integer <= 9.22337e+18");
        EXPECT_EQ(*check_value(positive, text), text + " is out of range; expected integer >= 1 and <= 9.22337e+18");
        EXPECT_EQ(*check_value(few, text), text + " is out of range; expected integers >= 1 and <= 100000");
    }
    EXPECT_EQ(*check_value(any, "-1e30"), "-1e30 is out of range; expected integer >= -9.22337e+18");
    EXPECT_EQ(*check_value(positive, "-1e30"), "-1e30 is out of range; expected integer >= 1");
    EXPECT_EQ(*check_value(any, "1.5e0"), "expected an integer, got '1.5e0'");
}

TEST(CheckValue, Reals) {
    const ParameterSpec real = spec(ParameterType::real);
    for (const char* good : {"0", "1.5", "-1e-8", "+2.5e3", ".5", "5.", "1e308"})
        EXPECT_TRUE(accepts(real, good)) << good;
    for (const char* bad :
         {"", "nan", "NaN", "inf", "-inf", "Infinity", "1e309", "-1e309", "1.5x", "1,5", "e5", "+-1", "1..2", "0x1p3"})
        EXPECT_FALSE(accepts(real, bad)) << bad;
}

TEST(CheckValue, Ranges) {
    const ParameterSpec count = ranged(ParameterType::integer, Bound{0}, Bound{3});
    EXPECT_TRUE(accepts(count, "0"));
    EXPECT_TRUE(accepts(count, "3"));
    EXPECT_FALSE(accepts(count, "-1"));
    EXPECT_FALSE(accepts(count, "4"));
    EXPECT_FALSE(accepts(count, "1e9"));
    const ParameterSpec open = ranged(ParameterType::real, Bound{0, true}, Bound{1, true});
    EXPECT_FALSE(accepts(open, "0"));
    EXPECT_FALSE(accepts(open, "-0.0"));
    EXPECT_TRUE(accepts(open, "1e-300"));
    EXPECT_FALSE(accepts(open, "1"));
    const std::string message = *check_value(count, "-1");
    EXPECT_NE(message.find("-1"), std::string::npos) << message;
    EXPECT_NE(message.find(">= 0"), std::string::npos) << message;
    EXPECT_NE(message.find("<= 3"), std::string::npos) << message;
}

TEST(CheckValue, BooleansAndChoices) {
    const ParameterSpec boolean = spec(ParameterType::boolean);
    for (const char* good : {"true", "false", "yes", "no", "on", "off"}) EXPECT_TRUE(accepts(boolean, good)) << good;
    for (const char* bad : {"", "maybe", "2", "tru"}) EXPECT_FALSE(accepts(boolean, bad)) << bad;
    ParameterSpec choice = spec(ParameterType::choice);
    choice.choices = {"fail", "shift", "boost"};
    EXPECT_TRUE(accepts(choice, "shift"));
    EXPECT_FALSE(accepts(choice, "shif"));
    EXPECT_FALSE(accepts(choice, ""));
    const std::string message = *check_value(choice, "shif");
    for (const char* word : {"shif", "fail", "shift", "boost"}) EXPECT_NE(message.find(word), std::string::npos);
}

TEST(CheckValue, Lists) {
    ParameterSpec cells = ranged(ParameterType::integers, Bound{1}, std::nullopt);
    cells.count = 3;
    for (const char* good : {"64 64 64", "64,64,64", "64, 64, 64", "1e2 2 3"})
        EXPECT_TRUE(accepts(cells, good)) << good;
    for (const char* bad : {"", "64 64", "64 64 64 64", "64 0 64", "64 1.5 64", "64 -1 64", "a b c"})
        EXPECT_FALSE(accepts(cells, bad)) << bad;
    const ParameterSpec any = spec(ParameterType::reals);
    for (const char* gap : {"1,,2", "1, ,2", ",,1", "1,2,,", ",1,2", " , 1"})
        EXPECT_EQ(check_value(any, gap), std::string("a value is missing before a comma, got '") + gap + "'");
    for (const char* none : {"1,2", "1 , 2", "1,2,", "1  2"}) EXPECT_EQ(check_value(any, none), std::nullopt) << none;
    EXPECT_TRUE(accepts(any, "1.5"));
    EXPECT_TRUE(accepts(any, "1.5 2.5e-3 -7"));
    EXPECT_FALSE(accepts(any, "1.5 nan"));
    EXPECT_FALSE(accepts(any, " "));
}

ParameterTable table() {
    ParameterSpec rtol = ranged(ParameterType::real, Bound{0, true}, std::nullopt);
    rtol.key = "rtol";
    rtol.default_value = "1e-8";
    ParameterSpec limit = ranged(ParameterType::integer, Bound{0}, std::nullopt);
    limit.key = "max_iterations";
    limit.default_value = "2000";
    ParameterSpec cells = spec(ParameterType::integers);
    cells.section = "grid";
    cells.key = "cells";
    ParameterSpec fields = spec(ParameterType::boolean);
    fields.key = "fields";
    fields.default_value = "true";
    ParameterSpec peclet = spec(ParameterType::reals);
    peclet.key = "winds";
    return {rtol, limit, cells, fields, peclet};
}

TEST(ParametersTest, DefaultsAndProvenance) {
    Parameters parameters(table());
    EXPECT_EQ(parameters.real("solver", "rtol"), 1e-8);
    EXPECT_EQ(parameters.integer("solver", "max_iterations"), 2000);
    EXPECT_TRUE(parameters.boolean("solver", "fields"));
    EXPECT_TRUE(parameters.is_set("solver", "rtol"));
    EXPECT_FALSE(parameters.is_given("solver", "rtol"));
    EXPECT_FALSE(parameters.is_set("grid", "cells"));
    EXPECT_TRUE(parameters.has("grid", "cells"));
    EXPECT_FALSE(parameters.has("grid", "rtol"));

    parameters.set("solver", "max_iterations", "1e3", {Provenance::Source::deck, "deck.ini", 9});
    EXPECT_EQ(parameters.integer("solver", "max_iterations"), 1000);
    EXPECT_TRUE(parameters.is_given("solver", "max_iterations"));
    EXPECT_EQ(parameters.where("solver", "max_iterations"), "deck.ini:9: solver.max_iterations");
    parameters.set("solver", "max_iterations", "12", {Provenance::Source::command_line, "", 0});
    EXPECT_EQ(parameters.integer("solver", "max_iterations"), 12);
    EXPECT_EQ(parameters.value("solver", "max_iterations").provenance.text(), "--set");
}

TEST(ParametersTest, ListsInTheirOrder) {
    Parameters parameters(table());
    parameters.set("grid", "cells", "17, 9 5");
    parameters.set("solver", "winds", "0.5 -1e3");
    EXPECT_EQ(parameters.integers("grid", "cells"), (std::vector<Index>{17, 9, 5}));
    EXPECT_EQ(parameters.reals("solver", "winds"), (std::vector<double>{0.5, -1e3}));
    const auto all = parameters.all();
    ASSERT_EQ(all.size(), 5u);
    EXPECT_EQ(all[0].spec.key, "rtol");
    EXPECT_EQ(all[4].spec.key, "winds");
}

TEST(ParametersTest, ABadValueSaysWhereAndChangesNothing) {
    Parameters parameters(table());
    try {
        parameters.set("solver", "rtol", "nan", {Provenance::Source::deck, "deck.ini", 9});
        FAIL();
    } catch (const UsageError& error) {
        EXPECT_EQ(std::string(error.what()).find("deck.ini:9: solver.rtol: "), 0u) << error.what();
    }
    EXPECT_EQ(parameters.real("solver", "rtol"), 1e-8);
    EXPECT_FALSE(parameters.is_given("solver", "rtol"));
    EXPECT_THROW(parameters.set("solver", "rtoll", "1", {}), UsageError);
    EXPECT_THROW(parameters.set("solver", "max_iterations", "-1", {}), UsageError);
}

TEST(ParametersTest, ReadingWhatIsUnsetIsTheUsersErrorWhatIsUnknownOurs) {
    ParameterTable with_unset = table();
    with_unset[0].default_value = "";
    const Parameters parameters(with_unset);
    EXPECT_THROW(parameters.real("solver", "rtol"), UsageError);
    try {
        parameters.real("solver", "unknown");
        FAIL();
    } catch (const Error& error) {
        EXPECT_EQ(error.code(), ExitCode::internal);
    }
}

TEST(ParametersTest, AKeyThatIsLeftOutIsAsIfItWereNotGiven) {
    Parameters parameters(table());
    EXPECT_FALSE(parameters.leave_out("solver", "rtol"));
    EXPECT_FALSE(parameters.leave_out("solver", "unknown"));
    parameters.set("solver", "rtol", "0.5", {Provenance::Source::deck, "deck.ini", 9});
    const RefusedKey refused(parameters, "solver", "rtol", ": is for others", {"atol"});
    EXPECT_STREQ(refused.what(), "deck.ini:9: solver.rtol: is for others");
    EXPECT_EQ(refused.keys, (std::vector<std::string>{"rtol", "atol"}));
    EXPECT_TRUE(parameters.leave_out(refused.section, refused.keys[0]));
    EXPECT_FALSE(parameters.is_given("solver", "rtol"));
    EXPECT_EQ(parameters.text("solver", "rtol"), Parameters(table()).text("solver", "rtol"));
}

}  // namespace
}  // namespace hyperplane
