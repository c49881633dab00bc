// hyperplane: the program. Results go to stdout, the log to stderr; exit codes are in core/error.hpp.

#include <fmt/format.h>
#include <spdlog/sinks/stdout_color_sinks.h>
#include <spdlog/spdlog.h>

#include <algorithm>
#include <csignal>
#include <cstdio>
#include <new>
#include <nlohmann/json.hpp>
#include <system_error>

#include "apps/build_info.hpp"
#include "apps/verbs.hpp"
#include "core/error.hpp"

namespace hyperplane {
namespace {

void start_log() {
    auto log = spdlog::stderr_color_st("hyperplane");
    log->set_pattern("%^%l:%$ %v");
    spdlog::set_default_logger(std::move(log));
}

/// Says what went wrong: once on stderr, and as an object on stdout for scripts.
int fail(ExitCode code, const std::string& message, bool json) {
    spdlog::error("{}", message);
    if (json) {
        const nlohmann::json object = {{"status", "failed"}, {"exit_code", int(code)}, {"message", message}};
        std::printf("%s\n", object.dump(2, ' ', false, nlohmann::json::error_handler_t::replace).c_str());
    }
    return int(code);
}

int dispatch(const std::vector<std::string>& words) {
    if (words.empty()) throw UsageError("a verb is missing\n" + program_usage());
    if (words[0] == "--help" || words[0] == "-h") {
        fmt::print("{}", program_usage());
        return 0;
    }
    if (words[0] == "--version") {
        fmt::print("hyperplane {} ({})\n", build_info().version, build_info().git_sha);
        return 0;
    }
    const Verb& verb = find_verb(words[0]);
    const std::vector<std::string> rest(words.begin() + 1, words.end());
    if (std::any_of(rest.begin(), rest.end(), [](auto& word) { return word == "--help" || word == "-h"; })) {
        fmt::print("{}", usage(verb));
        return 0;
    }
    const Invocation invocation = parse_invocation(verb, rest);
    if (invocation.has("quiet")) spdlog::set_level(spdlog::level::warn);
    if (invocation.has("verbose")) spdlog::set_level(spdlog::level::debug);
    return verb.run(invocation);
}

int run_program(const std::vector<std::string>& words) {
    // A full file size limit or a closed pipe shall be a failed write, which is reported, not a death.
    std::signal(SIGXFSZ, SIG_IGN);
    std::signal(SIGPIPE, SIG_IGN);
    start_log();
    const bool json = std::find(words.begin(), words.end(), "--json") != words.end();
    try {
        const int status = dispatch(words);
        if (std::fflush(stdout) != 0) throw FileError("standard output cannot be written");
        return status;
    } catch (const Error& error) {
        return fail(error.code(), error.what(), json);
    } catch (const std::bad_alloc&) {
        return fail(ExitCode::out_of_memory, "out of memory (hyperplane check DECK predicts what a deck needs)", json);
    } catch (const std::system_error& error) {
        return fail(ExitCode::file, fmt::format("standard output cannot be written: {}", error.code().message()), false);
    } catch (const std::exception& error) {
        return fail(ExitCode::internal,
                    fmt::format("internal error: {}. This is a bug of hyperplane {} ({}); please report it with your deck.",
                                error.what(), build_info().version, build_info().git_sha),
                    json);
    }
}

}  // namespace
}  // namespace hyperplane

int main(int argc, char** argv) { return hyperplane::run_program({argv + 1, argv + argc}); }
