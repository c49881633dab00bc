// SPDX-License-Identifier: BSD-3-Clause
#include "apps/help/json_schema.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "apps/base/build_info.hpp"
#include "apps/deck/schema.hpp"
#include "apps/help/reference.hpp"

namespace hyperplane {
namespace {

using SchemaJson = nlohmann::ordered_json;

void add_range(SchemaJson& schema, const ParameterSpec& spec) {
    if (spec.minimum) schema[spec.minimum->open ? "exclusiveMinimum" : "minimum"] = spec.minimum->value;
    if (spec.maximum) schema[spec.maximum->open ? "exclusiveMaximum" : "maximum"] = spec.maximum->value;
}

// Numbers as texts, such as "1e-6": programs that write decks may have values as texts.
constexpr const char* number_pattern = R"([+-]?([0-9]+\.?[0-9]*|\.[0-9]+)([eE][+-]?[0-9]+)?)";

/// A number or its text. The range is that of the number; of a text the form is checked alone.
SchemaJson number_or_text(const ParameterSpec& spec, const char* type) {
    SchemaJson number = {{"type", {type, "string"}}, {"pattern", fmt::format("^{}$", number_pattern)}};
    add_range(number, spec);
    return number;
}

SchemaJson number_schema(const ParameterSpec& spec, const char* type) {
    const SchemaJson number = number_or_text(spec, type);
    if (spec.choices.empty()) return number;
    return {{"anyOf", {number, {{"enum", spec.choices}}}}};
}

/// The numbers of elements that a list may have; empty: any from 1.
std::vector<int> counts_of(const ParameterSpec& spec) {
    if (spec.name() == "grid.cells" || spec.name() == "grid.lengths") return {1, 3};  // one for all axes, or one each
    return spec.count > 0 ? std::vector<int>{spec.count} : std::vector<int>{};
}

/// A list as an array or as the text that a deck has, and one number where a list of one element may stand.
SchemaJson list_schema(const ParameterSpec& spec, const char* type) {
    const SchemaJson item = number_or_text(spec, type);
    std::vector<int> counts = counts_of(spec);
    SchemaJson forms = SchemaJson::array();
    if (counts.empty() || counts[0] == 1) forms.push_back(item);
    const auto add = [&](int least, const std::string& more) {
        SchemaJson array = {{"type", "array"}, {"items", item}, {"minItems", least}};
        if (more != "*") array["maxItems"] = least;
        forms.push_back(array);
        forms.push_back({{"type", "string"},
                         {"pattern", fmt::format("^[ \\t,]*{0}([ \\t,]+{0}){1}[ \\t,]*$", number_pattern, more)}});
    };
    if (counts.empty()) add(1, "*");
    for (const int count : counts) add(count, fmt::format("{{{}}}", count - 1));
    if (!spec.choices.empty()) forms.push_back({{"enum", spec.choices}});
    return {{"anyOf", forms}};
}

/// The words, and those that are whole numbers also as numbers: expect.exit_code is 3 or "3".
SchemaJson choice_schema(const ParameterSpec& spec) {
    SchemaJson words = spec.choices;
    for (const std::string& word : spec.choices)
        if (word.find_first_not_of("0123456789") == word.npos) words.push_back(std::stoi(word));
    return {{"enum", words}};
}

SchemaJson axes_schema() {
    const SchemaJson list = {{"type", "array"}, {"items", {{"enum", {"x", "y", "z"}}}}, {"uniqueItems", true}};
    // Each axis once, in any order, with blanks or commas between them or without.
    const SchemaJson text = {{"type", "string"}, {"pattern", "^(none|(?!.*x.*x)(?!.*y.*y)(?!.*z.*z)[xyz ,]*)$"}};
    return {{"anyOf", {text, list}}};
}

SchemaJson type_schema(const ParameterSpec& spec) {
    if (spec.name() == "grid.periodic") return axes_schema();
    switch (spec.type) {
        case ParameterType::boolean: return {{"enum", {true, false, "true", "false", "yes", "no", "on", "off"}}};
        case ParameterType::integer: return number_schema(spec, "integer");
        case ParameterType::real: return number_schema(spec, "number");
        case ParameterType::choice: return choice_schema(spec);
        case ParameterType::text:
        case ParameterType::path: return {{"type", "string"}};
        case ParameterType::integers: return list_schema(spec, "integer");
        case ParameterType::reals: return list_schema(spec, "number");
    }
    return {};
}

/// The default as the type has it; lists as text.
SchemaJson default_of(const ParameterSpec& spec) {
    const std::string& text = spec.default_value;
    if (spec.type == ParameterType::boolean) return text == "true";
    const bool number = spec.type == ParameterType::integer || spec.type == ParameterType::real;
    if (!number) return text;
    const SchemaJson parsed = SchemaJson::parse(text, nullptr, false);
    if (!parsed.is_number()) return text;
    return spec.type == ParameterType::integer ? SchemaJson(Index(parsed.get<double>())) : parsed;
}

SchemaJson key_schema(const ParameterSpec& spec) {
    SchemaJson schema = type_schema(spec);
    schema["description"] = describe(spec) + "." + (spec.unit.empty() ? "" : " In " + spec.unit + ".");
    if (!spec.default_value.empty()) schema["default"] = default_of(spec);
    return schema;
}

/// The keys of a table that stand in one section, their required ones, and what each has no meaning without.
SchemaJson keys_schema(const ParameterTable& table, const std::string& section) {
    SchemaJson schema = {{"properties", SchemaJson::object()}};
    for (const ParameterSpec& spec : table) {
        if (spec.section != section) continue;
        schema["properties"][spec.key] = key_schema(spec);
        if (spec.required) schema["required"].push_back(spec.key);
        if (!spec.only_with) continue;
        SchemaJson condition = {{"properties", {{spec.only_with->key, {{"const", spec.only_with->value}}}}}};
        const auto other = std::find_if(table.begin(), table.end(), [&](const ParameterSpec& candidate) {
            return candidate.section == section && candidate.key == spec.only_with->key;
        });
        if (other != table.end() && other->default_value != spec.only_with->value)
            condition["required"] = {spec.only_with->key};
        schema["dependentSchemas"][spec.key] = condition;
    }
    return schema;
}

/// Returns the rule for what a section may hold where it names this component.
SchemaJson component_rule(const DeckSchema::Component& component, const SchemaJson& then) {
    std::vector<std::string> names{component.name};
    names.insert(names.end(), component.aliases.begin(), component.aliases.end());
    return {{"if", {{"properties", {{"name", {{"enum", names}}}}}, {"required", {"name"}}}}, {"then", then}};
}

/// Returns the rule for a section that names no component: it may hold the keys of the default one. The default depends
/// on the kind of the matrix, of which other sections decide, so that the keys of any of the defaults may be there.
std::optional<SchemaJson> default_rule(const DeckSchema& schema, const std::string& section, const SchemaJson& name) {
    std::vector<std::string> defaults{name.value("default", "")};
    for (const DeckSchema::OtherDefault& other : schema.other_defaults)
        if (other.of == section + ".name") defaults.push_back(other.is);
    SchemaJson any = SchemaJson::array();
    for (const auto& component : schema.components)
        if (component.section == section && std::ranges::find(defaults, component.name) != defaults.end())
            any.push_back(keys_schema(component.parameters, section));
    if (any.empty()) return std::nullopt;
    return SchemaJson{{"if", {{"not", {{"required", {"name"}}}}}}, {"then", {{"anyOf", any}}}};
}

/// The keys of other sections that only this component has are allowed for all, since a section's schema cannot see
/// another section.
void add_foreign(SchemaJson& section_schema, const DeckSchema& schema, const std::string& section) {
    for (const auto& component : schema.components) {
        if (component.section == section) continue;
        const SchemaJson keys = keys_schema(component.parameters, section);
        for (const auto& [key, value] : keys["properties"].items())
            if (!section_schema["properties"].contains(key)) section_schema["properties"][key] = value;
    }
}

SchemaJson section_schema(const DeckSchema& schema, const std::string& section) {
    SchemaJson found = keys_schema(schema.common, section);
    found =
        SchemaJson{{"type", "object"}, {"description", explain_section(section)}, {"properties", found["properties"]}};
    const SchemaJson keys = keys_schema(schema.common, section);
    for (const char* part : {"required", "dependentSchemas"})
        if (keys.contains(part)) found[part] = keys[part];
    add_foreign(found, schema, section);
    std::vector<std::string> names;
    for (const auto& component : schema.components)
        if (component.section == section) {
            names.push_back(component.name);
            names.insert(names.end(), component.aliases.begin(), component.aliases.end());
        }
    if (!names.empty()) {
        found["properties"]["name"].erase("type");
        found["properties"]["name"]["enum"] = names;
    }
    for (const auto& component : schema.components)
        if (component.section == section)
            found["allOf"].push_back(component_rule(component, keys_schema(component.parameters, section)));
    if (!names.empty())
        if (const auto rule = default_rule(schema, section, found["properties"]["name"]))
            found["allOf"].push_back(*rule);
    found["unevaluatedProperties"] = false;
    return found;
}

/// [sweep] and [slurm] have keys of their own, and [sweep] the keys that a study varies, of all sections but those that
/// are the same for all cases.
SchemaJson study_section_schema(const DeckSchema& schema, const std::string& section) {
    SchemaJson found = {{"type", "object"},
                        {"description", explain_section(section)},
                        {"properties", keys_schema(common_keys(section), section)["properties"]},
                        {"additionalProperties", false}};
    if (section == "slurm") return found;
    std::set<std::string> names;
    const auto take = [&](const ParameterTable& table) {
        for (const ParameterSpec& spec : table)
            if (spec.section != "output" && spec.section != "sweep" && spec.section != "slurm")
                names.insert(spec.name());
    };
    take(schema.common);
    for (const auto& component : schema.components) take(component.parameters);
    // One value, several as the text of a deck, or a list of values, each of which may be a list itself.
    for (const std::string& name : names)
        found["properties"][name] = {{"type", {"string", "number", "boolean", "array"}}};
    return found;
}

}  // namespace

std::string deck_json_schema() {
    const DeckSchema schema = deck_schema();
    SchemaJson json = {{"$schema", "https://json-schema.org/draft/2020-12/schema"},
                       {"title", "Deck of hyperplane " + build_info().version},
                       {"type", "object"},
                       {"required", {"problem"}},
                       {"properties", SchemaJson::object()},
                       {"additionalProperties", false}};
    for (const std::string& section : deck_sections()) {
        if (section == "sweep" || section == "slurm")
            json["properties"][section] = study_section_schema(schema, section);
        else
            json["properties"][section] = section_schema(schema, section);
    }
    return json.dump(2) + "\n";
}

}  // namespace hyperplane
