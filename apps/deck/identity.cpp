// SPDX-License-Identifier: BSD-3-Clause
#include "apps/deck/identity.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/crc.hpp>
#include <map>

#include "io/deck.hpp"
#include "solvers/march_parameters.hpp"

namespace hyperplane {
namespace {

bool holds(const Sections& sections, const std::string& section) {
    return std::find(sections.begin(), sections.end(), section) != sections.end();
}

/// The key whose default earlier programs had wrong: to them grid.lengths was 1 where it is not given, whatever box a
/// problem has. Their records say so, and their hashes were made of it; both stay good.
constexpr const char* box_key = "grid.lengths";

/// The text of a value as it is hashed. Where the default is another box, the unit cube that a deck gives is told apart
/// from the 1 for a default.
std::string hashed_text(const Parameters& parameters, const Parameters::Value& value) {
    const ParameterSpec& spec = value.spec;
    if (spec.name() != box_key) return value.text;
    if (!parameters.is_given(spec.section, spec.key)) return "1";
    return value.text == "1" && spec.default_value != "1" ? "1 1 1" : value.text;
}

}  // namespace

std::vector<DeckDifference> changed_keys(const Parameters& parameters, const std::string& resolved,
                                         const Sections& ignored) {
    struct Before {
        std::string section, key, value;
        bool is_default;
    };
    std::map<std::string, Before> before;
    for (const DeckEntry& entry : parse_deck(resolved, "resolved deck").entries) {
        // The problem's own box counts, as for a key that the record does not have.
        const bool default_box = entry.is_default && entry.name() == box_key;
        if (default_box || holds(ignored, entry.section)) continue;
        // The problem decided on such a default, and a deck that is only resolved has no problem.
        const bool decided = entry.is_default && has_regime_default(entry.name()) &&
                             parameters.has(entry.section, entry.key) && !parameters.is_given(entry.section, entry.key);
        before[entry.name()] = {entry.section, entry.key,
                                decided ? parameters.text(entry.section, entry.key) : entry.value, entry.is_default};
    }

    std::vector<DeckDifference> differences;
    for (const auto& [spec, text, provenance] : parameters.all()) {
        if (holds(ignored, spec.section)) continue;
        const auto at = before.find(spec.name());
        const std::string known = at == before.end() ? spec.default_value : at->second.value;
        if (text != known)
            differences.push_back({.section = spec.section,
                                   .key = spec.key,
                                   .text = fmt::format("{} is {}, was {}", spec.name(), text.empty() ? "unset" : text,
                                                       known.empty() ? "unset" : known),
                                   .both_set = !text.empty() && !known.empty()});
        if (at != before.end()) before.erase(at);
    }
    for (const auto& [name, was] : before)
        differences.push_back({.section = was.section,
                               .key = was.key,
                               .text = fmt::format("{} was {}, is not a key any more", name, was.value),
                               .both_set = false,
                               .vanished = was.is_default});
    return differences;
}

std::vector<std::string> deck_differences(const Parameters& parameters, const std::string& resolved,
                                          const Sections& ignored) {
    std::vector<std::string> texts;
    for (DeckDifference& difference : changed_keys(parameters, resolved, ignored))
        texts.push_back(std::move(difference.text));
    return texts;
}

std::string deck_hash(const Parameters& parameters, const Sections& ignored) {
    std::vector<std::string> keys;
    for (const Parameters::Value& value : parameters.all()) {
        const std::string text = hashed_text(parameters, value);
        if (!text.empty() && !holds(ignored, value.spec.section))
            keys.push_back(fmt::format("{}={}\n", value.spec.name(), text));
    }
    std::sort(keys.begin(), keys.end());
    boost::crc_32_type crc;
    for (const std::string& key : keys) crc.process_bytes(key.data(), key.size());
    return fmt::format("{:08x}", crc.checksum());
}

}  // namespace hyperplane
