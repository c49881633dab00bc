// SPDX-License-Identifier: BSD-3-Clause
#include "core/parameters/parameters.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>
#include <limits>
#include <string_view>
#include <utility>

namespace hyperplane {
namespace {

std::vector<std::string> split_list(const std::string& text) {
    std::vector<std::string> parts;
    std::string part;
    for (char c : text + " ") {
        if (c != ' ' && c != '\t' && c != ',') {
            part += c;
        } else if (!part.empty()) {
            parts.push_back(part);
            part.clear();
        }
    }
    return parts;
}

/// Whether a comma has no value before it.
bool has_gap(const std::string& text) {
    bool comma = true;
    for (const char c : text) {
        if (c == ',' && comma) return true;
        if (c != ' ' && c != '\t') comma = c == ',';
    }
    return false;
}

/// `text`, all of it, as a finite number of full precision, independent of the locale.
std::optional<double> parse_real(const std::string& text) {
    const bool signed_twice = text.size() > 1 && text[0] == '+' && text[1] == '-';
    if (signed_twice) return std::nullopt;
    const char* begin = text.data() + (!text.empty() && text[0] == '+' ? 1 : 0);
    double value = 0.0;
    const auto [end, error] = std::from_chars(begin, text.data() + text.size(), value);
    if (error != std::errc{} || end != text.data() + text.size()) return std::nullopt;
    if (value != 0.0 && !std::isnormal(value)) return std::nullopt;  // inf, nan, and what has lost digits
    return value;
}

/// The result of reading a text as a whole number. It has no value if the text is none, or if 64 bits cannot hold it.
struct WholeNumber {
    std::optional<Index> value;
    bool too_large = false;
};

/// The exponent behind an 'e', at most as large as counts; nothing if `text` is none.
std::optional<int> parse_exponent(std::string_view text) {
    if (text.size() > 1 && text[0] == '+' && text[1] != '-') text.remove_prefix(1);
    constexpr int most = 1 << 20;
    int exponent = 0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), exponent);
    if (error == std::errc::invalid_argument || end != text.data() + text.size()) return std::nullopt;
    if (error == std::errc::result_out_of_range) exponent = text[0] == '-' ? -most : most;
    return std::clamp(exponent, -most, most);
}

/// Digits, or a decimal number such as 1e3 or 1.5e1 that is whole; exact, since a real number would lose digits.
WholeNumber parse_whole(const std::string& text) {
    std::string_view rest = text;
    const bool negative = !rest.empty() && rest[0] == '-';
    if (negative || (!rest.empty() && rest[0] == '+')) rest.remove_prefix(1);
    const std::size_t length = std::min(rest.find_first_not_of("0123456789."), rest.size());
    std::string digits(rest.substr(0, length));
    rest.remove_prefix(length);
    std::optional<int> exponent = 0;
    if (!rest.empty()) exponent = rest[0] == 'e' || rest[0] == 'E' ? parse_exponent(rest.substr(1)) : std::nullopt;
    const std::size_t point = digits.find('.');
    if (point != digits.npos) digits.erase(point, 1);
    if (!exponent || digits.empty() || digits.find('.') != digits.npos) return {};
    int zeros = *exponent - (point == std::string::npos ? 0 : int(digits.size() - point));
    digits.erase(0, digits.find_first_not_of('0'));
    if (digits.empty()) return {0};
    for (; zeros < 0 && digits.back() == '0'; ++zeros) digits.pop_back();
    if (zeros < 0) return {};
    constexpr int most_digits = std::numeric_limits<Index>::digits10 + 1;
    if (zeros >= most_digits) return {{}, true};
    digits = (negative ? "-" : "") + digits + std::string(std::size_t(zeros), '0');
    Index value = 0;
    const bool held = std::from_chars(digits.data(), digits.data() + digits.size(), value).ec == std::errc{};
    return held ? WholeNumber{value} : WholeNumber{{}, true};
}

std::optional<Index> parse_integer(const std::string& text) {
    return parse_whole(text).value;
}

std::optional<bool> parse_boolean(const std::string& text) {
    if (text == "true" || text == "yes" || text == "on") return true;
    if (text == "false" || text == "no" || text == "off") return false;
    return std::nullopt;
}

std::string out_of_range(const ParameterSpec& spec, const std::string& text) {
    return fmt::format("{} is out of range; expected {}", text, describe_domain(spec));
}

/// A parameter with the bounds that 64 bits have, where it has none of its own on the side of `text`.
ParameterSpec within_64_bits(ParameterSpec spec, const std::string& text) {
    constexpr auto most = double(std::numeric_limits<Index>::max());
    std::optional<Bound>& bound = text[0] == '-' ? spec.minimum : spec.maximum;
    if (!bound) bound = Bound{text[0] == '-' ? -most : most};
    return spec;
}

