// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/program_options.hpp>
#include <climits>
#include <map>
#include <set>

#include "core/error.hpp"
#include "io/deck.hpp"
#include "io/rival_names.hpp"

namespace hyperplane {
namespace {

namespace po = boost::program_options;
using Component = DeckSchema::Component;

constexpr std::size_t max_errors_shown = 50;
constexpr int after_deck = INT_MAX;  // the line number of errors that belong to no line

std::string suggestion(const std::string& near) {
    return near.empty() ? "" : "; did you mean " + near + "?";
}

/// The key of a table, which has it.
const ParameterSpec& find_key(const ParameterTable& table, const std::string& name) {
    return *std::find_if(table.begin(), table.end(), [&](const ParameterSpec& spec) { return spec.name() == name; });
}

/// A parameter for Boost: text that check_value accepts. It is composing, so that every later value is checked and
/// replaces the one before; by itself Boost would keep the first.
class CheckedText : public po::value_semantic {
public:
    explicit CheckedText(ParameterSpec spec) : spec_(std::move(spec)) {}

    std::string name() const override { return to_string(spec_.type); }
    unsigned min_tokens() const override { return 1; }
    unsigned max_tokens() const override { return 1; }
    bool is_composing() const override { return true; }
    bool is_required() const override { return spec_.required; }
    bool apply_default(boost::any& value) const override {
        value = spec_.default_value;
        return !spec_.default_value.empty();
    }
    void notify(const boost::any&) const override {}
    void parse(boost::any& value, const std::vector<std::string>& tokens, bool) const override {
        if (const auto error = check_value(spec_, tokens.front())) {
            const std::string rival = rival_value(tokens.front(), spec_.choices);
            throw po::error(*error + suggestion(rival.empty() ? nearest(tokens.front(), spec_.choices) : rival));
        }
        value = tokens.front();
    }

private:
    ParameterSpec spec_;
};

class Resolver {
public:
    Resolver(const Deck& deck, const std::vector<DeckEntry>& overrides, const DeckSchema& schema)
        : deck_(deck), entries_(deck.entries), schema_(schema) {
        for (const DeckEntry& override : overrides) {
            if (leaves_out(override))
                std::erase_if(entries_, [&](const DeckEntry& entry) { return entry.name() == override.name(); });
            entries_.push_back(override);
        }
        for (const DeckLine& error : deck.errors) report(error.line, error.text);
        for (const ParameterSpec& spec : schema.common) sections_.insert(spec.section);
        for (const Component& component : schema.components) sections_.insert(component.section);
    }

    Parameters resolve() {
        check_sections();
        choose_components();
        make_options();
        for (const DeckEntry& entry : entries_) store(entry);
        check_required();
        throw_errors();
        Parameters parameters(applicable_);
        for (const auto& [name, value] : values_)
            if (!value.defaulted()) {
                const DeckEntry& entry = *last_.at(name);
                parameters.set(entry.section, entry.key, value.as<std::string>(), origin(entry));
            }
        check_meaning(parameters);
        throw_errors();
        return parameters;
    }

private:
    void report(int line, const std::string& text) {
        errors_.push_back({line, fmt::format("{}:{}: {}", deck_.file, line, text)});
    }
    void report(const DeckEntry& entry, const std::string& text) {
        if (entry.line > 0) return report(entry.line, text);  // also of a default, `key ?= value`
        errors_.push_back({after_deck, origin(entry).text() + ": " + text});
    }
    Provenance origin(const DeckEntry& entry) const {
        if (entry.line == 0) return {Provenance::Source::command_line, entry.option, 0};
        if (entry.is_default) return {Provenance::Source::built_in, deck_.file, entry.line};
        return {Provenance::Source::deck, deck_.file, entry.line};
    }
    /// Whether an entry is an override without a value, `--set KEY=`, by which a key of the deck is left out.
    static bool leaves_out(const DeckEntry& entry) { return entry.line == 0 && entry.value.empty(); }
    bool knows_section(const std::string& name) const { return sections_.count(name) > 0; }

    std::string unknown_section(const std::string& name) const {
        const std::string near = nearest(name, {sections_.begin(), sections_.end()});
        return fmt::format("unknown section [{}]{} (hyperplane help)", name,
                           suggestion(near.empty() ? "" : "[" + near + "]"));
    }

