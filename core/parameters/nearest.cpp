// SPDX-License-Identifier: BSD-3-Clause
#include "core/parameters/nearest.hpp"

#include <algorithm>
#include <cctype>
#include <numeric>

namespace hyperplane {
namespace {

/// Damerau-Levenshtein distance: number of insertions, deletions, changes and exchanges of neighbouring letters.
int edit_distance(const std::string& a, const std::string& b) {
    std::vector<int> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
    std::iota(above.begin(), above.end(), 0);
    for (std::size_t i = 1; i <= a.size(); ++i) {
        row[0] = int(i);
        for (std::size_t j = 1; j <= b.size(); ++j) {
            row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] != b[j - 1])});
            if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1])
                row[j] = std::min(row[j], before[j - 2] + 1);
        }
        before.swap(above);
        above.swap(row);
    }
    return above.back();
}

std::string lower(std::string text) {
    for (char& letter : text) letter = char(std::tolower(static_cast<unsigned char>(letter)));
    return text;
}

}  // namespace

std::string nearest(const std::string& word, const std::vector<std::string>& known) {
    constexpr std::size_t longest = 64;
    if (word.size() > longest) return "";
    const std::string in_lower_case = lower(word);
    std::string best;
    int best_distance = 1 + std::max(1, int(word.size()) / 3);
    for (const std::string& candidate : known) {
        const int distance = edit_distance(in_lower_case, lower(candidate));
        if (distance < best_distance) {
            best = candidate;
            best_distance = distance;
        }
    }
    if (best.empty() && word.size() >= 3)
        for (const std::string& candidate : known)
            if (candidate.rfind(word, 0) == 0) return candidate;
    return best;
}

}  // namespace hyperplane
