// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <sstream>
#include <utility>

#include "apps/base/quoting.hpp"
#include "apps/command/verbs.hpp"
#include "apps/deck/schema.hpp"
#include "apps/help/reference.hpp"
#include "apps/help/shell_texts.hpp"
#include "core/grid/stencil.hpp"

namespace hyperplane {
namespace {

using Words = std::vector<std::string>;

// The part written in bash. bash splits words at '=' and ':'; they are joined again, and the results are split as bash
// expects them.
constexpr const char* machinery = R"bash(
_hyperplane_files() {  # ENDING: files with this ending, and folders
    compopt -o filenames 2>/dev/null
    _hyperplane_lines < <(compgen -d -- "$current"; [[ $1 == / ]] || compgen -f -X "!*$1" -- "$current")
}

_hyperplane_lines() {
    local line
    while IFS= read -r line; do
        [[ " ${COMPREPLY[*]} " == *" $line "* ]] || COMPREPLY+=("$line")  # a folder may have the ending too
    done
}

_hyperplane_words() {  # PREFIX WORD...: those that begin with what was typed; none if it ends with '='
    local prefix=$1 word
    shift
    for word in "$@"; do [[ $prefix$word == "$current"* ]] && COMPREPLY+=("$prefix$word"); done
    [[ ${#COMPREPLY[@]} -eq 1 && ${COMPREPLY[0]} == *= ]] && compopt -o nospace 2>/dev/null
    return 0
}

_hyperplane_setting() {  # SECTION.KEY=VALUE
    if [[ $current == *=* ]]; then
        _hyperplane_words "${current%%=*}=" $(_hyperplane_values "${current%%=*}")
    else
        _hyperplane_words "" $_hyperplane_keys
    fi
}

_hyperplane_components() {  # SECTION: NAME[:KEY=VALUE]...,...
    local last=${current##*,} key
    local before=${current%"$last"}
    key=${last##*:} key=${key%%=*}
    case $last in
        *:*=*) _hyperplane_words "$before${last%=*}=" $(_hyperplane_values "$1.$key") ;;
        *:*) _hyperplane_words "$before${last%:*}:" $(_hyperplane_own "$1:${last%%:*}") ;;
        *) _hyperplane_words "$before" $(_hyperplane_values "$1.name") ;;
    esac
    compopt -o nospace 2>/dev/null
}

_hyperplane() {
    local words=() word current="" verb="" position=0 at awaited="" first=""
    COMPREPLY=()
    for ((at = 1; at <= COMP_CWORD; at++)); do
        word=${COMP_WORDS[at]}
        if ((${#words[@]} > 1)) && [[ $word == [=:]* || ${words[-1]} == *[=:] ]]; then
            words[-1]+=$word
        else
            words+=("$word")
        fi
    done
    ((${#words[@]})) || words=("")
    verb=${words[0]} current=${words[-1]}
    if ((${#words[@]} == 1)); then
        _hyperplane_words "" $_hyperplane_verbs --help --version
        return
    fi
    for ((at = 1; at < ${#words[@]} - 1; at++)); do  # what stands before the word under the cursor
        word=${words[at]}
        if [[ $awaited ]]; then awaited=""
        elif [[ $word == -* ]]; then awaited=$(_hyperplane_awaits "$verb" "$word")
        else
            ((position++)) || first=$word
        fi
    done
    if [[ $current == --*=* ]]; then
        awaited=$(_hyperplane_awaits "$verb" "${current%%=*}")
        current=${current#*=}
    elif [[ ! $awaited && $current == -* ]]; then
        _hyperplane_words "" $(_hyperplane_options "$verb")
        return
    fi
    [[ $awaited ]] || awaited=$(_hyperplane_awaits "$verb" "$position")
    [[ $awaited ]] || awaited=$(_hyperplane_awaits "$verb" "after-$first")
    [[ $awaited ]] || awaited=$(_hyperplane_awaits "$verb" rest)
    for word in $awaited; do
        case $word in
            @set) _hyperplane_setting ;;
            @components:*) _hyperplane_components "${word#*:}" ;;
            @files:*) _hyperplane_files "${word#*:}" ;;
            @nothing) ;;
            *) _hyperplane_words "" "$word" ;;
        esac
    done
    # bash puts back only what follows the last '=' or ':' it has cut at.
    local cut=$current
    [[ $COMP_WORDBREAKS == *=* ]] || cut=${cut//=/-}
    [[ $COMP_WORDBREAKS == *:* ]] || cut=${cut//:/-}
    local kept=${cut%"${cut##*[=:]}"}
    ((${#kept})) && for at in "${!COMPREPLY[@]}"; do COMPREPLY[at]=${COMPREPLY[at]:${#kept}}; done
    return 0
}

complete -F _hyperplane hyperplane
)bash";

/// Returns what completes a word of a line of usage, such as "DECK", "FILE.h5...", "[a|b|c]" or "KEY=VALUE": a list of
/// words,
/// @set, or @files:ENDING (ENDING = / for folders); empty if nothing is known.
std::string awaited_for(std::string word) {
    std::erase_if(word, [](char c) { return c == '[' || c == ']'; });
    if (const auto dots = word.find("..."); dots != std::string::npos) word.erase(dots);
    Words items;
    std::istringstream parts(word);
    for (std::string part; std::getline(parts, part, '|');) {
        const auto ending = part.find('.');
        const std::string stem = part.substr(0, ending);
        if (part == "KEY=VALUE")
            items.push_back("@set");
        else if (part == "DIR")
            items.push_back("@files:/");
        else if (part == "DECK" || part == "STUDY")
            items.push_back("@files:.ini");
        else if (std::any_of(stem.begin(), stem.end(), [](char c) { return c >= 'a' && c <= 'z'; }))
            items.push_back(part);
        else if (part == "FILE" || ending != std::string::npos)
            items.push_back("@files:" + (part == "FILE" ? "" : part.substr(ending)));
    }
    return fmt::format("{}", fmt::join(items, " "));
}

Words topics_of_help() {
    Words words = deck_sections();
    for (const Verb& verb : verbs()) words.push_back(verb.name);
    words.push_back("exit-codes");
    for (const std::string& section : deck_sections())
        for (const ParameterSpec& spec : common_keys(section)) words.push_back(spec.name());
    for (const ComponentEntry& entry : explained_components()) {
        words.push_back(entry.name);
        words.insert(words.end(), entry.aliases.begin(), entry.aliases.end());
        for (const ParameterSpec& spec : entry.parameters) words.push_back(spec.name());
    }
    for (const Stencil& stencil : Stencil::ready_made()) words.push_back(stencil.name());
    std::sort(words.begin(), words.end());
    words.erase(std::unique(words.begin(), words.end()), words.end());
    return words;
}

/// The section of the components that an option names: "preconditioner" for --preconditioners and so on; empty if it
/// names none.
std::string component_section(const std::string& option) {
    for (const ComponentEntry& entry : registered_components())
        if (option == entry.section + "s") return entry.section;
    return "";
}

void add_value(std::map<std::string, Words>& values, const ParameterSpec& spec) {
    Words& known = values[spec.name()];
    Words more = spec.choices;
    if (spec.type == ParameterType::boolean) more = {"true", "false"};
    for (const std::string& word : more)
        if (std::find(known.begin(), known.end(), word) == known.end()) known.push_back(word);
}

/// Every key, and the words that it can be set to; none if it takes numbers or text.
std::map<std::string, Words> values_of_keys() {
    std::map<std::string, Words> values;
    for (const ParameterSpec& spec : deck_schema().common) add_value(values, spec);
    std::map<std::string, Words> names;
    for (const ComponentEntry& entry : explained_components()) {
        for (const ParameterSpec& spec : entry.parameters) add_value(values, spec);
        names[entry.section + ".name"].push_back(entry.name);
    }
    for (const auto& [key, words] : names) values[key] = words;
    return values;
}

std::string function(const std::string& name, const std::string& on, const std::string& cases) {
    return fmt::format("\n_hyperplane_{}() {{\n    case {} in\n{}    esac\n}}\n", name, on, cases);
}

std::string one_case(const std::string& pattern, const std::string& words) {
    return words.empty() ? "" : fmt::format("        {}) echo {} ;;\n", pattern, shell_word(words));
}

/// The words at the top level of "[kernels|preconditioners [DECK...]|hpcg [NX NY NZ]]", each with what follows it;
/// nothing if no word of the line of usage is followed by anything of its own.
std::vector<std::pair<std::string, std::string>> alternatives(const std::string& arguments) {
    if (arguments.find(' ') == arguments.npos || arguments.front() != '[' || arguments.back() != ']') return {};
    std::vector<std::pair<std::string, std::string>> found{{}};
    int depth = 0;
    bool first = true;
    for (const char c : arguments.substr(1, arguments.size() - 2)) {
        depth += c == '[' ? 1 : c == ']' ? -1 : 0;
        if (depth < 0) return {};  // "[A] [B]"
        if (depth == 0 && c == '|') {
            found.emplace_back();
            first = true;
        } else if (first && c == ' ') {
            first = false;
        } else {
            (first ? found.back().first : found.back().second) += c;
        }
    }
    return found;
}

/// The words that a key takes for which the option is short, as its description says.
std::string values_of_option(const Option& option, const std::map<std::string, Words>& values) {
    const std::string short_for = "short for --set ";
    const std::size_t at = option.description.find(short_for);
    if (at == std::string::npos) return "";
    const std::string setting = option.description.substr(at + short_for.size());
    const auto key = values.find(setting.substr(0, setting.find('=')));
    return key == values.end() ? "" : fmt::format("{}", fmt::join(key->second, " "));
}

/// What completes a word of a verb's line of usage.
std::string awaited_argument(const std::string& word, const std::map<std::string, Words>& values) {
    if (word.find("VERB") != word.npos) return fmt::format("{}", fmt::join(topics_of_help(), " "));
    if (word == "PROBLEM") return fmt::format("{}", fmt::join(values.at("problem.name"), " "));
    return awaited_for(word);
}

std::string awaits_of(const Verb& verb, const std::map<std::string, Words>& known) {
    std::string cases;
    for (const Option& option : verb.options) {
        if (option.value.empty()) continue;
        const std::string section = component_section(option.name);
        std::string awaited = section.empty() ? awaited_for(option.value) : "@components:" + section;
        if (awaited.empty()) awaited = values_of_option(option, known);
        if (awaited.empty()) awaited = "@nothing";
        std::string pattern = fmt::format("{}:--{}", verb.name, option.name);
        if (option.letter) pattern += fmt::format("|{}:-{}", verb.name, option.letter);
        cases += one_case(pattern, awaited);
    }
    if (const auto parts = alternatives(verb.arguments); !parts.empty()) {
        Words first;
        for (const auto& [word, after] : parts) {
            first.push_back(word);
            const std::string awaited = awaited_for(after);
            cases += one_case(fmt::format("{}:after-{}", verb.name, word), awaited.empty() ? "@nothing" : awaited);
        }
        return one_case(verb.name + ":0", fmt::format("{}", fmt::join(first, " "))) + cases;
    }
    std::istringstream arguments(verb.arguments);
    int position = 0;
    for (std::string word; arguments >> word; ++position) {
        const std::string awaited = awaited_argument(word, known);
        cases += one_case(fmt::format("{}:{}", verb.name, position), awaited);
        if (word.find("...") != word.npos) cases += one_case(verb.name + ":rest", awaited);
    }
    return cases;
}

}  // namespace

std::string bash_completion() {
    const std::map<std::string, Words> known = values_of_keys();
    Words names, keys;
    std::string options, awaits, values, own;
    for (const Verb& verb : verbs()) {
        names.push_back(verb.name);
        Words words{"--help"};
        for (const Option& option : verb.options) words.push_back("--" + option.name);
        options += one_case(verb.name, fmt::format("{}", fmt::join(words, " ")));
        awaits += awaits_of(verb, known);
    }
    for (const auto& [key, words] : known) {
        keys.push_back(key + "=");
        values += one_case(key, fmt::format("{}", fmt::join(words, " ")));
    }
    for (const ComponentEntry& entry : registered_components()) {
        Words mine;
        for (const ParameterSpec& spec : entry.parameters)
            if (spec.section == entry.section) mine.push_back(spec.key + "=");
        own += one_case(fmt::format("{}:{}", entry.section, entry.name), fmt::format("{}", fmt::join(mine, " ")));
    }
    return "# bash completion of hyperplane, made from its tables by `hyperplane help --completion bash`. Put it into\n"
           "#   ~/.local/share/bash-completion/completions/hyperplane\n"
           "# or into ~/.bashrc:  source <(hyperplane help --completion bash)\n" +
           fmt::format("\n_hyperplane_verbs={}\n_hyperplane_keys={}\n",
                       shell_word(fmt::format("{}", fmt::join(names, " "))),
                       shell_word(fmt::format("{}", fmt::join(keys, " ")))) +
           function("options", "$1", options) + function("awaits", "$1:$2", awaits) + function("values", "$1", values) +
           function("own", "$1", own) + machinery;
}

}  // namespace hyperplane
