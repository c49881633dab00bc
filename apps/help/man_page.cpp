// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include "apps/base/build_info.hpp"
#include "apps/command/verbs.hpp"
#include "apps/deck/schema.hpp"
#include "apps/help/exit_codes.hpp"
#include "apps/help/reference.hpp"
#include "apps/help/shell_texts.hpp"

namespace hyperplane {
namespace {

/// `text` for roff, in which backslashes, hyphens and leading dots are escaped.
std::string roff(const std::string& text) {
    std::string safe;
    for (std::size_t at = 0; at < text.size(); ++at) {
        const char c = text[at];
        const bool begins = at == 0 || text[at - 1] == '\n';
        if (begins && (c == '.' || c == '\'')) safe += "\\&";
        if (c == '\\')
            safe += "\\e";
        else if (c == '-')
            safe += "\\-";
        else if (c == '^')
            safe += "\\(ha";
        else if (c == '~')
            safe += "\\(ti";
        else
            safe += c;
    }
    return safe;
}

/// `text` as paragraphs, which are separated by empty lines.
std::string paragraphs(const std::string& text) {
    std::string safe = roff(text);
    for (std::size_t at = 0; (at = safe.find("\n\n", at)) != std::string::npos;) safe.replace(at, 2, "\n.PP\n");
    return safe + "\n";
}

std::string heading(const std::string& text) {
    return fmt::format(".SH \"{}\"\n", roff(text));
}

/// A tagged paragraph: the tag in bold, `after` behind it, then the text.
std::string tagged(const std::string& tag, const std::string& after, const std::string& text) {
    const std::string rest = after.empty() ? "" : fmt::format(" \\fR{}", roff(after));
    return fmt::format(".TP\n\\fB{}{}\\fR\n{}\n", roff(tag), rest, roff(text));
}

std::string verb_text(const Verb& verb) {
    std::string text = fmt::format(".SS \"{}\"\n.B hyperplane {}\n{}{}\n.PP\n{}.\n", roff(verb.name), roff(verb.name),
                                   verb.options.empty() ? "" : "[OPTIONS] ", roff(verb.arguments), roff(verb.summary));
    for (const Option& option : verb.options) {
        const std::string letter = option.letter ? fmt::format("-{}, ", option.letter) : "";
        text += tagged(fmt::format("{}--{}", letter, option.name), option.value,
                       option.description + (option.repeatable ? " (repeatable)." : "."));
    }
    return text;
}

std::string roff_keys(const ParameterTable& keys) {
    std::string text;
    for (const ParameterSpec& spec : keys)
        text +=
            tagged(spec.key, fmt::format("= {}; {}", describe_domain(spec), default_text(spec)), describe(spec) + ".");
    return text;
}

std::string section_text(const std::string& section) {
    std::string text =
        fmt::format(".SS \"[{}]\"\n{}\n{}", section, roff(explain_section(section)), roff_keys(common_keys(section)));
    for (const ComponentEntry& entry : registered_components()) {
        if (entry.section != section) continue;
        text += fmt::format(".PP\n.I \"{} = {}\"\n.br\n{}.\n.PP\n{}{}", section + ".name", entry.name,
                            roff(entry.summary), paragraphs(entry.explanation), roff_keys(entry.parameters));
    }
    return text;
}

std::string beginning() {
    return ".\\\" Made from the program's tables by `hyperplane help --man`.\n" +
           fmt::format(".TH HYPERPLANE 1 \"{}\" \"hyperplane {}\" \"User Commands\"\n", build_info().date,
                       build_info().version) +
           heading("NAME") + "hyperplane \\- preconditioned Krylov solves of PDEs on structured grids\n" +
           heading("SYNOPSIS") + ".B hyperplane\n.I VERB\n[OPTIONS] [ARGUMENTS]\n" + heading("DESCRIPTION") +
           "Takes an input deck, assembles the sparse systems of a PDE on a structured grid, solves them with a\n"
           "preconditioned Krylov method, and records in HDF5 how they converged and what that cost.\n"
           "The true residual decides convergence.\n"
           "Results go to standard output, the log to standard error.\n";
}

std::string ending() {
    std::string text = heading("EXIT STATUS");
    for (const ExitCodeRow& row : exit_codes())
        text += tagged(fmt::format("{}", int(row.code)), "",
                       row.meaning + (row.advice.empty() ? "." : ": " + row.advice + "."));
    return text + heading("ENVIRONMENT") +
           tagged("OMP_NUM_THREADS", "", "threads, where device.threads = 0. Results do not depend on it.") +
           heading("FILES") +
           tagged("NAME.h5", "", "the record of the deck NAME.ini, beside NAME.h5.part while the run goes on.") +
           heading("EXAMPLES") +
           ".nf\nhyperplane run case.ini \\-\\-set grid.cells=64\nhyperplane report case.h5 \\-o case.html\n"
           "hyperplane help solver.rtol\nsource <(hyperplane help \\-\\-completion bash)\n.fi\n";
}

}  // namespace

std::string man_page() {
    std::string text = beginning() + heading("VERBS");
    for (const Verb& verb : verbs()) text += verb_text(verb);
    text += heading("THE DECK") +
            "An INI file: sections in brackets, a key and its value a line; ; and # begin comments.\n"
            "Each key may be overridden by\n.BR \"\\-\\-set SECTION.KEY=VALUE\" .\n";
    for (const std::string& section : deck_sections()) text += section_text(section);
    return text + ending();
}

}  // namespace hyperplane
