// SPDX-License-Identifier: BSD-3-Clause
#include "apps/deck/named_deck.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <map>
#include <sstream>
#include <string_view>

#include "apps/base/log.hpp"
#include "apps/base/signals.hpp"
#include "apps/deck/schema.hpp"
#include "core/error.hpp"
#include "io/record.hpp"
#include "io/rival_names.hpp"

namespace hyperplane {
namespace {

/// Turns the lines `key = value  ; default` in records of version 0.1 into lines `key ?= value`.
std::string with_defaults_marked(const std::string& resolved) {
    constexpr std::string_view mark = "  ; default";
    std::string text;
    std::istringstream lines(resolved);
    for (std::string line; std::getline(lines, line); text += line + '\n')
        if (const std::size_t equals = line.find(" = "); equals != line.npos && line.ends_with(mark))
            line.replace(equals, 3, " ?= ");
    return text;
}

/// Whether a file begins as files of results do, behind a seal (io/sealed_file.hpp) or as HDF5; a deck never does.
bool holds_results(const std::string& path) {
    std::error_code none;
    if (!std::filesystem::is_regular_file(path, none)) return false;  // a FIFO can be read once
    std::array<char, 11> bytes{};
    std::ifstream(path, std::ios::binary).read(bytes.data(), bytes.size());
    const std::string_view head(bytes.data(), bytes.size());
    return head == "hyperplane " || head.substr(0, 4) == "\x89HDF";
}

}  // namespace

std::vector<std::string> keys_meant(const std::string& word) {
    std::vector<std::string> meant;
    const auto look_at = [&](const ParameterSpec& spec) {
        if (spec.key == word || (spec.section == word && spec.key == "name"))
            if (std::find(meant.begin(), meant.end(), spec.name()) == meant.end()) meant.push_back(spec.name());
    };
    const DeckSchema schema = deck_schema();
    for (const ParameterSpec& spec : schema.common) look_at(spec);
    for (const auto& component : schema.components)
        for (const ParameterSpec& spec : component.parameters) look_at(spec);
    if (const std::string rival = rival_name(word); meant.empty() && !rival.empty()) meant = {rival};
    return meant;
}

void check_section(const std::string& text) {
    const std::string word = text.substr(0, text.find('=')), rest = text.substr(word.size());
    if (word.empty() || word.find('.') != word.npos) return;
    std::vector<std::string> meant = keys_meant(word);
    if (meant.empty()) return;
    for (std::string& name : meant) name += rest.empty() ? "=VALUE" : rest;
    throw UsageError(
        fmt::format("--set '{}': expected section.key=value; did you mean {}?", text, fmt::join(meant, " or ")));
}

std::vector<std::string> deck_overrides(const Invocation& invocation) {
    std::vector<std::string> overrides = invocation.values("set");
    std::map<std::string, std::string> set;
    for (const std::string& text : overrides) {
        const DeckEntry entry = parse_override(text);
        set[entry.name()] = entry.value;  // the last one counts
    }
    for (const char* option : {"threads", "ranks", "backend"}) {
        if (!invocation.has(option)) continue;
        const std::string key = fmt::format("device.{}", option);
        std::string value = invocation.value(option);
        if (option != std::string_view("backend")) value = fmt::format("{}", parse_count(option, value, 1));
        if (const auto other = set.find(key); other != set.end() && !other->second.empty() && other->second != value)
            throw UsageError(
                fmt::format("--{0} {1} and --set {2}={3} contradict each other, since --{0} is short for --set {2}; "
                            "give one of them",
                            option, value, key, other->second));
        overrides.push_back(fmt::format("{}={}", key, value));
    }
    return overrides;
}

void leave_out_keys_of_runs(Deck& deck, const std::vector<std::string>& overrides, const std::string& verb,
                            bool takes_ranks) {
    const auto of_runs = [takes_ranks](const DeckEntry& entry) {
        return entry.section == "output" || entry.section == "expect" ||
               (!takes_ranks && entry.name() == "device.ranks");
    };
    for (const std::string& text : overrides)
        if (const DeckEntry entry = parse_override(text); of_runs(entry))
            throw UsageError(
                fmt::format("--set {}: {} applies to hyperplane run, and {} would ignore it; leave it out", text,
                            entry.section == "device" ? entry.name() : fmt::format("[{}]", entry.section), verb));
    std::vector<std::string> given;
    for (const DeckEntry& entry : deck.entries)
        if (of_runs(entry) && !entry.is_default) given.push_back(entry.name());
    if (!given.empty())
        logging::info("{}: {} {} to hyperplane run; {} leaves {} out", deck.file, fmt::join(given, ", "),
                      given.size() == 1 ? "applies" : "apply", verb, given.size() == 1 ? "it" : "them");
    std::erase_if(deck.entries, of_runs);
}

std::string folder_of(const Deck& deck) {
    return deck.folder.empty() ? std::filesystem::path(deck.file).parent_path().string() : deck.folder;
}

std::string absolute_folder_of(const Deck& deck) {
    const std::string folder = folder_of(deck);  // of a.ini alone: none, which std::filesystem::absolute refuses
    return (folder.empty() ? std::filesystem::current_path() : std::filesystem::absolute(folder)).string();
}

Deck read_deck_or_stop(const std::string& path) {
    return read_deck(path, [&] {
        if (const int signal = stop_signal())
            throw Error(ExitCode::checkpointed,
                        fmt::format("{}: {} came while the deck was waited for; nothing has begun, and the same "
                                    "command begins it",
                                    path, signal_name(signal)));
    });
}

Deck read_deck_or_record(const std::string& path) {
    if (!holds_results(path)) return read_deck_or_stop(path);
    const RecordData record = read_record(path);
    Deck deck = parse_deck(with_defaults_marked(record.deck_resolved), path);
    std::erase_if(deck.entries, [](const DeckEntry& entry) { return entry.name() == "output.file"; });
    deck.folder = record.deck_folder.empty() ? std::filesystem::path(record.deck_file).parent_path().string()
                                             : record.deck_folder;
    deck.of_record = true;
    return deck;
}

}  // namespace hyperplane
