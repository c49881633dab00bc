// SPDX-License-Identifier: BSD-3-Clause
#include "apps/base/output_lock.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <ctime>
#include <filesystem>
#include <sstream>

#include "apps/base/environment.hpp"
#include "apps/base/launched.hpp"
#include "apps/base/log.hpp"
#include "apps/base/quoting.hpp"
#include "apps/base/signals.hpp"
#include "core/error.hpp"
#include "io/companions.hpp"

namespace hyperplane {
namespace {

constexpr const char* lock_heading = "hyperplane lock";
constexpr auto pause = std::chrono::milliseconds(100);

/// Whether the open file is still the file of that name, which the previous holder may have removed.
bool is_named(int fd, const std::string& path) {
    struct stat open_file, named;
    return fstat(fd, &open_file) == 0 && stat(path.c_str(), &named) == 0 && open_file.st_ino == named.st_ino &&
           open_file.st_dev == named.st_dev;
}

std::string text_of(int fd) {
    std::string text(4096, '\0');
    const ssize_t got = pread(fd, text.data(), text.size(), 0);
    text.resize(std::size_t(std::max<ssize_t>(got, 0)));
    return text;
}

/// The holder named in a lock's file; without a host if the file is empty.
OutputLock::Holder parse(const std::string& text) {
    OutputLock::Holder holder;
    std::istringstream lines(text);
    for (std::string line; std::getline(lines, line);) {
        const std::size_t blank = line.find(' ');
        const std::string key = line.substr(0, blank), value = blank == line.npos ? "" : line.substr(blank + 1);
        if (key == "host") holder.host = value;
        if (key == "process") holder.process = std::atol(value.c_str());
        if (key == "since") holder.since = value;
        if (key == "command") holder.command = value;
    }
    return holder;
}

/// The file's time on its server. The file is opened again, so that the answer is not from a cache.
std::optional<timespec> time_of(const std::string& path) {
    const int fd = open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW);
    struct stat file;
    const bool known = fd >= 0 && fstat(fd, &file) == 0;
    if (fd >= 0) close(fd);
    return known ? std::optional(file.st_mtim) : std::nullopt;
}

bool equal(const timespec& a, const timespec& b) {
    return a.tv_sec == b.tv_sec && a.tv_nsec == b.tv_nsec;
}

/// Whether the holder sets the file's time within `patience`.
bool lives(const std::string& path, std::chrono::milliseconds patience) {
    const auto first = time_of(path);
    const auto end = std::chrono::steady_clock::now() + patience;
    while (first && std::chrono::steady_clock::now() < end) {
        std::this_thread::sleep_for(pause);
        const auto now = time_of(path);
        if (!now || !equal(*now, *first)) return now.has_value();
    }
    return false;
}

/// The beginning of a message about an output.
std::string before(const std::string& key) {
    return key.empty() ? "" : key + ": ";
}

/// The lock beside an output; links are not followed.
std::string lock_beside(const std::string& output) {
    return stem_of(output) + ".lock";
}

/// An output, for messages.
std::string shown_output(const std::string& output, const std::string& file) {
    return file == output ? output : fmt::format("{} (a link to {})", output, file);
}

OutputLock::Request request_of(const std::string& output, const Invocation& invocation, const std::string& key) {
    OutputLock::Request request = lock_request(output, invocation);
    request.key = key;
    return request;
}

}  // namespace

std::string OutputLock::Holder::text() const {
    if (host.empty()) return "a process that has not written its name yet";
    return fmt::format("process {} on {} (hyperplane {}), since {}", process, one_line(host), one_line(command),
                       one_line(since));
}

OutputLock::OutputLock(const Request& request, Pace pace)
    : path_(resolve_links(request.path)), command_(request.command), key_(request.key), pace_(pace) {
    guard_output(path_, request.path, FileKind::lock, request.overwrite);
    bool told = false;
    while (const auto holder = try_to_take()) {
        const std::string who = fmt::format("{} is being worked on by {}", request.what, holder->text());
        if (!request.wait) throw LockedError(who + "; --wait waits until it has ended" + about_srun_without_mpi());
        if (request.stop()) throw LockedError(who + "; stopped while waiting for it");
        if (!std::exchange(told, true)) logging::info("{}; waiting until it has ended", who);
        std::this_thread::sleep_for(pause);
    }
    write_holder();
    sigset_t all, before;  // signals go to the main thread
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    heart_ = std::thread([this] { beat(pace_.beat); });
    pthread_sigmask(SIG_SETMASK, &before, nullptr);
}

OutputLock::~OutputLock() {
    {
        const std::lock_guard guard(mutex_);
        over_ = true;
    }
    ended_.notify_all();
    heart_.join();
    if (is_named(fd_, path_)) unlink(path_.c_str());
    close(fd_);
}

void OutputLock::require_folder(const std::string& path, const std::string& key) {
    const std::filesystem::path folder = std::filesystem::path(resolve_links(path)).parent_path();
    std::error_code unknown;
    if (folder.empty() || std::filesystem::exists(folder, unknown) || unknown) return;
    throw FileError(
        fmt::format("{}the folder {} does not exist, so no output can be written there; make it, or name another one",
                    before(key), folder.string()));
}

