// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/long_work.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <csignal>
#include <cstdlib>
#include <iterator>
#include <system_error>
#include <utility>

#include "apps/base/log.hpp"
#include "apps/run/progress.hpp"

namespace hyperplane {

LongWork::Pace LongWork::Pace::usual() {
    Pace pace;
    if (const char* asked = std::getenv("HYPERPLANE_TELL_AFTER"))
        pace.first = pace.least = std::chrono::milliseconds(std::max(1, std::atoi(asked)));
    return pace;
}

void LongWork::in_the_log(const std::string& text) {
    logging::info("{}", text);
}

LongWork::LongWork(std::string what, Say say, Pace pace, AtScope at_scope)
    : what_(std::move(what)), say_(std::move(say)), pace_(pace), at_scope_(std::move(at_scope)) {
    if (!say_) return;
    sigset_t all, before;  // signals go to the main thread
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    try {
        thread_ = std::thread([this] { tell(); });
    } catch (const std::system_error&) {  // the system starts no more threads, and the work goes on in silence
    }
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

LongWork::~LongWork() {
    {
        const std::lock_guard guard(mutex_);
        over_ = true;
    }
    ended_.notify_all();
    if (thread_.joinable()) thread_.join();
}

void LongWork::begin(const char* name) {
    if (at_scope_) at_scope_(name);
    const std::lock_guard guard(mutex_);
    open_.emplace_back(name);
}

void LongWork::end() noexcept {
    const std::lock_guard guard(mutex_);
    if (!open_.empty()) open_.pop_back();
}

void LongWork::tell() {
    std::unique_lock guard(mutex_);
    Clock::time_point next = began_ + pace_.first;
    while (!ended_.wait_until(guard, next, [this] { return over_; })) {
        try {
            const std::string text = line();
            guard.unlock();
            say_(text);
        } catch (...) {  // the work goes on in silence
            return;
        }
        guard.lock();
        const Clock::duration least = pace_.least, most = pace_.most;
        next = Clock::now() + std::clamp((Clock::now() - began_) / 4, least, most);
    }
}

std::string LongWork::line() const {
    const std::chrono::duration<double> elapsed = Clock::now() - began_;
    return fmt::format("{}{}, {} so far", what_, open_.empty() ? "" : fmt::format(" ({})", fmt::join(open_, "/")),
                       duration_text(elapsed.count()));
}

LongWorkOf::LongWorkOf(const Context& context, std::string what, LongWork::Say say, LongWork::AtScope at_scope)
    : context_(context),
      work_(std::move(what), std::move(say), LongWork::Pace::usual(), std::move(at_scope)),
      observed_(context.backend() == Backend::cpu && !context.profile()) {
    if (observed_) context_.set_profile(std::make_shared<Profile>(work_));
}

LongWorkOf::~LongWorkOf() {
    if (observed_) context_.set_profile(nullptr);
}

bool begun_by_all_ranks(std::string_view scope) {
    constexpr std::string_view names[] = {
        "setup",        "symbolic",      "factorisation", "rounding",                    // of most preconditioners
        "coarse grids", "interpolation", "galerkin",      "coarsest grid", "smoothers",  // of multigrid
        "candidates",   "sweep",         "selection",     "factors",                     // of par_ilut
    };
    return std::find(std::begin(names), std::end(names), scope) != std::end(names);
}

}  // namespace hyperplane