    void check_sections() {
        const auto is_of_studies = [](const std::string& section) { return section == "sweep" || section == "slurm"; };
        const auto of_studies = [](const std::string& section) {
            return fmt::format(
                "section [{}] is for studies, and no key of it can be set for a single run (hyperplane "
                "help study)",
                section);
        };
        for (const DeckLine& section : deck_.sections)
            if (!knows_section(section.text))
                report(section.line,
                       is_of_studies(section.text) ? of_studies(section.text) : unknown_section(section.text));
        for (const DeckEntry& entry : entries_)
            if (entry.line == 0 && is_of_studies(entry.section)) {
                report(entry, entry.name() + ": " + of_studies(entry.section));
            } else if (entry.line == 0 && !knows_section(entry.section)) {
                const std::string rival = rival_name(entry.name());
                report(entry, rival.empty()
                                  ? unknown_section(entry.section)
                                  : fmt::format("unknown key {}{} (hyperplane help)", entry.name(), suggestion(rival)));
            }
    }

    /// The default of a key as the deck's own keys lead to it, without what overrides these.
    std::string own_default(const std::string& name) const {
        std::vector<DeckEntry> named = deck_.entries;
        for (DeckEntry& entry : named)
            if (const Component* component = entry.key == "name" ? schema_.find(entry.section, entry.value) : nullptr)
                entry.value = component->name;
        return find_key(schema_.common_beside(named), name).default_value;
    }

    /// Whether a line `key ?= value` is left out whatever it says. In somebody's deck it is refused unless it says what
    /// the default is; in records of earlier programs it may say something else.
    bool leaves_out_decided(const DeckEntry& entry) {
        const std::string name = entry.name();
        if (!schema_.decided_defaults.count(name) || check_value(find_key(schema_.common, name), entry.value))
            return false;
        if (const std::string is = own_default(name); !deck_.of_record && entry.value != is)
            report(entry,
                   fmt::format("{0} ?= {1} would be ignored, since this default follows other keys{3}; write {2} = "
                               "{1}, or leave the line out (hyperplane help {0})",
                               name, entry.value, entry.key, is.empty() ? "" : " and is " + is + " here"));
        return true;
    }

    /// Leaves out lines such as `name ?= struct_ilu` that a record has for a default which follows other keys: with
    /// other values of those it is another one.
    void leave_out_followed_defaults() {
        const auto is_one = [&](const DeckEntry& entry, const DeckSchema::OtherDefault& other) {
            return entry.name() == other.of &&
                   (entry.value == other.is || entry.value == find_key(schema_.common, other.of).default_value);
        };
        std::erase_if(entries_, [&](const DeckEntry& entry) {
            return entry.is_default &&
                   (leaves_out_decided(entry) ||
                    std::any_of(schema_.other_defaults.begin(), schema_.other_defaults.end(),
                                [&](const DeckSchema::OtherDefault& other) { return is_one(entry, other); }));
        });
    }

    /// Replaces aliases by names, finds the component of each section and collects the keys that apply. A section whose
    /// `name` is a key of a component applies with that component alone; components of such sections stand after it.
    void choose_components() {
        leave_out_followed_defaults();
        std::map<std::string, std::string> names, given;
        for (DeckEntry& entry : entries_)
            if (entry.key == "name" && has_components(entry.section) && !leaves_out(entry)) {
                check_component(entry);
                given[entry.section] = entry.value;
            }
        const auto take_names = [&](const ParameterTable& table) {
            for (const ParameterSpec& spec : table)
                if (spec.key == "name")
                    names[spec.section] = given.count(spec.section) ? given[spec.section] : spec.default_value;
        };
        applicable_ = schema_.common_beside(entries_);
        take_names(ParameterTable(applicable_));
        for (const Component& component : schema_.components) {
            if (!names.count(component.section) || !component.is_called(names[component.section])) continue;
            take_names(component.parameters);
            chosen_[component.section] = &component;
            for (const ParameterSpec& spec : component.parameters)
                if (!has_key(applicable_, spec.section, spec.key)) applicable_.push_back(spec);
        }
    }

    bool has_components(const std::string& section) const {
        return std::any_of(schema_.components.begin(), schema_.components.end(),
                           [&](const Component& component) { return component.section == section; });
    }

