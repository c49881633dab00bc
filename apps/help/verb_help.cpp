// SPDX-License-Identifier: BSD-3-Clause
// hyperplane help [VERB|SECTION|SECTION.KEY|COMPONENT|STENCIL|exit-codes] [--markdown|--schema|--man|--completion bash]

#include <fmt/format.h>

#include "apps/command/parse_invocation.hpp"
#include "apps/command/verbs.hpp"
#include "apps/deck/schema.hpp"
#include "apps/help/exit_codes.hpp"
#include "apps/help/json_schema.hpp"
#include "apps/help/reference.hpp"
#include "apps/help/shell_texts.hpp"
#include "apps/help/stencil_text.hpp"
#include "core/error.hpp"

namespace hyperplane {
namespace {

std::string explain_exit_codes() {
    std::string text;
    for (const ExitCodeRow& row : exit_codes())
        text += fmt::format("{:>4}  {}{}\n", int(row.code), row.meaning,
                            row.advice.empty() ? "" : fmt::format("\n      {}", row.advice));
    return text;
}

[[noreturn]] void unknown(const std::string& word) {
    std::vector<std::string> known{"exit-codes"};
    const DeckSchema schema = deck_schema();
    for (const Verb& verb : verbs()) known.push_back(verb.name);
    for (const Stencil& stencil : Stencil::ready_made()) known.push_back(stencil.name());
    for (const ParameterSpec& spec : schema.common) known.insert(known.end(), {spec.section, spec.name(), spec.key});
    for (const auto& component : schema.components) {
        known.push_back(component.name);
        for (const ParameterSpec& spec : component.parameters) known.insert(known.end(), {spec.name(), spec.key});
    }
    std::erase(known, word);
    const std::string near = nearest(word, known);
    throw UsageError(fmt::format("nothing is called '{}'{} (hyperplane --help, hyperplane list)", word,
                                 near.empty() ? "" : fmt::format("; did you mean {}?", near)));
}

/// Throws UsageError if several texts are asked for.
void require_one_text(const Invocation& invocation) {
    std::vector<std::string> asked = invocation.arguments;
    for (const auto& [option, values] : invocation.options) asked.push_back("--" + option);
    if (asked.size() > 1)
        throw UsageError(
            fmt::format("help: each of {} asks for a text of its own, and one is printed; give one of them",
                        fmt::join(asked, ", ")));
}

}  // namespace

int help_verb(const Invocation& invocation) {
    require_one_text(invocation);
    if (invocation.has("markdown")) {
        fmt::print("{}", deck_reference());
        return 0;
    }
    if (invocation.has("schema")) {
        fmt::print("{}", deck_json_schema());
        return 0;
    }
    if (invocation.has("man")) {
        fmt::print("{}", man_page());
        return 0;
    }
    if (invocation.has("completion")) {
        if (invocation.value("completion") != "bash")
            throw UsageError(
                fmt::format("--completion: there is a script for bash, none for '{}'; zsh reads bash's after "
                            "autoload bashcompinit && bashcompinit",
                            invocation.value("completion")));
        fmt::print("{}", bash_completion());
        return 0;
    }
    if (invocation.arguments.empty()) {
        fmt::print("{}\nhyperplane help SECTION, SECTION.KEY or COMPONENT explains what a deck may hold.\n",
                   program_usage());
        return 0;
    }
    // The same word may name several of these, for instance a verb and a section.
    const std::string& word = invocation.arguments[0];
    std::string text;
    for (const Verb& verb : verbs())
        if (verb.name == word) text += usage(verb);
    if (word == "exit-codes") text += explain_exit_codes();
    for (const auto& found :
         {explain_section_keys(word), explain_key(word), explain_component(word), explain_stencil(word)})
        if (found) text += (text.empty() ? "" : "\n") + *found;
    if (text.empty()) unknown(word);
    fmt::print("{}", text);
    return 0;
}

}  // namespace hyperplane
