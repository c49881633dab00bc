// hyperplane help [VERB|SECTION|SECTION.KEY|COMPONENT] [--markdown]

#include <fmt/format.h>

#include "apps/deck_schema.hpp"
#include "apps/reference.hpp"
#include "apps/verbs.hpp"
#include "core/error.hpp"

namespace hyperplane {
namespace {

[[noreturn]] void unknown(const std::string& word) {
    std::vector<std::string> known;
    const DeckSchema schema = deck_schema();
    for (const Verb& verb : verbs()) known.push_back(verb.name);
    for (const ParameterSpec& spec : schema.common) known.insert(known.end(), {spec.section, spec.name()});
    for (const auto& component : schema.components) {
        known.push_back(component.name);
        for (const ParameterSpec& spec : component.parameters) known.push_back(spec.name());
    }
    const std::string near = nearest(word, known);
    throw UsageError(fmt::format("nothing is called '{}'{} (hyperplane --help, hyperplane list)", word,
                                 near.empty() ? "" : fmt::format("; did you mean {}?", near)));
}

}  // namespace

int help_verb(const Invocation& invocation) {
    if (invocation.has("markdown")) {
        fmt::print("{}", deck_reference());
        return 0;
    }
    if (invocation.arguments.empty()) {
        fmt::print("{}\nhyperplane help SECTION, SECTION.KEY or COMPONENT explains what a deck may hold.\n",
                   program_usage());
        return 0;
    }
    // A word may be more than one of these, as "problem.name" never is but a verb and a section could be.
    const std::string& word = invocation.arguments[0];
    std::string text;
    for (const Verb& verb : verbs())
        if (verb.name == word) text += usage(verb);
    for (const auto& found : {explain_section_keys(word), explain_key(word), explain_component(word)})
        if (found) text += (text.empty() ? "" : "\n") + *found;
    if (text.empty()) unknown(word);
    fmt::print("{}", text);
    return 0;
}

}  // namespace hyperplane
