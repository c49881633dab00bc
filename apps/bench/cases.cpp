// SPDX-License-Identifier: BSD-3-Clause
#include "apps/bench/cases.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cctype>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <utility>

#include "apps/base/invocation.hpp"
#include "core/error.hpp"
#include "problems/domain.hpp"

namespace hyperplane {
namespace {

/// Grid sides by stencil, for 1, 2, 4, 6 and 8 unknowns.
using GridSides = std::vector<std::pair<std::string, std::vector<int>>>;
/// The columns of the paper's Table 3.
const GridSides rtx3090{{"star7", {512, 336, 208, 160, 128}},
                        {"star13", {432, 272, 160, 128, 96}},
                        {"diamond13", {432, 272, 160, 128, 96}},
                        {"diamond25", {336, 208, 128, 96, 80}},
                        {"box27", {336, 208, 128, 96, 80}}};
const GridSides a100{{"star7", {560, 416, 256, 192, 160}},
                     {"star13", {544, 336, 208, 160, 128}},
                     {"diamond13", {544, 336, 208, 160, 128}},
                     {"diamond25", {416, 256, 160, 128, 104}},
                     {"box27", {416, 256, 160, 128, 104}}};

/// The cases of a column of Table 3; `dof` 0: all.
std::vector<BenchCase> table3(const GridSides& sides, int divisor, int dof) {
    const std::vector<int> dofs{1, 2, 4, 6, 8};
    std::vector<BenchCase> cases;
    for (std::size_t at = 0; at < dofs.size(); ++at)
        for (const auto& [stencil, n] : sides)
            if (dof == 0 || dof == dofs[at])
                cases.push_back({Stencil::by_name(stencil), dofs[at], n[at] / divisor, false});
    return cases;
}

/// A name that stands for several cases.
struct CaseList {
    const char* name;
    std::vector<BenchCase> (*cases)();
    const char* option = "";  ///< what may follow the name
};

const CaseList case_lists[] = {
    {"table2", [] { return parse_bench_cases("star13:1:8, diamond13:1:8, diamond25:1:8, box27:1:8"); }},
    {"table3", [] { return table3(rtx3090, 1, 0); }, "[:DOF]"},
    {"table3-a100", [] { return table3(a100, 1, 0); }},
    {"table3-small", [] { return table3(rtx3090, 5, 0); }},
    {"figure8", [] { return parse_bench_cases("star13:2:336, diamond25:8:104, box27:8:104"); }},
    {"figure9",
     [] {
         return parse_bench_cases(
             "star13:2:32, star13:2:64, star13:2:128, star13:2:192, star13:2:256, star13:2:320, diamond13:2:32, "
             "diamond13:2:64, diamond13:2:128, diamond13:2:192, diamond13:2:256, diamond13:2:320");
     }},
    {"fgbilu-tables", [] { return parse_bench_cases("star7:6:65"); }},
    {"fgbilu-figure9",
     [] { return parse_bench_cases("star7:6:15, star7:6:25, star7:6:35, star7:6:45, star7:6:55, star7:6:65"); }},
    {"levels", [] { return parse_bench_cases("star7:1:64, star7:1:128, star7:1:256"); }},
    {"middle",
     [] {
         return parse_bench_cases(
             "star7:1:128, star7:1:256, star7:1:400, star13:1:256, diamond13:1:256, diamond25:1:208, box27:1:208");
     }},
    {"ablation",
     [] {
         return parse_bench_cases(
             "star7:1:512, star7:1:512:sym, diamond13:1:432, box27:1:336, star7:4:208, box27:4:128, star7:8:128");
     }},
};

/// The cases of a named list; none if there is no such list.
std::vector<BenchCase> named_cases(const std::string& word) {
    const std::string name = word == "quick" ? "table3-small" : word;
    for (const CaseList& list : case_lists)
        if (list.name == name) return list.cases();
    if (word.rfind("table3:", 0) != 0) return {};
    const auto cases = table3(rtx3090, 1, parse_integer(fmt::format("--cases: '{}'", word), word.substr(7), 1));
    if (cases.empty()) throw UsageError(fmt::format("--cases: '{}': Table 3 has 1, 2, 4, 6 and 8 unknowns", word));
    return cases;
}

BenchCase parse_case(const std::string& text) {
    std::vector<std::string> words;
    std::istringstream stream(text);
    for (std::string word; std::getline(stream, word, ':');) words.push_back(word);
    if (words.size() < 3 || words.size() > 4 || (words.size() == 4 && words[3] != "sym"))
        throw UsageError(
            fmt::format("--cases: '{}' is neither STENCIL:DOF:N or STENCIL:DOF:N:sym, nor a list ({}), nor a file",
                        text, names_of_case_lists()));
    const std::string where = fmt::format("--cases: '{}'", text);
    return {Stencil::by_name(words[0]), parse_integer(where + ": DOF", words[1], 1, max_dof),
            parse_integer(where + ": N", words[2], 1, most_points_a_side), words.size() == 4};
}

/// The lines of a file without comments, joined by commas.
std::string read_cases(const std::string& path) {
    std::ifstream file(path);
    std::string text;
    for (std::string line; std::getline(file, line);) text += line.substr(0, line.find('#')) + ",";
    if (!file.eof()) throw FileError(fmt::format("{}: cannot be read", path));
    return text;
}

}  // namespace

std::string BenchCase::name() const {
    return fmt::format("{}:{}:{}{}", stencil.name(), dof, n, symmetric ? ":sym" : "");
}

std::vector<BenchCase> parse_bench_cases(const std::string& text) {
    std::vector<BenchCase> cases;
    std::istringstream stream(std::filesystem::is_regular_file(text) ? read_cases(text) : text);
    for (std::string word; std::getline(stream, word, ',');) {
        word.erase(std::remove_if(word.begin(), word.end(), [](unsigned char c) { return std::isspace(c); }),
                   word.end());
        if (word.empty()) continue;
        const auto named = named_cases(word);
        cases.insert(cases.end(), named.begin(), named.end());
        if (named.empty()) cases.push_back(parse_case(word));
    }
    if (cases.empty())
        throw UsageError(
            fmt::format("--cases: no case is named; write STENCIL:DOF:N or a list ({})", names_of_case_lists()));
    return cases;
}

std::string names_of_case_lists() {
    std::vector<std::string> names;
    for (const CaseList& list : case_lists) names.push_back(std::string(list.name) + list.option);
    return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace hyperplane
