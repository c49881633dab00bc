// SPDX-License-Identifier: BSD-3-Clause
#include "apps/compare/candidates.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "apps/deck/schema.hpp"
#include "core/error.hpp"
#include "io/rival_names.hpp"
#include "precond/registry.hpp"
#include "problems/registry.hpp"

namespace hyperplane {
namespace {

using Component = DeckSchema::Component;

/// --auto tries these preconditioners of a general matrix where nothing else converges, the cheapest first: more fill
/// with a shift for pivots that fail, in the given order and in that of rcm, and much larger factors by threshold. With
/// rows matched, pivots are large where the given diagonal has zeros; only a matrix from a file has such candidates.
constexpr const char* last_preconditioners[] = {
    "sync_free_ilu:fill_level=2:pivot_policy=shift",
    "sync_free_ilu:fill_level=2:pivot_policy=shift:ordering.name=rcm",
    "sync_free_ilu:fill_level=2:ordering.rows=matching",
    "sync_free_ilu:fill_level=2:ordering.rows=matching:ordering.name=rcm",
    "par_ilut:fill_limit=5:pivot_policy=boost",
    "par_ilut:fill_limit=5:pivot_policy=boost:ordering.rows=matching",
};
/// The solvers for them where none are listed: restarts are a frequent reason why nothing converges.
constexpr const char* last_solvers = "cg,bicgstab,gmres:restart=200";

std::vector<std::string> split(const std::string& text, char at) {
    std::vector<std::string> parts;
    std::istringstream stream(text);
    for (std::string part; std::getline(stream, part, at);) parts.emplace_back(trim(part));
    return parts;
}

class Reader {
public:
    Reader(const Deck& deck, const std::vector<std::string>& overrides) : deck_(deck), schema_(deck_schema()) {
        for (const std::string& text : overrides) overrides_.push_back(parse_override(text));
        applied_.resize(overrides_.size());
        std::vector<DeckEntry> entries = deck_.entries;
        entries.insert(entries.end(), overrides_.begin(), overrides_.end());
        schema_.common = schema_.common_beside(entries);
    }

    Candidates read(const CandidateLists& lists) {
        Candidates found;
        Choice solver{value_of("solver", "name"), "", {}}, preconditioner{value_of("preconditioner", "name"), "", {}};
        found.deck = resolve(deck_, applicable(overrides_, solver, preconditioner), schema_);
        for (Choice* own : {&solver, &preconditioner})
            own->name = own->text = found.deck.text(own == &solver ? "solver" : "preconditioner", "name");
        const auto solvers = choices("solver", lists.solvers, lists.all, solver);
        const auto preconditioners =
            choices("preconditioner", lists.preconditioners, lists.all, preconditioner, lists.variants);
        report();
        for (const Choice& p : preconditioners) {
            for (const Choice& s : solvers) add(s, p, found.list);
            if (lists.all && lists.variants && lists.solvers.empty())
                for (const std::string& text : find_preconditioner(p.name).solver_variants)
                    add(choice("solver", text), p, found.list);
        }
        if (lists.all && lists.variants && lists.preconditioners.empty() && is_general())
            add_last_resorts(lists.solvers, found.list);
        check_overrides(lists);
        report();
        const std::string own = solver.name + "+" + preconditioner.name;
        found.own = std::size_t(std::find_if(found.list.begin(), found.list.end(),
                                             [&](const Candidate& candidate) { return candidate.name == own; }) -
                                found.list.begin());
        return found;
    }

private:
    /// Whether the system is a general matrix for all candidates that do not say otherwise.
    bool is_general() const {
        const std::string problem = value_of("problem", "name");
        const auto row = std::find_if(problems().begin(), problems().end(),
                                      [&](const ProblemRow& one) { return one.name == problem; });
        return value_of("matrix", "format") == "general" || (row != problems().end() && !row->has_grid);
    }
    /// Whether candidates may have their rows matched and the deck does not say so for all of them.
    bool can_match_rows() const {
        return value_of("problem", "name") == "matrix" && value_of("ordering", "rows") == "natural";
    }
    void add_last_resorts(const std::string& solvers, std::vector<Candidate>& list) {
        for (const char* text : last_preconditioners) {
            if (std::string_view(text).find("ordering.rows") != std::string_view::npos && !can_match_rows()) continue;
            Choice preconditioner = choice("preconditioner", text);
            preconditioner.last_resort = true;
            for (const std::string& solver : split(solvers.empty() ? last_solvers : solvers, ','))
                add(choice("solver", solver), preconditioner, list);
        }
    }

    /// The value that the deck or --set gives, otherwise the default.
    std::string value_of(const std::string& section, const std::string& key) const {
        std::string value;
        for (const ParameterSpec& spec : schema_.common)
            if (spec.section == section && spec.key == key) value = spec.default_value;
        for (const auto* entries : {&deck_.entries, &overrides_})
            for (const DeckEntry& entry : *entries)
                if (entry.section == section && entry.key == key) value = entry.value;
        return value;
    }