OutputLock::Attempt OutputLock::open_file() {
    Attempt attempt;
    fd_ = open(path_.c_str(), O_CREAT | O_EXCL | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0666);
    attempt.created = fd_ >= 0;
    if (fd_ < 0 && errno == EEXIST) {
        fd_ = open(path_.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
        if (fd_ < 0 && errno == ENOENT) return attempt;  // removed since
    }
    if (const int why = errno; fd_ < 0) {
        if (why == ENOENT) require_folder(path_, key_);
        throw FileError(
            fmt::format("{}{}: cannot be made: {}; it is the lock of the output, which must be in a folder where "
                        "files can be made: name another one",
                        before(key_), path_, std::strerror(why)));
    }
    attempt.open = true;
    attempt.locked = flock(fd_, LOCK_EX | LOCK_NB) == 0;
    const int error = attempt.locked ? 0 : errno;
    attempt.flock_works = error == 0 || error == EWOULDBLOCK || error == EINTR;
    const bool unknown = error == ENOLCK || error == EOPNOTSUPP || error == EINVAL || error == ENOSYS;
    if (!attempt.flock_works && !unknown) {
        close(fd_);
        throw FileError(fmt::format("{}: cannot be locked: {}", path_, std::strerror(error)));
    }
    return attempt;
}

std::optional<OutputLock::Holder> OutputLock::try_to_take() {
    constexpr int attempts = 10;  // holder() also locks it for a moment
    Holder holder;
    for (int at = 0; at < attempts; ++at, std::this_thread::sleep_for(std::chrono::milliseconds(20))) {
        const Attempt attempt = open_file();
        if (!attempt.open) continue;
        holder = parse(text_of(fd_));
        if (attempt.locked || !attempt.flock_works) {
            if (!attempt.created && holder.host.empty()) {  // its creator has not written yet, or has died
                std::this_thread::sleep_for(2 * pause);
                holder = parse(text_of(fd_));
            }
            const bool elsewhere = !holder.host.empty() && (holder.host != host_name() || !attempt.flock_works);
            const bool alive = elsewhere && lives(path_, pace_.patience);
            const bool ours = is_named(fd_, path_);
            if (ours && !elsewhere) return std::nullopt;
            if (ours && !alive) unlink(path_.c_str());  // it is then created again, which only one process can do
            close(fd_);
            if (alive) return holder;
            continue;
        }
        close(fd_);
    }
    return holder;
}

void OutputLock::write_holder() const {
    const std::string text = fmt::format("{}\nhost {}\nprocess {}\nsince {}\ncommand {}\n", lock_heading,
                                         one_line(host_name()), getpid(), now_in_utc(), one_line(command_));
    if (ftruncate(fd_, 0) != 0 || pwrite(fd_, text.data(), text.size(), 0) != ssize_t(text.size())) {
        const int error = errno;
        unlink(path_.c_str());
        close(fd_);
        throw FileError(fmt::format("{}: cannot be written: {}", path_, std::strerror(error)));
    }
}

void OutputLock::beat(std::chrono::milliseconds interval) {
    std::unique_lock guard(mutex_);
    while (!ended_.wait_for(guard, interval, [this] { return over_; })) futimens(fd_, nullptr);
}

std::optional<OutputLock::Holder> OutputLock::holder(const std::string& path) {
    constexpr std::time_t silent = 60;  // seconds
    const int fd = open(path.c_str(), O_RDWR | O_CLOEXEC | O_NOFOLLOW);
    if (fd < 0) return std::nullopt;
    const bool held = flock(fd, LOCK_SH | LOCK_NB) != 0 && errno == EWOULDBLOCK;
    const Holder found = parse(text_of(fd));
    struct stat file;
    const bool recent = fstat(fd, &file) == 0 && std::abs(std::time(nullptr) - file.st_mtime) < silent;
    const bool is_lock = is_own(path, FileKind::lock);
    close(fd);
    const bool elsewhere = !found.host.empty() && found.host != host_name();
    return is_lock && (held || (elsewhere && recent)) ? std::optional(found) : std::nullopt;
}

OutputLock::Request lock_request(const std::string& output, const Invocation& invocation) {
    return {.path = lock_beside(output),
            .what = shown_output(output, resolve_links(output)),
            .command = invocation.verb + (invocation.arguments.empty() ? "" : " " + invocation.arguments.back()),
            .overwrite = invocation.overwrite(),
            .wait = invocation.has("wait"),
            .stop = [] { return stop_signal() != 0; }};
}

RecordLock::RecordLock(const std::string& output, const Invocation& invocation, const std::string& key)
    : request_(request_of(output, invocation, key)), output_(output), of_name_(request_) {
    lock_file();  // only now, since the link may have been changed while this process waited for the lock of its name
}

void RecordLock::lock_file() {
    file_ = resolve_links(output_);
    if (file_ == output_) return;
    OutputLock::Request request = request_;
    request.path = lock_beside(file_);
    request.what = shown_output(output_, file_);
    of_file_.emplace(request);
}

std::string RecordLock::to_write() {
    const std::string now = resolve_links(output_);
    if (now == output_ || now == file_) return output_;
    if (file_ != output_) {
        logging::warn("{} leads to {} now; {} is written, to which it led at the beginning", output_, now, file_);
        return file_;
    }
    lock_file();
    return output_;
}

std::vector<std::string> RecordLock::files(const std::string& output) {
    const std::string file = resolve_links(output);
    if (file == output) return {lock_beside(output)};
    return {lock_beside(output), lock_beside(file)};
}

std::optional<OutputLock::Holder> RecordLock::holder(const std::string& output) {
    for (const std::string& file : files(output))
        if (auto found = OutputLock::holder(file)) return found;
    return std::nullopt;
}

}  // namespace hyperplane
