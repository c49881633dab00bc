// SPDX-License-Identifier: BSD-3-Clause
#include "apps/base/quoting.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cctype>
#include <cstring>

#include "core/error.hpp"

namespace hyperplane {
namespace {

bool is_control(char c) {
    return (c >= 0 && c < ' ') || c == 0x7f;
}

bool has_control(const std::string& text) {
    return std::any_of(text.begin(), text.end(), is_control);
}

/// Whether a word means itself without quotes, in bash and for sbatch.
bool is_plain(const std::string& word) {
    return !word.empty() && std::all_of(word.begin(), word.end(), [](char c) {
        return std::isalnum(static_cast<unsigned char>(c)) || std::strchr("_-+.,:/=@%", c);
    });
}

}  // namespace

std::string shell_word(const std::string& word) {
    if (!has_control(word)) {
        std::string text = "'";
        for (char c : word) text += c == '\'' ? std::string("'\\''") : std::string(1, c);
        return text + "'";
    }
    // Control characters are written as escapes in $'...', which bash reads, because sbatch refuses scripts with
    // "\r\n".
    std::string text = "$'";
    for (char c : word) {
        if (is_control(c))
            text += fmt::format("\\{:03o}", static_cast<unsigned char>(c));
        else if (c == '\'' || c == '\\')
            text += std::string("\\") + c;
        else
            text += c;
    }
    return text + "'";
}

std::string sbatch_word(const std::string& word, const std::string& what) {
    if (word.find_first_of("\n\r") != word.npos)
        throw UsageError(
            fmt::format("{}: '{}' has a line break, and sbatch reads its options line by line", what, one_line(word)));
    if (is_plain(word)) return word;
    std::string text = "\"";
    for (char c : word) text += c == '"' || c == '\\' ? std::string("\\") + c : std::string(1, c);
    return text + '"';
}

std::string one_line(const std::string& text) {
    std::string line = text;
    std::replace_if(line.begin(), line.end(), is_control, '?');
    return line;
}

std::string as_argument(const std::string& path) {
    return !path.empty() && path[0] == '-' ? "./" + path : path;
}

std::string shown_argument(const std::string& path) {
    const std::string word = as_argument(path);
    return is_plain(word) ? word : shell_word(word);
}

}  // namespace hyperplane
