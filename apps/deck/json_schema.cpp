// SPDX-License-Identifier: BSD-3-Clause
#include "apps/deck/json_schema.hpp"

#include <algorithm>
#include <nlohmann/json.hpp>

#include "apps/build_info.hpp"
#include "apps/deck/schema.hpp"
#include "apps/run/reference.hpp"

namespace hyperplane {
namespace {

using SchemaJson = nlohmann::ordered_json;

void add_range(SchemaJson& schema, const ParameterSpec& spec) {
    if (spec.minimum) schema[spec.minimum->open ? "exclusiveMinimum" : "minimum"] = spec.minimum->value;
    if (spec.maximum) schema[spec.maximum->open ? "exclusiveMaximum" : "maximum"] = spec.maximum->value;
}

SchemaJson number_schema(const ParameterSpec& spec, const char* type) {
    SchemaJson number = {{"type", type}};
    add_range(number, spec);
    if (spec.choices.empty()) return number;
    return {{"anyOf", {number, {{"enum", spec.choices}}}}};
}

/// A list as an array, as one number where a list of equal ones is meant, or as the text that a deck has.
SchemaJson list_schema(const ParameterSpec& spec, const char* type) {
    SchemaJson item = {{"type", type}};
    add_range(item, spec);
    SchemaJson array = {{"type", "array"}, {"items", item}, {"minItems", 1}};
    if (spec.count > 0) array["maxItems"] = spec.count;
    SchemaJson forms = {array, item, {{"type", "string"}}};
    return {{"anyOf", forms}};
}

SchemaJson type_schema(const ParameterSpec& spec) {
    switch (spec.type) {
        case ParameterType::boolean: return {{"type", "boolean"}};
        case ParameterType::integer: return number_schema(spec, "integer");
        case ParameterType::real: return number_schema(spec, "number");
        case ParameterType::choice: return {{"enum", spec.choices}};
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

/// What a section may hold where it names this component, in it or in another section.
SchemaJson component_rule(const DeckSchema::Component& component, const SchemaJson& then) {
    std::vector<std::string> names{component.name};
    names.insert(names.end(), component.aliases.begin(), component.aliases.end());
    return {{"if", {{"properties", {{"name", {{"enum", names}}}}}, {"required", {"name"}}}}, {"then", then}};
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
    found["unevaluatedProperties"] = false;
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
            json["properties"][section] = {{"type", "object"}, {"description", explain_section(section)}};
        else
            json["properties"][section] = section_schema(schema, section);
    }
    return json.dump(2) + "\n";
}

}  // namespace hyperplane
