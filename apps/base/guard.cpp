// SPDX-License-Identifier: BSD-3-Clause
#include "apps/base/guard.hpp"

#include <fmt/format.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <new>
#include <nlohmann/json.hpp>
#include <string_view>
#include <system_error>

#include "apps/base/build_info.hpp"
#include "apps/base/json_text.hpp"
#include "apps/base/log.hpp"
#include "core/error.hpp"

namespace hyperplane {
namespace {

int fail(ExitCode code, const std::string& message, bool json) {
    logging::error("{}", message);
    if (json)
        std::fputs(to_text({{"status", "failed"}, {"exit_code", int(code)}, {"message", message}}).c_str(), stdout);
    return int(code);
}

/// Says that standard output cannot be written. This is not said to a reader that has closed the pipe, as `head` does:
/// it has what it wants.
std::string unprinted(int error) {
    return fmt::format("standard output cannot be written{}{}", error != 0 ? ": " : "",
                       error != 0 ? std::strerror(error) : "");
}

}  // namespace

int guarded(bool json, const std::function<int()>& body) {
    try {
        const int status = body();
        errno = 0;
        if (std::fflush(stdout) != 0 || std::ferror(stdout)) {
            if (errno == EPIPE) return int(ExitCode::file);
            throw FileError(unprinted(errno));
        }
        return status;
    } catch (const Error& error) {
        return fail(error.code(), error.what(), json);
    } catch (const std::bad_alloc&) {
        return fail(ExitCode::out_of_memory,
                    "out of memory: take a smaller grid or matrix, or a machine with more memory", json);
    } catch (const std::filesystem::filesystem_error& error) {
        return fail(ExitCode::file, fmt::format("{}: {}", error.path1().string(), error.code().message()), json);
    } catch (const std::system_error& error) {
        const bool printing = std::string_view(error.what()).starts_with("cannot write to file");  // of fmt::print
        if (printing && error.code().value() == EPIPE) return int(ExitCode::file);
        if (printing) return fail(ExitCode::file, unprinted(error.code().value()), json);
        return fail(ExitCode::file, fmt::format("a file or standard output failed: {}", error.what()), json);
    } catch (const std::exception& error) {
        return fail(
            ExitCode::internal,
            fmt::format("internal error: {}. This is a bug of hyperplane {} ({}); please report it with your deck.",
                        error.what(), build_info().version, build_info().git_sha),
            json);
    }
}

}  // namespace hyperplane