std::optional<std::string> check_range(const ParameterSpec& spec, double value, const std::string& text) {
    const auto& low = spec.minimum;
    const auto& high = spec.maximum;
    const bool below = low && (low->open ? value <= low->value : value < low->value);
    const bool above = high && (high->open ? value >= high->value : value > high->value);
    if (!below && !above) return std::nullopt;
    return out_of_range(spec, text);
}

/// Whether a number is refused because it is closer to 0 than numbers of full precision are.
bool too_small(const std::string& text) {
    double value = 0.0;
    const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
    if (end != text.data() + text.size()) return false;
    const double size = error == std::errc{} ? std::abs(value) : std::abs(std::strtod(text.c_str(), nullptr));
    return error == std::errc::result_out_of_range ? size < 1.0
                                                   : size > 0.0 && size < std::numeric_limits<double>::min();
}

/// Says how to write numbers of a list that are joined by an 'x', as in "32x32x32"; nothing for other text.
std::string separated_otherwise(const ParameterSpec& spec, const std::string& text) {
    const bool list = spec.type == ParameterType::integers || spec.type == ParameterType::reals;
    const bool of_numbers = text.find_first_of("0123456789") != text.npos;
    if (!list || !of_numbers || text.find_first_not_of("0123456789.xX*") != text.npos) return "";
    std::string separated = text;
    std::replace_if(
        separated.begin(), separated.end(), [](char c) { return c == 'x' || c == 'X' || c == '*'; }, ' ');
    return separated == text ? "" : fmt::format("; blanks or commas separate numbers: {}", separated);
}

std::optional<std::string> check_number(const ParameterSpec& spec, bool whole, const std::string& text) {
    const WholeNumber number = whole ? parse_whole(text) : WholeNumber{};
    if (number.too_large) return out_of_range(within_64_bits(spec, text), text);
    const std::optional<Index> integer = number.value;
    const auto real = whole ? std::optional<double>() : parse_real(text);
    if (!integer && !real)
        return fmt::format("expected {}{}, got '{}'{}",
                           !spec.choices.empty() ? describe_domain(spec)
                           : whole               ? "an integer"
                           : too_small(text)     ? "0 or a number of at least 2.3e-308 in size"
                                                 : "a finite number",
                           spec.choices.empty() && !spec.unit.empty() && !too_small(text) ? " in " + spec.unit : "",
                           text, separated_otherwise(spec, text));
    return check_range(spec, integer ? double(*integer) : *real, text);
}

[[noreturn]] void misuse(const std::string& name) {
    throw Error(ExitCode::internal, "parameter " + name + " is read but belongs to no table");
}

}  // namespace

const char* to_string(ParameterType type) {
    switch (type) {
        case ParameterType::boolean: return "true or false";
        case ParameterType::integer: return "integer";
        case ParameterType::real: return "real";
        case ParameterType::choice: return "one of";
        case ParameterType::text: return "text";
        case ParameterType::path: return "file name";
        case ParameterType::integers: return "integers";
        case ParameterType::reals: return "reals";
    }
    return "";
}

bool has_key(const ParameterTable& table, const std::string& section, const std::string& key) {
    return std::any_of(table.begin(), table.end(),
                       [&](const ParameterSpec& spec) { return spec.section == section && spec.key == key; });
}

std::string describe(const ParameterSpec& spec) {
    return spec.description + (spec.only_with ? "; only with " + spec.only_with->text() : "");
}

std::string describe_domain(const ParameterSpec& spec) {
    std::string text = spec.count > 0 ? fmt::format("{} {}", spec.count, to_string(spec.type)) : to_string(spec.type);
    const bool words = !spec.choices.empty(), choice = spec.type == ParameterType::choice;
    if (words && choice) text += fmt::format(" {}", fmt::join(spec.choices, " | "));
    if (spec.minimum) text += fmt::format(" {} {:g}", spec.minimum->open ? ">" : ">=", spec.minimum->value);
    if (spec.maximum)
        text +=
            fmt::format("{} {} {:g}", spec.minimum ? " and" : "", spec.maximum->open ? "<" : "<=", spec.maximum->value);
    if (words && !choice) text += fmt::format(" or {}", fmt::join(spec.choices, " or "));
    if (!spec.unit.empty()) text += fmt::format(", in {}", spec.unit);
    return text;
}

std::string Provenance::text() const {
    switch (source) {
        case Source::built_in: return "default";
        case Source::deck: return fmt::format("{}:{}", file, line);
        case Source::command_line: return file.empty() ? "--set" : file;
    }
    return "";
}

