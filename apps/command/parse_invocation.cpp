// SPDX-License-Identifier: BSD-3-Clause
#include "apps/command/parse_invocation.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <boost/program_options.hpp>

#include "apps/deck/named_deck.hpp"
#include "core/error.hpp"
#include "io/deck.hpp"

namespace po = boost::program_options;

namespace hyperplane {
namespace {

// An option's name that no user types, for positional words.
constexpr const char* positional = "positional words";

po::options_description described_options(const Verb& verb) {
    po::options_description described;
    for (const Option& option : verb.options) {
        const std::string name = option.letter ? fmt::format("{},{}", option.name, option.letter) : option.name;
        if (option.value.empty())
            described.add_options()(name.c_str(), "");
        else if (option.repeatable)
            described.add_options()(name.c_str(), po::value<std::vector<std::string>>()->composing(), "");
        else
            described.add_options()(name.c_str(), po::value<std::string>(), "");
    }
    described.add_options()(positional, po::value<std::vector<std::string>>());
    return described;
}

std::string suggestion(const Verb& verb, std::string wrong) {
    wrong.erase(0, wrong.find_first_not_of('-'));
    std::vector<std::string> known;
    for (const Option& option : verb.options) known.push_back(option.name);
    const std::string word = wrong.substr(0, wrong.find('='));
    if (const std::string near = nearest(word, known); !near.empty()) return fmt::format("; did you mean --{}?", near);
    if (std::find(known.begin(), known.end(), "set") == known.end()) return "";
    std::vector<std::string> keys = keys_meant(word);
    std::erase(keys, "device.ranks");  // a verb that takes it has --ranks
    for (std::string& key : keys) key = fmt::format("--set {}=VALUE", key);
    return keys.empty() ? "" : fmt::format("; did you mean {}?", fmt::join(keys, " or "));
}

/// Refuses a value that begins like an option: if a value is forgotten, the next option would be taken for it.
void check_values(const Verb& verb, const Invocation& invocation) {
    for (const auto& [name, values] : invocation.options)
        for (const std::string& value : values)
            for (const Option& option : verb.options)
                if (value == "--" + option.name)
                    throw UsageError(fmt::format("{}: --{} needs a value, and {} is an option (hyperplane help {})",
                                                 verb.name, name, value, verb.name));
}

void check_argument_count(const Verb& verb, const Invocation& invocation) {
    const int count = int(invocation.arguments.size());
    if (count < verb.least_arguments)
        throw UsageError(fmt::format("{} needs {} (hyperplane help {})", verb.name, verb.arguments, verb.name));
    if (verb.most_arguments < 0 || count <= verb.most_arguments) return;
    const std::string& beyond = invocation.arguments[std::size_t(verb.most_arguments)];
    if (const auto settings = invocation.values("set"); beyond.starts_with("=") && !settings.empty())
        throw UsageError(
            fmt::format("{}: '{}' stands alone; a setting is one word, --set {}=VALUE, or is quoted "
                        "(hyperplane help {})",
                        verb.name, beyond, settings.back(), verb.name));
    throw UsageError(fmt::format("{} does not take '{}' (hyperplane help {})", verb.name, beyond, verb.name));
}

}  // namespace

Invocation parse_invocation(const Verb& verb, const std::vector<std::string>& words) {
    Invocation invocation;
    invocation.verb = verb.name;
    try {
        po::variables_map map;
        po::positional_options_description positions;
        positions.add(positional, -1);
        const po::options_description described = described_options(verb);
        po::store(po::command_line_parser(words)
                      .options(described)
                      .positional(positions)
                      .style(po::command_line_style::unix_style & ~po::command_line_style::allow_guessing)
                      .run(),
                  map);
        if (map.count(positional)) invocation.arguments = map[positional].as<std::vector<std::string>>();
        for (const Option& option : verb.options) {
            if (!map.count(option.name)) continue;
            auto& values = invocation.options[option.name];
            if (option.repeatable)
                values = map[option.name].as<std::vector<std::string>>();
            else
                values.push_back(option.value.empty() ? "" : map[option.name].as<std::string>());
        }
    } catch (const po::unknown_option& error) {
        throw UsageError(fmt::format("{} has no option '{}'{} (hyperplane help {})", verb.name, error.get_option_name(),
                                     suggestion(verb, error.get_option_name()), verb.name));
    } catch (const po::error& error) {
        throw UsageError(fmt::format("{}: {} (hyperplane help {})", verb.name, error.what(), verb.name));
    }
    check_values(verb, invocation);
    // Before their number, since "--set rtol 1e-4" has one word too many.
    for (const std::string& text : invocation.values("set")) check_section(text);
    check_argument_count(verb, invocation);
    return invocation;
}

std::string usage(const Verb& verb) {
    std::string text =
        fmt::format("usage: hyperplane {}{}{}\n\n{}.\n", verb.name, verb.options.empty() ? "" : " [OPTIONS]",
                    verb.arguments.empty() ? "" : " " + verb.arguments, verb.summary);
    if (!verb.options.empty()) text += "\nOptions:\n";
    for (const Option& option : verb.options) {
        std::string name = option.letter ? fmt::format("-{}, --{}", option.letter, option.name) : "--" + option.name;
        if (!option.value.empty()) name += " " + option.value;
        text += fmt::format("  {:<26} {}\n", name, option.description + (option.repeatable ? " (repeatable)" : ""));
    }
    return text;
}

}  // namespace hyperplane