    /// A key of a component; null if it does not have the key, or does not exist.
    const ParameterSpec* spec_of(const std::string& section, const std::string& component,
                                 const std::string& key) const {
        const Component* found = schema_.find(section, component);
        if (!found) return nullptr;
        for (const ParameterSpec& spec : found->parameters)
            if (spec.section == section && spec.key == key) return &spec;
        return nullptr;
    }

    /// Whether a key of the deck or of --set applies to a candidate's component. It does not if only other components
    /// of the section have it, or if it was written for another component, or for other values of this one's keys, and
    /// has no meaning here.
    bool applies(const DeckEntry& entry, const Choice& choice) const {
        if (has_key(schema_.common, entry.section, entry.key)) return true;
        if (const ParameterSpec* spec = spec_of(entry.section, choice.name, entry.key)) {
            const bool own = spec == spec_of(entry.section, value_of(entry.section, "name"), entry.key);
            const bool of_deck = entry.line > 0;  // the deck must be valid with its own components
            if (own && of_deck && !is_decided(*spec, choice)) return true;
            if (own) return holds(*spec, choice);
            const bool other_words = spec->type == ParameterType::choice && check_value(*spec, entry.value);
            return !other_words && holds(*spec, choice);
        }
        return std::none_of(schema_.components.begin(), schema_.components.end(), [&](const Component& other) {
            return other.section == entry.section && has_key(other.parameters, entry.section, entry.key);
        });
    }
    /// Whether a candidate's own text sets the key on which a key depends, directly or through other keys.
    bool is_decided(const ParameterSpec& spec, const Choice& choice) const {
        if (!spec.only_with) return false;
        const std::string& key = spec.only_with->key;
        return std::any_of(choice.parameters.begin(), choice.parameters.end(),
                           [&](const DeckEntry& entry) { return entry.key == key; }) ||
               is_decided(*spec_of(spec.section, choice.name, key), choice);
    }
    /// Whether a candidate has the values on which a key depends.
    bool holds(const ParameterSpec& spec, const Choice& choice) const {
        if (!spec.only_with) return true;
        const auto& [key, needed] = *spec.only_with;
        std::string value = spec_of(spec.section, choice.name, key)->default_value;
        for (const auto* entries : {&deck_.entries, &overrides_, &choice.parameters})
            for (const DeckEntry& entry : *entries)
                if (entry.section == spec.section && entry.key == key &&
                    (entries == &choice.parameters || applies(entry, choice)))
                    value = entry.value;
        return value == needed;
    }
    /// The preconditioner to which a section such as [smoother] belongs; null for a section that any deck may have.
    const Component* owner_of(const std::string& section) const {
        for (const Component& component : schema_.components)
            if (component.section != section && has_key(component.parameters, section, "name")) return &component;
        return nullptr;
    }
    /// Whether a section says in which form a candidate solves the system.
    static bool is_form(const std::string& section) {
        return section == "matrix" || section == "ordering" || section == "scaling";
    }
    /// The component of a section that the candidate's own text names, or else the deck.
    Choice form_of(const std::string& section, const Choice& preconditioner) const {
        for (const DeckEntry& entry : preconditioner.parameters)
            if (entry.section == section && entry.key == "name") return {entry.value, "", {}};
        return {value_of(section, "name"), "", {}};
    }
    bool applies(const DeckEntry& entry, const Choice& solver, const Choice& preconditioner) const {
        if (entry.section == "solver") return applies(entry, solver);
        if (is_form(entry.section)) return applies(entry, form_of(entry.section, preconditioner));
        if (const Component* owner = owner_of(entry.section)) return owner->name == preconditioner.name;
        return entry.section != "preconditioner" || applies(entry, preconditioner);
    }
    std::vector<DeckEntry> applicable(const std::vector<DeckEntry>& entries, const Choice& solver,
                                      const Choice& preconditioner) const {
        std::vector<DeckEntry> kept;
        for (const DeckEntry& entry : entries)
            if (applies(entry, solver, preconditioner)) kept.push_back(entry);
        return kept;
    }

    std::vector<Choice> choices(const std::string& section, const std::string& list, bool all, const Choice& own,
                                bool variants = false) {
        std::vector<Choice> found;
        for (const std::string& text : split(list, ',')) found.push_back(choice(section, text));
        if (!found.empty()) return found;
        if (!all) return {own};
        for (const Component& component : schema_.components)
            if (component.section == section) found.push_back({component.name, component.name, {}});
        if (variants)
            for (const PreconditionerRow& row : preconditioners()) {
                for (const std::string& keys : row.variants) found.push_back(choice(section, row.name + ":" + keys));
                for (const std::string& keys : row.variants_after_failure) {
                    found.push_back(choice(section, row.name + ":" + keys));
                    found.back().after_failure = true;
                }
            }
        return found;
    }