std::optional<std::string> check_value(const ParameterSpec& spec, const std::string& text) {
    const bool word = std::find(spec.choices.begin(), spec.choices.end(), text) != spec.choices.end();
    if (word) return std::nullopt;
    switch (spec.type) {
        case ParameterType::boolean:
            if (!parse_boolean(text)) return fmt::format("expected true or false, got '{}'", text);
            return std::nullopt;
        case ParameterType::integer: return check_number(spec, true, text);
        case ParameterType::real: return check_number(spec, false, text);
        case ParameterType::choice: return fmt::format("'{}' is none of {}", text, fmt::join(spec.choices, " | "));
        case ParameterType::text:
        case ParameterType::path: return std::nullopt;
        case ParameterType::integers:
        case ParameterType::reals: {
            const auto parts = split_list(text);
            if (parts.empty() || (spec.count > 0 && int(parts.size()) != spec.count))
                return fmt::format("expected {}, got {} values", describe_domain(spec), parts.size());
            if (has_gap(text)) return fmt::format("a value is missing before a comma, got '{}'", text);
            for (const std::string& part : parts)
                if (auto error = check_number(spec, spec.type == ParameterType::integers, part)) return error;
            return std::nullopt;
        }
    }
    return std::nullopt;
}

Parameters::Parameters(const ParameterTable& table) {
    add(table);
}

void Parameters::add(const ParameterTable& table) {
    for (const ParameterSpec& spec : table)
        if (values_.try_emplace(spec.name(), Value{spec, spec.default_value, {}}).second) order_.push_back(spec.name());
}

void Parameters::set(const std::string& section, const std::string& key, const std::string& text,
                     Provenance provenance) {
    const auto at = values_.find(section + "." + key);
    if (at == values_.end()) throw UsageError(fmt::format("{}: unknown key {}.{}", provenance.text(), section, key));
    if (const auto error = check_value(at->second.spec, text))
        throw UsageError(fmt::format("{}: {}.{}: {}", provenance.text(), section, key, *error));
    at->second.text = text;
    at->second.provenance = std::move(provenance);
}

bool Parameters::leave_out(const std::string& section, const std::string& key) {
    const auto at = values_.find(section + "." + key);
    if (at == values_.end()) return false;
    Value& value = at->second;
    const bool changes = value.text != value.spec.default_value || is_given(section, key);
    value.text = value.spec.default_value;
    value.provenance = {};
    return changes;
}

bool Parameters::has(const std::string& section, const std::string& key) const {
    return values_.count(section + "." + key) > 0;
}

bool Parameters::is_given(const std::string& section, const std::string& key) const {
    return value(section, key).provenance.source != Provenance::Source::built_in;
}

const Parameters::Value& Parameters::value(const std::string& section, const std::string& key) const {
    const auto at = values_.find(section + "." + key);
    if (at == values_.end()) misuse(section + "." + key);
    return at->second;
}

bool Parameters::boolean(const std::string& section, const std::string& key) const {
    const auto parsed = parse_boolean(value(section, key).text);
    return parsed ? *parsed : throw UsageError(where(section, key) + ": no value is set");
}

Index Parameters::integer(const std::string& section, const std::string& key) const {
    const auto parsed = parse_integer(value(section, key).text);
    return parsed ? *parsed : throw UsageError(where(section, key) + ": no value is set");
}

double Parameters::real(const std::string& section, const std::string& key) const {
    const auto parsed = parse_real(value(section, key).text);
    return parsed ? *parsed : throw UsageError(where(section, key) + ": no value is set");
}

const std::string& Parameters::text(const std::string& section, const std::string& key) const {
    return value(section, key).text;
}

std::vector<Index> Parameters::integers(const std::string& section, const std::string& key) const {
    std::vector<Index> numbers;
    for (const std::string& part : split_list(value(section, key).text)) numbers.push_back(*parse_integer(part));
    return numbers;
}

std::vector<double> Parameters::reals(const std::string& section, const std::string& key) const {
    std::vector<double> numbers;
    for (const std::string& part : split_list(value(section, key).text)) numbers.push_back(*parse_real(part));
    return numbers;
}

const Condition* Parameters::unmet(const std::string& section, const std::string& key) const {
    const std::optional<Condition>& condition = value(section, key).spec.only_with;
    if (!condition) return nullptr;
    if (const Condition* before = unmet(section, condition->key)) return before;
    return text(section, condition->key) == condition->value ? nullptr : &*condition;
}

std::vector<Parameters::Value> Parameters::all() const {
    std::vector<Value> values;
    for (const std::string& name : order_) values.push_back(values_.at(name));
    return values;
}

std::string Parameters::where(const std::string& section, const std::string& key) const {
    return fmt::format("{}: {}.{}", value(section, key).provenance.text(), section, key);
}

RefusedKey::RefusedKey(const Parameters& parameters, std::string in_section, std::string key,
                       const std::string& message, const std::vector<std::string>& with_it)
    : UsageError(parameters.where(in_section, key) + message), section(std::move(in_section)), keys(with_it) {
    keys.insert(keys.begin(), std::move(key));
}

}  // namespace hyperplane
