// SPDX-License-Identifier: BSD-3-Clause
#include "apps/study/study.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <set>
#include <utility>

#include "apps/base/quoting.hpp"
#include "apps/deck/named_deck.hpp"
#include "apps/deck/schema.hpp"
#include "apps/study/slurm.hpp"
#include "core/error.hpp"

namespace hyperplane {
namespace {

constexpr std::size_t max_name = 120;  // bytes; file names can have 255

/// The key in names of cases, shortened if that is unambiguous.
std::string label_of(const CaseAxis& axis, const CaseAxes& varied) {
    if (axis.key == "name") return axis.section;
    const auto shared = std::count_if(varied.axes.begin(), varied.axes.end(),
                                      [&](const CaseAxis& other) { return other.key == axis.key; });
    return shared > 1 ? axis.name() : axis.key;
}

/// The value in names of cases, which are file names: 32 32 16 becomes 32x32x16, and a file's name its stem.
std::string label_of(const std::string& value) {
    std::string text = value.find('/') == value.npos ? value : std::filesystem::path(value).stem().string();
    for (char& c : text) {
        if (c == ' ' || c == '\t') c = 'x';
        const bool kept = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' ||
                          c == '.' || c == '+' || c == '-';
        if (!kept) c = '_';
    }
    return text;
}

std::string name_of(const StudyCase& a_case, const CaseAxes& varied) {
    std::string name;
    for (const CaseAxis& axis : varied.axes) {
        const auto at = a_case.values.find(axis.name());
        if (at == a_case.values.end()) continue;
        name += fmt::format("{}{}={}", name.empty() ? "" : ",", label_of(axis, varied), label_of(at->second));
    }
    return name.size() <= max_name ? name : name.substr(0, max_name) + "," + a_case.hash;
}

/// Decides which keys a case leaves out.
class Applicability {
public:
    Applicability(const CaseAxes& varied, const DeckSchema& schema) : schema_(schema) {
        for (const CaseAxis& axis : varied.axes)
            if (axis.key == "name") named_[axis.section] = axis.values;
    }

    /// Whether the key belongs only to other components of its section that the study names, and not to this one.
    bool left_out(const std::string& section, const std::string& key,
                  const std::map<std::string, std::string>& values) const {
        const auto names = named_.find(section);
        if (names == named_.end() || has_key(schema_.common, section, key)) return false;
        if (owns(section, values.at(section + ".name"), key)) return false;
        return std::any_of(names->second.begin(), names->second.end(),
                           [&](const std::string& name) { return owns(section, name, key); });
    }

private:
    bool owns(const std::string& section, const std::string& name, const std::string& key) const {
        const auto* component = schema_.find(section, name);
        return component && has_key(component->parameters, section, key);
    }