    void check_component(DeckEntry& entry) {
        std::vector<std::string> known;
        for (const Component& component : schema_.components) {
            if (component.section != entry.section) continue;
            if (component.is_called(entry.value)) {
                entry.value = component.name;
                return;
            }
            known.push_back(component.name);
            known.insert(known.end(), component.aliases.begin(), component.aliases.end());
        }
        unknown_component_.insert(entry.section);
        for (const DeckSchema::Refused& refused : schema_.refused)
            if (refused.section == entry.section && refused.name == entry.value) return report(entry, refused.message);
        const std::string where =
            is_nested(entry.section) ? "help " + entry.section : fmt::format("list {}s", entry.section);
        const std::string rival = rival_value(entry.value, known);
        report(entry, fmt::format("no {} is called '{}'{} (hyperplane {})", entry.section, entry.value,
                                  suggestion(rival.empty() ? nearest(entry.value, known) : rival), where));
    }

    void make_options() {
        for (const ParameterSpec& spec : applicable_)
            options_.add_options()(spec.name().c_str(), new CheckedText(spec));  // Boost owns it
    }

    void store(const DeckEntry& entry) {
        if (!knows_section(entry.section)) return;
        if (entry.key == "name" && unknown_component_.count(entry.section)) return;
        const bool known = has_key(applicable_, entry.section, entry.key);
        if (leaves_out(entry) && (known || !owners(entry).empty())) return;
        if (!known) {
            if (!entry.is_default || owners(entry).empty()) report_unknown(entry);
            return;
        }
        po::parsed_options parsed(&options_);
        parsed.options.emplace_back(entry.name(), std::vector{entry.value});
        last_[entry.name()] = &entry;
        try {
            po::store(parsed, values_);
        } catch (const po::error& error) {
            report(entry, fmt::format("{}: {} (hyperplane help {})", entry.name(), error.what(), entry.name()));
        }
    }

    /// Names of the components that have the key, each with its section unless that is the one before's.
    std::vector<std::string> owners(const DeckEntry& entry) const {
        std::vector<std::string> names;
        std::string section;
        for (const Component& component : schema_.components) {
            if (!has_key(component.parameters, entry.section, entry.key)) continue;
            names.push_back((component.section == section ? "" : component.section + " ") + component.name);
            section = component.section;
        }
        return names;
    }

    /// Whether a section belongs to a component.
    bool is_nested(const std::string& section) const { return !has_key(schema_.common, section, "name"); }

    /// Of a section that does not apply, the component with which it would; null if it applies.
    const Component* owner_of_section(const std::string& section) const {
        const auto is_name = [&](const ParameterSpec& spec) { return spec.section == section && spec.key == "name"; };
        if (std::any_of(applicable_.begin(), applicable_.end(), is_name)) return nullptr;
        for (const Component& component : schema_.components)
            if (std::any_of(component.parameters.begin(), component.parameters.end(), is_name)) return &component;
        return nullptr;
    }

    void report_unknown(const DeckEntry& entry) {
        const std::string name = entry.name();
        if (const Component* owner = owner_of_section(entry.section)) {
            const auto chosen = chosen_.find(owner->section);
            report(entry,
                   fmt::format("section [{}] belongs to {} {}, not to {} (hyperplane help {})", entry.section,
                               owner->section, owner->name,
                               chosen == chosen_.end() ? "what is named here" : chosen->second->name, owner->name));
            return;
        }
        if (const auto owner = owners(entry); !owner.empty()) {
            if (unknown_component_.count(entry.section)) return;  // the key may belong to the intended component
            const auto chosen = chosen_.find(entry.section);
            const std::string instead = chosen == chosen_.end() ? fmt::format("; {}.name is not set", entry.section)
                                                                : ", not to " + chosen->second->name;
            report(entry,
                   fmt::format("{} belongs to {}{}{} (hyperplane help {})", name, fmt::join(owner, ", "), instead,
                               entry.line > 0 ? fmt::format("; remove it, or leave it out by --set {}=", name) : "",
                               name));
            return;
        }
        report(entry, fmt::format("unknown key {}{} (hyperplane help {})", name, suggestion(nearest_key(entry)),
                                  entry.section));
    }

