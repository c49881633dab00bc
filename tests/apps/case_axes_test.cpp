// SPDX-License-Identifier: BSD-3-Clause
#include "apps/study/case_axes.hpp"

#include <gtest/gtest.h>

#include "apps/study/expression.hpp"
#include "core/error.hpp"

namespace hyperplane {
namespace {

const std::map<std::string, std::string> values = {
    {"grid.cells", "64"}, {"preconditioner.name", "struct_ilu"}, {"solver.rtol", "1e-8"}, {"output.fields", "true"}};

std::string complaint(const std::string& condition) {
    try {
        holds(condition, values);
    } catch (const UsageError& error) {
        return error.what();
    }
    return "none";
}

TEST(Condition, ComparesNumbersAndWords) {
    for (const char* text : {"grid.cells == 64", "grid.cells != 65", "grid.cells < 64.5", "grid.cells <= 64",
                             "grid.cells > 6.3e+1", "grid.cells >= 64", "preconditioner.name == struct_ilu",
                             "preconditioner.name != 'a b'", "output.fields", "solver.rtol == 0.00000001"})
        EXPECT_TRUE(holds(text, values)) << text;
    for (const char* text : {"grid.cells == 65", "grid.cells < 64", "grid.cells > 64", "not output.fields",
                             "preconditioner.name == jacobi"})
        EXPECT_FALSE(holds(text, values)) << text;
}

TEST(Condition, OrBindsWeakestThenAndThenNot) {
    EXPECT_TRUE(holds("true or false and false", values));
    EXPECT_FALSE(holds("(true or false) and false", values));
    EXPECT_TRUE(holds("not false and true", values));
    EXPECT_FALSE(holds("not (false or true)", values));
    EXPECT_TRUE(holds("not 1 > 2", values));
}

TEST(Condition, CalculatesWithKeysAndNumbers) {
    EXPECT_TRUE(holds("grid.cells / 4 - 2 * 3 == 10", values));
    EXPECT_TRUE(holds("2 - 3 - 4 == -5", values));
    EXPECT_TRUE(holds("grid.cells % 10 == 4 and -(1 + 1) == -2", values));
    EXPECT_TRUE(holds("grid.cells*grid.cells*grid.cells > 2e5", values));
}

TEST(Condition, OfOneCombinationHoldsForItAlone) {
    const std::map<std::string, std::string> one = {{"grid.cells", "8 8 4"},
                                                    {"problem.file", "a,b.mtx"},
                                                    {"problem.rhs", ""},
                                                    {"solver.name", "cg"},
                                                    {"solver.rtol", "1e-08"}};
    const std::string condition = condition_of(one);
    EXPECT_EQ(condition,
              "grid.cells == '8 8 4' and problem.file == 'a,b.mtx' and problem.rhs == '' and solver.name == cg and "
              "solver.rtol == 1e-08");
    EXPECT_TRUE(holds(condition, one));
    for (const auto& [name, value] : one) {
        auto other = one;
        other[name] = name == "solver.rtol" ? "1e-07" : "other";
        EXPECT_FALSE(holds(condition, other)) << name;
    }
}

TEST(Condition, MistakesAreExplainedWithTheirColumn) {
    EXPECT_NE(complaint("grid.cells = 64").find("write =="), std::string::npos);
    EXPECT_NE(complaint("grid.cell == 64").find("did you mean grid.cells?"), std::string::npos);
    EXPECT_NE(complaint("solver.name == cg").find("solver.name is no key that [sweep] varies"), std::string::npos);
    EXPECT_NE(complaint("name == jacobi").find("write preconditioner.name, with its section"), std::string::npos);
    EXPECT_NE(complaint("grid.cells").find("neither true nor false"), std::string::npos);
    EXPECT_NE(complaint("grid.cells == jacobi").find("compares the number 64 with the text 'jacobi'"),
              std::string::npos);
    EXPECT_NE(complaint("preconditioner.name > 1").find("compares"), std::string::npos);
    EXPECT_NE(complaint("preconditioner.name > a").find("is no number"), std::string::npos);
    EXPECT_NE(complaint("1 < 2 < 3").find("two comparisons in a row"), std::string::npos);
    EXPECT_NE(complaint("(1 < 2").find("the ) is missing"), std::string::npos);
    EXPECT_NE(complaint("1 < ").find("ends where a value is expected"), std::string::npos);
    EXPECT_NE(complaint("1 < 'a").find("the closing ' is missing"), std::string::npos);
    EXPECT_NE(complaint("1 < 2 3 < 4").find("column 7"), std::string::npos);
    EXPECT_NE(complaint("1 / 0 < 2").find("divides by zero"), std::string::npos);
    EXPECT_NE(complaint("true or grid.cells == x").find("compares"), std::string::npos);  // both sides are looked at
    EXPECT_NE(complaint("").find("ends where"), std::string::npos);
    EXPECT_NE(complaint("and").find("expected a value, got 'and'"), std::string::npos);
    EXPECT_NE(complaint("1 & 2").find("'&' is not expected"), std::string::npos);
}

CaseAxes case_axes_of(const std::string& lines) {
    return read_case_axes(parse_deck("[sweep]\n" + lines, "s.ini"));
}

std::vector<std::string> values_of(const std::string& text) {
    return case_axes_of("grid.cells = " + text).axes.at(0).values;
}

std::string refusal(const std::string& lines) {
    try {
        combinations(case_axes_of(lines), "s.ini");
    } catch (const UsageError& error) {
        return error.what();
    }
    return "none";
}

using Texts = std::vector<std::string>;

TEST(SweepValues, ListsAndRanges) {
    EXPECT_EQ(values_of("1, 2 ,3"), (Texts{"1", "2", "3"}));
    EXPECT_EQ(values_of("16 16 8, 32"), (Texts{"16 16 8", "32"}));
    EXPECT_EQ(values_of("0..3"), (Texts{"0", "1", "2", "3"}));
    EXPECT_EQ(values_of("8, 0..2, 9"), (Texts{"8", "0", "1", "2", "9"}));
    EXPECT_EQ(values_of("0..0.5 step 0.1"), (Texts{"0", "0.1", "0.2", "0.3", "0.4", "0.5"}));
    EXPECT_EQ(values_of("3..1 step -1"), (Texts{"3", "2", "1"}));
    EXPECT_EQ(values_of("1e-8..1e-2 factor 100"), (Texts{"1e-08", "1e-06", "0.0001", "0.01"}));
    EXPECT_EQ(values_of("16..100 factor 2"), (Texts{"16", "32", "64"}));
    EXPECT_EQ(values_of("5..5"), (Texts{"5"}));
    EXPECT_EQ(values_of("../a.mtx, b..c"), (Texts{"../a.mtx", "b..c"}));
}

TEST(SweepValues, OneInQuotesIsNeitherListNorRange) {
    EXPECT_EQ(values_of("a.mtx, \"a,b.mtx\", \"1..2\", 1..2"), (Texts{"a.mtx", "a,b.mtx", "1..2", "1", "2"}));
    EXPECT_EQ(values_of("\"\""), (Texts{""}));
    EXPECT_NE(refusal("grid.cells = \"4\", 4").find("4 is given twice"), std::string::npos);
}

TEST(SweepValues, WhatCannotBeIsExplained) {
    EXPECT_NE(refusal("grid.cells = 1,,2").find("s.ini:2: sweep.grid.cells: a value is missing between commas"),
              std::string::npos);
    EXPECT_EQ(refusal("grid.cells ="), "s.ini:2: sweep.grid.cells: the value is missing (\"\" is an empty one)");
    EXPECT_EQ(
        refusal("cells\ncombine = zap\n[grid]\ncells\n"),
        "s.ini:2: 'cells' has no '='; expected key = value\ns.ini:3: sweep.combine: 'zap' is none of product | zip");
    EXPECT_NE(refusal("grid.cells = 3..1").find("step 1 does not lead from 3 to 1"), std::string::npos);
    EXPECT_NE(refusal("grid.cells = 1..9 factor 1").find("does not lead"), std::string::npos);
    EXPECT_NE(refusal("grid.cells = 0..9 factor 2").find("must have the same sign"), std::string::npos);
    EXPECT_NE(refusal("grid.cells = 1..x").find("is no range"), std::string::npos);
    EXPECT_NE(refusal("grid.cells = 1..9 step").find("a number follows step"), std::string::npos);
    EXPECT_NE(refusal("grid.cells = 4, 4").find("4 is given twice"), std::string::npos);
    EXPECT_NE(refusal("grid.cells = 1..1e9").find("more than 100000 values"), std::string::npos);
    EXPECT_NE(refusal("cells = 4").find("written section.key"), std::string::npos);
    EXPECT_NE(refusal("skipp = 4").find("did you mean skip?"), std::string::npos);
    EXPECT_NE(refusal("combine = zap").find("none of product | zip"), std::string::npos);
    EXPECT_NE(refusal("output.file = a, b").find("the same for all cases"), std::string::npos);
    EXPECT_NE(refusal("").find("varies nothing"), std::string::npos);
    EXPECT_NE(refusal("grid.cells = 1..1000\nsolver.rtol = 1..1000").find("more than 100000 cases"), std::string::npos);
}

TEST(SweepCombinations, ProductRunsThroughTheLastKeyFastest) {
    const auto found = combinations(case_axes_of("grid.cells = 1, 2\nsolver.rtol = 3..5"), "s.ini");
    ASSERT_EQ(found.size(), 6u);
    EXPECT_EQ(found[1].at("grid.cells"), "1");
    EXPECT_EQ(found[1].at("solver.rtol"), "4");
    EXPECT_EQ(found[3].at("grid.cells"), "2");
}

TEST(SweepCombinations, ZipTakesValuesTogether) {
    const auto found = combinations(case_axes_of("combine = zip\ngrid.cells = 1, 2\nsolver.rtol = 3, 4"), "s.ini");
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[1].at("grid.cells"), "2");
    EXPECT_EQ(found[1].at("solver.rtol"), "4");
    EXPECT_NE(refusal("combine = zip\ngrid.cells = 1, 2\nsolver.rtol = 3").find("grid.cells has 2, solver.rtol has 1"),
              std::string::npos);
}

TEST(SweepCombinations, SkipLeavesOut) {
    const auto found =
        combinations(case_axes_of("grid.cells = 1..4\nskip = grid.cells == 2 or grid.cells > 3"), "s.ini");
    ASSERT_EQ(found.size(), 2u);
    EXPECT_EQ(found[1].at("grid.cells"), "3");
    EXPECT_NE(refusal("grid.cells = 1\nskip = grid.cells > 0")
                  .find("s.ini:3: sweep.skip: 'grid.cells > 0' holds for all of the 1 combinations"),
              std::string::npos);
    EXPECT_NE(refusal("grid.cells = 1\nskip = grid.cells >").find("s.ini:3: sweep.skip: column 13"), std::string::npos);
}

}  // namespace
}  // namespace hyperplane
