// SPDX-License-Identifier: BSD-3-Clause
// What a deck may look like, and what plain Boost.Program_options gets wrong.
#include "io/deck.hpp"

#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "core/error.hpp"

namespace hyperplane {
namespace {

std::vector<std::string> lines_of(const std::vector<DeckLine>& errors) {
    std::vector<std::string> lines;
    for (const DeckLine& error : errors) lines.push_back(std::to_string(error.line) + ": " + error.text);
    return lines;
}

using Lines = std::vector<std::string>;

std::string only_value(const std::string& line) {
    const Deck deck = parse_deck("[output]\n" + line + "\n", "deck.ini");
    EXPECT_EQ(lines_of(deck.errors), Lines{});
    return deck.entries.size() == 1 ? deck.entries[0].value : "(no value)";
}

std::string only_error(const std::string& source) {
    const Deck deck = parse_deck(source, "deck.ini");
    EXPECT_EQ(deck.errors.size(), 1u);
    return deck.errors.empty() ? "" : lines_of(deck.errors)[0];
}

TEST(DeckSyntax, ReadsSectionsKeysAndLineNumbers) {
    const Deck deck =
        parse_deck("; a case\n[problem]\nname = poisson\n\n[ solver ] # the method\n  rtol=1e-8\n", "deck.ini");
    EXPECT_EQ(lines_of(deck.errors), Lines{});
    EXPECT_EQ(lines_of(deck.sections), (Lines{"2: problem", "5: solver"}));
    ASSERT_EQ(deck.entries.size(), 2u);
    EXPECT_EQ(deck.entries[0].name(), "problem.name");
    EXPECT_EQ(deck.entries[0].value, "poisson");
    EXPECT_EQ(deck.entries[0].line, 3);
    EXPECT_EQ(deck.entries[1].name(), "solver.rtol");
    EXPECT_EQ(deck.entries[1].value, "1e-8");
    EXPECT_EQ(deck.entries[1].line, 6);
}

TEST(DeckSyntax, CommentsBeginAtTheStartOrAfterWhiteSpace) {
    EXPECT_EQ(only_value("file = run#1.h5"), "run#1.h5");
    EXPECT_EQ(only_value("file = a;b"), "a;b");
    EXPECT_EQ(only_value("file = run.h5 ; the record"), "run.h5");
    EXPECT_EQ(only_value("file = run.h5\t# the record"), "run.h5");
    EXPECT_EQ(only_value("# file = no\n ; nor this\nfile = yes"), "yes");
}

TEST(DeckSyntax, QuotesAreTakenOff) {
    EXPECT_EQ(only_value("file = \"run.h5\""), "run.h5");
    EXPECT_EQ(only_value("file = \"a ; b # c\" ; comment"), "a ; b # c");
    EXPECT_EQ(only_value("file = \" spaces \""), " spaces ");
    EXPECT_EQ(only_value("file = \"say \"\"hello\"\"\""), "say \"hello\"");
    EXPECT_EQ(only_value("file = \"\""), "");
    EXPECT_EQ(only_value("file = it's \"so\""), "it's \"so\"");
}

TEST(DeckSyntax, WrongQuotesAreToldWithTheirKey) {
    EXPECT_EQ(only_error("[output]\nfile = \"run.h5\n"), "2: output.file: the value's closing quote is missing");
    EXPECT_EQ(only_error("[output]\nfile = \"a\" b\n"),
              "2: output.file: 'b' follows the closing quote; a quote inside quotes is written twice");
}

/// The values that a line of [sweep] lists, those in quotes as <value>.
std::string listed_in(const std::string& line) {
    const Deck deck = parse_deck("[sweep]\n" + line + "\n", "deck.ini");
    if (deck.errors.size() == 1) return lines_of(deck.errors)[0];
    if (deck.entries.size() != 1) return "no entry";
    std::string text;
    for (const auto& [value, quoted] : deck.entries[0].listed) text += quoted ? "<" + value + ">" : "(" + value + ")";
    return text;
}

TEST(DeckSyntax, CommasSeparateTheValuesThatAStudyVaries) {
    EXPECT_EQ(listed_in("grid.cells = 16 16 8 ,32"), "(16 16 8)(32)");
    EXPECT_EQ(listed_in("problem.file = \"ok.mtx\", \"a.mtx\""), "<ok.mtx><a.mtx>");
    EXPECT_EQ(listed_in("problem.file = \"a,b.mtx\""), "<a,b.mtx>");
    EXPECT_EQ(listed_in("problem.file = ok.mtx, \"a, ; b.mtx\" ; a comment, too"), "(ok.mtx)<a, ; b.mtx>");
    EXPECT_EQ(listed_in("problem.file = \"say \"\"a,b\"\"\" , it's \"so\",a;b ,\"\""),
              "<say \"a,b\">(it's \"so\")(a;b)<>");
    EXPECT_EQ(listed_in("grid.cells = 8, 9 # 10, 11"), "(8)(9)");
    EXPECT_EQ(only_value("file = a, b"), "a, b");
}

TEST(DeckSyntax, WrongListsAreToldWithTheirKey) {
    const std::string missing = "2: sweep.grid.cells: the value is missing (\"\" is an empty one)";
    EXPECT_EQ(listed_in("grid.cells ="), missing);
    EXPECT_EQ(listed_in("grid.cells = ; 8, 9"), missing);
    for (const char* line : {"grid.cells = 8,,9", "grid.cells = 8,", "grid.cells = , 8", "grid.cells = 8, ; 9"})
        EXPECT_EQ(listed_in(line), "2: sweep.grid.cells: a value is missing between commas (\"\" is an empty one)")
            << line;
    EXPECT_EQ(listed_in("problem.file = a, \"b"), "2: sweep.problem.file: the value's closing quote is missing");
    EXPECT_EQ(listed_in("problem.file = \"a\" b, c"),
              "2: sweep.problem.file: 'b, c' follows the closing quote; a quote inside quotes is written twice, and "
              "commas separate values");
}

TEST(DeckSyntax, ByteOrderMarkWindowsLineEndsAndNoFinalNewline) {
    const Deck deck = parse_deck("\xef\xbb\xbf[solver]\r\nrtol = 1e-8\r\natol = 0", "deck.ini");
    EXPECT_EQ(lines_of(deck.errors), Lines{});
    ASSERT_EQ(deck.entries.size(), 2u);
    EXPECT_EQ(deck.entries[0].value, "1e-8");
    EXPECT_EQ(deck.entries[1].value, "0");
}

TEST(DeckSyntax, Utf8IsKept) {
    EXPECT_EQ(only_value("file = Übung_日本.h5"), "Übung_日本.h5");
}

TEST(DeckSyntax, EveryWrongLineIsReported) {
    const Deck deck = parse_deck(
        "rtol = 1\n[Solver]\nrtol = 1\n[solver\n[solver] rtol = 2\n[solver]\nrtol 3\nRTol = 4\nrtol =\nrtol = ; none\n"
        "= 5\nrtol = 6\nrtol = 7\n",
        "deck.ini");
    EXPECT_EQ(
        lines_of(deck.errors),
        (Lines{"1: key rtol stands outside a section; put a line [section] above it",
               "2: [Solver] is not the name of a section; names are lower-case words",
               "4: the ']' of section [solver is missing",
               "5: 'rtol = 2' follows [solver]; a key stands on its own line",
               "7: 'rtol 3' has no '='; expected key = value", "8: 'RTol' is not a key; keys are lower-case words",
               "9: solver.rtol: the value is missing (\"\" is an empty one)",
               "10: solver.rtol: the value is missing (\"\" is an empty one)",
               "11: '' is not a key; keys are lower-case words", "13: solver.rtol is given twice, first in line 12"}));
}

TEST(DeckSyntax, DuplicatesAreFoundAcrossRepeatedSections) {
    EXPECT_EQ(only_error("[solver]\nrtol = 1\n[output]\n[solver]\nrtol = 2\n"),
              "5: solver.rtol is given twice, first in line 2");
}

TEST(DeckSyntax, BytesThatAreNoTextAreToldWithTheirPlace) {
    EXPECT_EQ(only_error(std::string("[solver]\nrtol = 1\0\n", 18)),
              "2: byte 0x00 in column 9 is a control character; a deck is UTF-8 text");
    EXPECT_EQ(only_error("[solver]\nrtol = \x1b[31m1\n"),
              "2: byte 0x1b in column 8 is a control character; a deck is UTF-8 text");
    EXPECT_EQ(only_error("[solver] ; \xff\n"), "1: byte 0xff in column 12 is not UTF-8; a deck is UTF-8 text");
    EXPECT_EQ(only_error("; \xc0\xaf\n"), "1: byte 0xc0 in column 3 is not UTF-8; a deck is UTF-8 text");
    EXPECT_EQ(only_error("; \xed\xa0\x80\n"), "1: byte 0xed in column 3 is not UTF-8; a deck is UTF-8 text");
    EXPECT_EQ(only_error("; \xe2\x82"), "1: byte 0xe2 in column 3 is not UTF-8; a deck is UTF-8 text");
    EXPECT_EQ(only_error("; \xc2\x85\n"), "1: byte 0xc2 in column 3 is a control character; a deck is UTF-8 text");
    EXPECT_EQ(only_error(std::string("\xff\xfe[\0s\0", 6)), "1: the file is UTF-16; save it as UTF-8");
}

TEST(DeckSyntax, LongLinesAndValuesAreRefused) {
    EXPECT_EQ(only_error("; " + std::string(20000, 'x') + "\n"),
              "1: the line is 20002 bytes long; at most 16384 are allowed");
    EXPECT_EQ(only_error("[output]\nfile = " + std::string(5000, 'x') + "\n"),
              "2: output.file: the value is 5000 bytes long; at most 4096 are allowed");
    EXPECT_THROW(parse_override("output.file=" + std::string(5000, 'x')), UsageError);
}

TEST(DeckFile, MissingFilesFoldersAndTooLargeOnesAreRefused) {
    EXPECT_THROW(
        {
            try {
                read_deck("no_such_deck.ini");
            } catch (const FileError& error) {
                EXPECT_STREQ(error.what(), "no_such_deck.ini: cannot read the deck: No such file or directory");
                throw;
            }
        },
        FileError);
    EXPECT_THROW(read_deck("."), FileError);
    const std::string path = testing::TempDir() + "large_deck.ini";
    std::ofstream(path) << std::string((1 << 20) + 1, '\n');
    EXPECT_THROW(read_deck(path), FileError);
    std::filesystem::resize_file(path, 1 << 20);
    EXPECT_EQ(read_deck(path).entries.size(), 0u);
    std::filesystem::remove(path);
}

TEST(DeckFile, KeepsNameAndSource) {
    const std::string path = testing::TempDir() + "small_deck.ini", source = "[solver]\nrtol = 1e-3\n";
    std::ofstream(path) << source;
    const Deck deck = read_deck(path);
    EXPECT_EQ(deck.file, path);
    EXPECT_EQ(deck.source, source);
    EXPECT_EQ(deck.entries.size(), 1u);
    std::filesystem::remove(path);
}

TEST(Override, SplitsAtTheFirstDotAndEquals) {
    const DeckEntry entry = parse_override(" output.file = a=b.h5 ");
    EXPECT_EQ(entry.section, "output");
    EXPECT_EQ(entry.key, "file");
    EXPECT_EQ(entry.value, "a=b.h5");
    EXPECT_EQ(entry.line, 0);
    EXPECT_EQ(parse_override("sweep.solver.rtol=1 2").key, "solver.rtol");
    EXPECT_EQ(parse_override("output.file=").value, "");
    EXPECT_EQ(parse_override("output.file=a ; b").value, "a ; b");
    EXPECT_EQ(parse_override("output.file=\"run.h5\"").value, "run.h5");
}

TEST(Override, WhatSetsNoKeyIsRefused) {
    const auto message = [](const std::string& text) -> std::string {
        try {
            parse_override(text);
        } catch (const UsageError& error) {
            return error.what();
        }
        return "accepted";
    };
    EXPECT_EQ(message("solver.rtol"), "--set 'solver.rtol': expected section.key=value");
    EXPECT_EQ(message("rtol=1"), "--set 'rtol=1': expected section.key=value");
    EXPECT_EQ(message("=1"), "--set '=1': expected section.key=value");
    EXPECT_EQ(message(""), "--set '': expected section.key=value");
    EXPECT_EQ(message("Solver.rtol=1"),
              "--set 'Solver.rtol=1': expected section.key=value, section and key in lower case");
    EXPECT_EQ(message("solver.rtol=1\n2"),
              "--set solver.rtol: byte 0x0a in column 2 is a control character; a deck is UTF-8 text");
    EXPECT_EQ(message("output.file=\"a"), "--set output.file: the value's closing quote is missing");
}

TEST(Nearest, FindsEditsSwapsAndBeginnings) {
    const Lines known{"rtol", "atol", "max_iterations", "restart"};
    EXPECT_EQ(nearest("rtoll", known), "rtol");
    EXPECT_EQ(nearest("rotl", known), "rtol");
    EXPECT_EQ(nearest("maxiterations", known), "max_iterations");
    EXPECT_EQ(nearest("max", known), "max_iterations");
    EXPECT_EQ(nearest("pivot_policy", known), "");
    EXPECT_EQ(nearest("", known), "");
    EXPECT_EQ(nearest(std::string(100000, 'r'), known), "");
}

}  // namespace
}  // namespace hyperplane