    /// The key that was probably meant: a similar one of this section, otherwise the same key of another section.
    std::string nearest_key(const DeckEntry& entry) const {
        std::vector<std::string> here;
        std::string elsewhere;
        for (const ParameterSpec& spec : applicable_) {
            if (spec.section == entry.section) here.push_back(spec.key);
            if (spec.key == entry.key && elsewhere.empty()) elsewhere = spec.name();
        }
        const std::string rival = rival_name(entry.name());
        if (const std::size_t dot = rival.find('.');
            !rival.empty() && has_key(applicable_, rival.substr(0, dot), rival.substr(dot + 1)))
            return rival;
        const std::string near = nearest(entry.key, here);
        return near.empty() ? elsewhere : entry.section + "." + near;
    }

    void check_required() {
        for (const ParameterSpec& spec : applicable_) {
            const auto given = last_.find(spec.name());
            const bool has_value = given != last_.end() && !given->second->value.empty();
            if (!spec.required || !spec.default_value.empty() || has_value) continue;
            if (spec.key == "name" && unknown_component_.count(spec.section)) continue;
            const auto chosen = chosen_.find(spec.section);
            const bool own = chosen != chosen_.end() && has_key(chosen->second->parameters, spec.section, spec.key);
            const std::string who = own ? fmt::format(", {} {} needs it", spec.section, chosen->second->name) : "";
            errors_.push_back({after_deck, fmt::format("{}: {} is missing{} (hyperplane help {})", deck_.file,
                                                       spec.name(), who, spec.name())});
        }
    }

    /// Refuses keys that have no meaning with the values of other keys.
    void check_meaning(const Parameters& parameters) {
        for (const auto& [name, entry] : last_)
            if (const Condition* unmet = parameters.unmet(entry->section, entry->key); unmet && !entry->is_default) {
                const std::string needed = entry->section + "." + unmet->key;
                report(*entry, fmt::format("{} means nothing with {} = {}; leave it out, or set {} = {} (hyperplane "
                                           "help {})",
                                           name, needed, parameters.text(entry->section, unmet->key), needed,
                                           unmet->value, name));
            }
    }

    void throw_errors() {
        if (errors_.empty()) return;
        std::stable_sort(errors_.begin(), errors_.end(),
                         [](const DeckLine& a, const DeckLine& b) { return a.line < b.line; });
        std::vector<std::string> lines;
        for (const DeckLine& error : errors_)
            if (lines.size() < max_errors_shown) lines.push_back(error.text);
        if (lines.size() < errors_.size())
            lines.push_back(fmt::format("and {} more errors", errors_.size() - lines.size()));
        throw UsageError(fmt::format("{}", fmt::join(lines, "\n")));
    }

    const Deck& deck_;
    std::vector<DeckEntry> entries_;
    const DeckSchema& schema_;
    std::set<std::string> sections_;
    std::set<std::string> unknown_component_;  ///< sections whose `name` is not that of a component
    std::map<std::string, const Component*> chosen_;
    ParameterTable applicable_;
    po::options_description options_;
    po::variables_map values_;
    std::map<std::string, const DeckEntry*> last_;  ///< by key, the entry that counts
    std::vector<DeckLine> errors_;
};

}  // namespace

bool DeckSchema::Component::is_called(const std::string& word) const {
    return name == word || std::find(aliases.begin(), aliases.end(), word) != aliases.end();
}

const DeckSchema::Component* DeckSchema::find(const std::string& section, const std::string& name) const {
    const auto found = std::find_if(components.begin(), components.end(), [&](const Component& component) {
        return component.section == section && component.is_called(name);
    });
    return found == components.end() ? nullptr : &*found;
}

ParameterTable DeckSchema::common_beside(const std::vector<DeckEntry>& entries) const {
    std::map<std::string, std::string> values;
    for (const DeckEntry& entry : entries) values[entry.name()] = entry.value;
    ParameterTable table = common;
    for (const OtherDefault& other : other_defaults) {
        const std::string& component = values[other.key.substr(0, other.key.find('.')) + ".name"];
        if (values[other.key] != other.value || (!other.component.empty() && component != other.component)) continue;
        for (ParameterSpec& spec : table)
            if (spec.name() == other.of) spec.default_value = other.is;
    }
    return table;
}

Parameters resolve(const Deck& deck, const std::vector<DeckEntry>& overrides, const DeckSchema& schema) {
    return Resolver(deck, overrides, schema).resolve();
}

}  // namespace hyperplane