    const DeckSchema& schema_;
    std::map<std::string, std::vector<std::string>> named_;  ///< section -> names of components
};

/// Whether a line of [sweep] has a value in quotes.
bool is_quoted(const Deck& study, const CaseAxis& axis, const std::string& value) {
    return std::ranges::any_of(study.entries, [&](const DeckEntry& entry) {
        return entry.line == axis.line && std::ranges::any_of(entry.listed, [&](const ListedValue& one) {
                   return one.quoted && one.text == value;
               });
    });
}

/// The message about a case that is refused; where it names the line of values with blanks and without quotes, these
/// may have been meant as several values.
std::string with_hint_at_commas(const std::string& message, const CaseAxes& varied, const Deck& study,
                                const std::map<std::string, std::string>& values) {
    std::string text = message;
    for (const CaseAxis& axis : varied.axes) {
        const auto value = values.find(axis.name());
        if (value == values.end() || value->second.find_first_of(" \t") == std::string::npos) continue;
        const std::size_t line = text.find(fmt::format("{}:{}: ", study.file, axis.line));
        if (line == std::string::npos || is_quoted(study, axis, value->second)) continue;
        text.insert(std::min(text.find('\n', line), text.size()),
                    "; blanks belong to a value of [sweep]: write commas between values");
    }
    return text;
}

bool of_the_study(const std::string& section) {
    return section == "sweep" || section == "slurm";
}

/// The deck of one combination, with the lines of the study file that its keys come from.
Deck case_deck(const Deck& study, const CaseAxes& varied, const std::map<std::string, std::string>& all,
               const Applicability& applicability, StudyCase& a_case) {
    Deck deck{study.file, study.source, {}, {}, study.errors};
    deck.folder = study.folder;
    for (const DeckLine& section : study.sections)
        if (!of_the_study(section.text)) deck.sections.push_back(section);
    for (const DeckEntry& entry : study.entries)
        if (!of_the_study(entry.section) && all.count(entry.name()) == 0 &&
            !applicability.left_out(entry.section, entry.key, all))
            deck.entries.push_back(entry);
    for (const CaseAxis& axis : varied.axes) {
        if (applicability.left_out(axis.section, axis.key, all)) continue;
        const std::string& value = all.at(axis.name());
        deck.sections.push_back({axis.line, axis.section});
        deck.entries.push_back({axis.section, axis.key, value, axis.line});
        a_case.values[axis.name()] = value;
    }
    return deck;
}

Parameters slurm_keys(const Deck& study) {
    Deck deck{study.file, study.source, {}, {}, {}};
    for (const DeckEntry& entry : study.entries)
        if (entry.section == "slurm") deck.entries.push_back(entry);
    return resolve(deck, {}, {slurm_parameters(), {}});
}

/// Makes the names of different cases different.
void tell_apart(std::vector<StudyCase>& cases) {
    std::map<std::string, int> uses;
    for (const StudyCase& a_case : cases) ++uses[a_case.name];
    for (StudyCase& a_case : cases)
        if (uses[a_case.name] > 1)
            a_case.name += "," + (a_case.hash.empty() ? fmt::format("{}", a_case.number) : a_case.hash);
}

void check_output(const Deck& deck) {
    for (const DeckEntry& entry : deck.entries)
        if (entry.name() == "output.file")
            throw UsageError(
                fmt::format("{}:{}: output.file: a study names its records itself, in the folder "
                            "sweep.folder",
                            deck.file, entry.line));
}

/// Throws UsageError if a file has the name of the study's folder, such as a deck without an extension.
void check_folder(const Study& study) {
    std::error_code none;
    if (!std::filesystem::exists(study.folder, none) || std::filesystem::is_directory(study.folder, none)) return;
    const bool itself = std::filesystem::equivalent(study.folder, study.file, none);
    throw UsageError(
        fmt::format("{} names the folder of the records {}, which is {}; set sweep.folder to the name of a folder{}",
                    study.where_folder(), study.folder, itself ? "this deck itself" : "a file",
                    itself ? fmt::format(", or call the deck {}.ini", study.file) : ""));
}

}  // namespace

std::string StudyCase::beside(const std::string& extension) const {
    return record.substr(0, record.size() - std::string("h5").size()) + extension;
}

std::string Study::where_folder() const {
    return varied.folder.empty() ? fmt::format("{}:{}: sweep.folder, which is not set,", file, varied.line)
                                 : fmt::format("{}:{}: sweep.folder", file, varied.folder_line);
}

void Study::make_folder() const {
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (error)
        throw FileError(
            fmt::format("{}: the folder of the study's records cannot be made: {}; sweep.folder names another one",
                        folder, error.message()));
}

const StudyCase& Study::find(const std::string& word) const {
    for (const StudyCase& a_case : cases)
        if (word == a_case.hash || word == a_case.name || word == fmt::format("{}", a_case.number)) return a_case;
    std::vector<std::string> names;
    for (const StudyCase& a_case : cases) names.push_back(a_case.name);
    const std::string near = nearest(word, names);
    throw UsageError(
        fmt::format("{} has no case '{}'{}; hyperplane study plan {} lists its cases, which change when it is edited",
                    file, word, near.empty() ? "" : fmt::format("; did you mean {}?", near), shown_argument(file)));
}

Study read_study(const std::string& file) {
    const Deck deck = read_deck_or_stop(file);
    if (!is_study(deck))
        throw UsageError(fmt::format("{} has no section [sweep], so it is no study; hyperplane run {} runs it", file,
                                     shown_argument(file)));
    check_output(deck);
    Study study{file, std::filesystem::path(file).stem().string(), "", read_case_axes(deck), slurm_keys(deck), {}};
    study.folder = study.varied.folder.empty() ? study.name : study.varied.folder;
    check_folder(study);

    const DeckSchema schema = deck_schema();
    const Applicability applicability(study.varied, schema);
    std::set<std::string> known;
    for (const auto& values : combinations(study.varied, file)) {
        StudyCase a_case;
        a_case.number = int(study.cases.size());
        a_case.deck = case_deck(deck, study.varied, values, applicability, a_case);
        try {
            a_case.parameters = resolve(a_case.deck, {}, schema);
            a_case.hash = deck_hash(a_case.parameters, not_of_a_case);
        } catch (const UsageError& error) {
            a_case.error = with_hint_at_commas(error.what(), study.varied, deck, a_case.values);
        }
        if (a_case.error.empty() && !known.insert(a_case.hash).second) continue;
        a_case.name = name_of(a_case, study.varied);
        study.cases.push_back(std::move(a_case));
    }
    tell_apart(study.cases);
    for (StudyCase& a_case : study.cases) {
        a_case.record = study.folder + "/" + a_case.name + ".h5";
        a_case.deck.entries.push_back({"output", "file", a_case.record, study.varied.line});
    }
    return study;
}

}  // namespace hyperplane
