// SPDX-License-Identifier: BSD-3-Clause
#include "apps/command/dispatch.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <csignal>
#include <optional>

#include "apps/base/build_info.hpp"
#include "apps/base/guard.hpp"
#include "apps/base/launched.hpp"
#include "apps/base/log.hpp"
#include "apps/base/signals.hpp"
#include "apps/command/parse_invocation.hpp"
#include "apps/command/verbs.hpp"
#include "apps/run/launch.hpp"
#include "core/error.hpp"

namespace hyperplane {
namespace {

/// The verb and the options that a command line asks for.
struct Asked {
    const Verb* verb;
    Invocation invocation;
};

/// Prints once where several processes were started together.
void show(const std::string& text) {
    if (launched_number() == 0) fmt::print("{}", text);
}

/// Returns nothing if the command line asks for no more than a text, which is shown. Throws UsageError.
std::optional<Asked> understand(const std::vector<std::string>& words) {
    if (words.empty()) throw UsageError("a verb is missing\n" + program_usage());
    if (words[0] == "--help" || words[0] == "-h") {
        show(program_usage());
        return std::nullopt;
    }
    if (words[0] == "--version") {
        show(fmt::format("hyperplane {} ({})\n", build_info().version, build_info().git_sha));
        return std::nullopt;
    }
    const Verb& verb = find_verb(words[0]);
    const std::vector<std::string> rest(words.begin() + 1, words.end());
    if (std::any_of(rest.begin(), rest.end(), [](auto& word) { return word == "--help" || word == "-h"; })) {
        show(usage(verb));
        return std::nullopt;
    }
    return Asked{&verb, parse_invocation(verb, rest)};
}

int dispatch(const std::vector<std::string>& words) {
    std::optional<Asked> asked;
    try {
        asked = understand(words);
    } catch (const UsageError& error) {  // all processes that were started together meet it, and one says so
        return on_launched(ask_for_json(words), [&](const RankOrNone&) -> int { throw UsageError(error); });
    }
    if (!asked) return 0;
    const Verb& verb = *asked->verb;
    const Invocation& invocation = asked->invocation;
    if (invocation.has("quiet")) logging::set_level(logging::Level::warning);
    if (invocation.has("verbose")) logging::set_level(logging::Level::debug);
    if (verb.in_one_process && launched_processes() > 1) return refuse_processes(verb, invocation.prints_json());
    if (!verb.stops_well) release_stop_signals();
    return verb.run(invocation);
}

}  // namespace

int run_command_line(const std::vector<std::string>& words) {
    // A file size limit or a closed pipe must not end the program by a signal, but fail the write, which is reported.
    std::signal(SIGXFSZ, SIG_IGN);
    std::signal(SIGPIPE, SIG_IGN);
    start_log();
    return guarded(ask_for_json(words), [&] { return dispatch(words); });
}

}  // namespace hyperplane