    /// "name:key=value:key=value"; a key of a section of its own is section.key, and so are keys of [matrix],
    /// [ordering] and [scaling], since candidates may solve one system in different forms and orders
    Choice choice(const std::string& section, const std::string& text) {
        const std::string option = fmt::format("--{}s {}", section, text);
        const std::vector<std::string> parts = split(text, ':');
        Choice made;
        made.name = parts.empty() ? "" : parts[0];
        const Component* component = schema_.find(section, made.name);
        if (!component) {
            std::vector<std::string> known;
            for (const Component& other : schema_.components)
                if (other.section == section) known.push_back(other.name);
            const std::string rival = rival_value(made.name, known);
            const std::string near = rival.empty() ? nearest(made.name, known) : rival;
            const bool with_key = made.name.find('=') != std::string::npos;
            const bool with_blank = made.name.find(' ') != std::string::npos;
            fail(fmt::format("{}: no {} is called '{}'{}{} (hyperplane list {}s)", option, section, made.name,
                             with_key     ? "; parameters follow a name as NAME:KEY=VALUE:KEY=VALUE"
                             : with_blank ? "; commas separate names"
                                          : "",
                             near.empty() ? "" : fmt::format("; did you mean {}?", near), section));
            return made;
        }
        made.name = made.text = component->name;
        if (!text.empty() && text.back() == ':') fail(option + ": a ':' must be followed by KEY=VALUE");
        for (std::size_t at = 1; at < parts.size(); ++at) {
            const std::size_t equals = parts[at].find('=');
            const std::string key(trim(parts[at].substr(0, equals)));
            if (equals == std::string::npos || key.empty()) {
                fail(fmt::format("{}: '{}' is no key=value; write NAME:KEY=VALUE:KEY=VALUE", option, parts[at]));
            } else if (has_key(schema_.common, section, key)) {
                fail(key == "name" ? fmt::format("{}: the name comes first: NAME:KEY=VALUE", option)
                                   : fmt::format("{}: {}.{} must be the same for all candidates; give it with --set",
                                                 option, section, key));
            } else {
                const std::size_t dot = key.find('.');
                const bool nested = dot != key.npos && (owner_of(key.substr(0, dot)) || is_form(key.substr(0, dot)));
                made.parameters.push_back({nested ? key.substr(0, dot) : section, nested ? key.substr(dot + 1) : key,
                                           std::string(trim(parts[at].substr(equals + 1))), 0, option});
                made.text += fmt::format(":{}={}", key, made.parameters.back().value);
            }
        }
        return made;
    }

    void add(const Choice& solver, const Choice& preconditioner, std::vector<Candidate>& list) {
        Candidate candidate{solver.text + "+" + preconditioner.text, solver, preconditioner, {}, {}};
        if (std::any_of(list.begin(), list.end(), [&](auto& other) { return other.name == candidate.name; }))
            return fail(fmt::format("{} is named twice", candidate.name));
        Deck deck = deck_;
        deck.entries = applicable(deck_.entries, solver, preconditioner);
        std::vector<DeckEntry> entries = applicable(overrides_, solver, preconditioner);
        for (std::size_t at = 0; at < overrides_.size(); ++at)
            if (applies(overrides_[at], solver, preconditioner)) applied_[at] = true;
        for (const auto& [section, choice] : {std::pair{"solver", &solver}, {"preconditioner", &preconditioner}}) {
            entries.push_back({section, "name", choice->name, 0, fmt::format("--{}s", section)});
            entries.insert(entries.end(), choice->parameters.begin(), choice->parameters.end());
        }
        for (const DeckEntry& entry : entries)
            candidate.overrides.push_back(fmt::format("{}={}", entry.name(), entry.value));
        try {
            candidate.parameters = resolve(deck, entries, schema_);
        } catch (const UsageError& error) {
            fail(error.what());
        }
        list.push_back(std::move(candidate));
    }

    /// Refuses overrides that no candidate takes, which would be ignored otherwise.
    void check_overrides(const CandidateLists& lists) {
        for (std::size_t at = 0; at < overrides_.size(); ++at) {
            const DeckEntry& entry = overrides_[at];
            const std::string& list = entry.section == "solver" ? lists.solvers : lists.preconditioners;
            const bool component = entry.section == "solver" || entry.section == "preconditioner";
            if (component && entry.key == "name" && (lists.all || !list.empty()))
                fail(fmt::format("--set {}.name={}: the candidates are named by --{}s or --auto; leave one of them out",
                                 entry.section, entry.value, entry.section));
            else if (!applied_[at])
                fail(
                    fmt::format("--set {}={}: no candidate has this key, or the value of another key without which it "
                                "means nothing (hyperplane help {})",
                                entry.name(), entry.value, entry.name()));
        }
    }

    /// Adds an error. The same mistake of several candidates is reported once.
    void fail(const std::string& message) {
        if (std::find(errors_.begin(), errors_.end(), message) == errors_.end()) errors_.push_back(message);
    }
    void report() const {
        std::string text;
        for (const std::string& error : errors_) text += (text.empty() ? "" : "\n") + error;
        if (!text.empty()) throw UsageError(text);
    }

    const Deck& deck_;
    DeckSchema schema_;
    std::vector<DeckEntry> overrides_;
    std::vector<bool> applied_;  ///< for each override, whether some candidate takes it
    std::vector<std::string> errors_;
};

}  // namespace

Candidates read_candidates(const Deck& deck, const std::vector<std::string>& overrides, const CandidateLists& lists) {
    return Reader(deck, overrides).read(lists);
}

}  // namespace hyperplane
