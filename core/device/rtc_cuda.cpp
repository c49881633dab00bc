// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <atomic>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <optional>
#include <string_view>
#include <thread>

#include "core/device/kept_code.hpp"
#include "core/device/machine_code.hpp"
#include "core/device/nvrtc.hpp"
#include "core/device/ptxas_log.hpp"
#include "core/device/rtc.hpp"
#include "core/error.hpp"
#include "core/timer.hpp"

namespace hyperplane::rtc {
namespace {

void check(nvrtcResult result, const char* what) {
    if (result != NVRTC_SUCCESS)
        throw Error(ExitCode::internal, fmt::format("{}: {}", what, Nvrtc::get().error_string(result)));
}

std::string log_of(nvrtcProgram program) {
    std::size_t size = 0;
    check(Nvrtc::get().log_size(program, &size), "nvrtcGetProgramLogSize");
    std::string log(size, '\0');
    check(Nvrtc::get().log(program, log.data()), "nvrtcGetProgramLog");
    return log;
}

/// The names in the lines `#include "name"` of a text, whatever conditions they stand under.
std::vector<std::string> includes_of(const char* text) {
    std::vector<std::string> names;
    const auto remove_blanks = [](std::string_view& line) {
        line.remove_prefix(std::min(line.find_first_not_of(" \t"), line.size()));
    };
    for_lines(text, [&names, &remove_blanks](std::string_view line) {
        for (const std::string_view word : {std::string_view("#"), std::string_view("include")}) {
            remove_blanks(line);
            if (line.substr(0, word.size()) != word) return;
            line.remove_prefix(word.size());
        }
        remove_blanks(line);
        const std::string_view name = line.substr(0, 1) == "\"" ? word_after(line, "\"", "\"") : "";
        if (!name.empty()) names.emplace_back(name);
    });
    return names;
}

/// Adds a text, which `by` includes, and those that it includes itself to `names`, unless they are there.
void add_included(const Texts& texts, std::string_view name, std::string_view by,
                  std::vector<std::string_view>& names) {
    if (std::find(names.begin(), names.end(), name) != names.end()) return;
    const auto found = texts.find(name);
    if (found == texts.end())
        throw Error(ExitCode::internal, fmt::format("{} includes {}, which is not embedded", by, name));
    names.push_back(found->first);
    for (const std::string& other : includes_of(found->second)) add_included(texts, other, found->first, names);
}

/// Lines of the source, by which profilers show it, take a seventh of a compilation. They do not change the machine
/// code.
std::vector<std::string> options_for(const std::string& architecture) {
    std::vector<std::string> options{"--gpu-architecture=" + architecture, "--std=c++20",
                                     "--device-as-default-execution-space", "--extra-device-vectorization",
                                     "--device-int128"};
    const char* lines = std::getenv("HYPERPLANE_KERNEL_LINES");
    if (lines && std::string_view(lines) == "1") options.push_back("-lineinfo");
    return options;
}

std::vector<char> compile(const CompilerInput& source, const std::string& architecture,
                          std::vector<KernelResources>* resources) {
    nvrtcProgram program = nullptr;
    check(Nvrtc::get().create(&program, source.text.c_str(), source.name.c_str(), int(source.headers.size()),
                              source.headers.data(), source.header_names.data()),
          "nvrtcCreateProgram");
    std::vector<const char*> options;
    const std::vector<std::string> common = options_for(architecture);
    for (const std::string& option : common) options.push_back(option.c_str());
    if (resources) options.push_back("--ptxas-options=-v");
    const nvrtcResult result = Nvrtc::get().compile(program, int(options.size()), options.data());
    const std::string log = log_of(program);
    if (result != NVRTC_SUCCESS) {
        Nvrtc::get().destroy(&program);
        if (const std::string why = unsupported(std::stoi(architecture.substr(3))); !why.empty())
            throw DeviceError(
                fmt::format("kernels for {}: {}; a newer CUDA toolkit may have an NVRTC for it", architecture, why));
        throw Error(ExitCode::internal, fmt::format("{} does not compile for {}:\n{}", source.name, architecture, log));
    }
    if (resources) *resources = read_ptxas_log(log);
    std::size_t size = 0;
    check(Nvrtc::get().cubin_size(program, &size), "nvrtcGetCUBINSize");
    std::vector<char> code(size);
    check(Nvrtc::get().cubin(program, code.data()), "nvrtcGetCUBIN");
    Nvrtc::get().destroy(&program);
    return code;
}

/// Machine code on disk, under all that it depends on.
KeptCode kept_code(const CompilerInput& program, const std::string& architecture) {
    int major = 0, minor = 0;
    Nvrtc::get().version(&major, &minor);
    return KeptCode(fmt::format("{} {}.{} {}", fmt::join(options_for(architecture), " "), major, minor, program.key));
}

/// The machine code that this process has, by architecture and key. Threads and processes may ask for it at the same
/// time: one of those that ask for the same compiles it, and the others wait, unless code is kept nowhere.
class MachineCode {
public:
    /// The code of a program; compiled now if it was not prepared.
    const std::vector<char>& of(const CompilerInput& program, const std::string& architecture) {
        const auto begin = std::chrono::steady_clock::now();
        const std::string name = name_of(program, architecture);
        if (const auto* code = find(name)) return *code;
        const Found found = *get(program, architecture, true);
        const std::lock_guard lock(mutex_);
        if (found != Found::kept) ++unprepared_.compiled, unprepared_.seconds += seconds_since(begin);
        return code_.at(name);
    }

    Compilation prepare(const Programs& programs, const std::string& architecture, int threads) {
        const auto begin = std::chrono::steady_clock::now();
        std::map<std::string, CompilerInput> wanted;
        for (const Program& program : programs) {
            CompilerInput input(program.source, program.definitions);
            std::string name = name_of(input, architecture);
            wanted.try_emplace(std::move(name), std::move(input));
        }
        std::vector<const CompilerInput*> inputs;
        for (const auto& [name, input] : wanted) inputs.push_back(&input);

        std::atomic<std::size_t> next = 0;
        std::atomic<int> compiled = 0, waited = 0;
        std::exception_ptr failure;
        // A thread waits at the end for programs that another one compiles now, so that ranks of a host share the work.
        const auto work = [&] {
            std::vector<const CompilerInput*> later;
            const auto take = [&](const CompilerInput& input, bool wait) {
                try {
                    const std::optional<Found> found = get(input, architecture, wait);
                    if (!found) later.push_back(&input);
                    if (found == Found::compiled) ++compiled;
                    if (found == Found::waited) ++waited;
                } catch (...) {
                    const std::lock_guard lock(mutex_);
                    failure = std::current_exception();
                }
            };
            for (std::size_t at = next++; at < inputs.size(); at = next++) take(*inputs[at], false);
            for (const CompilerInput* input : later) take(*input, true);
        };
        {
            std::vector<std::jthread> helpers;
            for (int thread = 1; thread < std::min(threads, int(inputs.size())); ++thread) helpers.emplace_back(work);
            work();
        }
        if (failure) std::rethrow_exception(failure);
        return {compiled, int(inputs.size()) - compiled - waited, waited, seconds_since(begin)};
    }

    Compilation unprepared() const {
        const std::lock_guard lock(mutex_);
        return unprepared_;
    }
    double compiler_seconds() const {
        const std::lock_guard lock(mutex_);
        return compiler_seconds_;
    }

private:
    enum class Found {
        kept,      ///< by this process or on disk
        compiled,  ///< now, by this thread
        waited,    ///< for, while another thread or process compiled it
    };

    /// Lives while a thread compiles, or waits for another that does.
    class Compiling {
    public:
        explicit Compiling(MachineCode& code) : code_(code) {
            const std::lock_guard lock(code_.mutex_);
            if (code_.compiling_++ == 0) code_.compiling_since_ = std::chrono::steady_clock::now();
        }
        ~Compiling() {
            const std::lock_guard lock(code_.mutex_);
            if (--code_.compiling_ == 0) code_.compiler_seconds_ += seconds_since(code_.compiling_since_);
        }
        Compiling(const Compiling&) = delete;
        Compiling& operator=(const Compiling&) = delete;

    private:
        MachineCode& code_;
    };

    static std::string name_of(const CompilerInput& program, const std::string& architecture) {
        return architecture + "\n" + program.key;
    }
    const std::vector<char>* find(const std::string& name) const {
        const std::lock_guard lock(mutex_);
        const auto found = code_.find(name);
        return found == code_.end() ? nullptr : &found->second;
    }
    /// Takes the code into this process. Nothing if another compiles it now and `wait` is false.
    std::optional<Found> get(const CompilerInput& program, const std::string& architecture, bool wait) {
        const std::string name = name_of(program, architecture);
        if (find(name)) return Found::kept;
        const KeptCode kept = kept_code(program, architecture);
        std::vector<char> code = kept.read();
        Found found = Found::kept;
        if (code.empty()) {
            const Compiling now(*this);
            const std::optional<KeptCode::Turn> turn = wait ? kept.wait() : kept.try_turn();
            if (!turn) return std::nullopt;
            if (find(name)) return Found::waited;
            code = kept.read();
            found = code.empty() ? Found::compiled : Found::waited;
            if (code.empty()) {
                code = compile(program, architecture, nullptr);
                kept.write(code);
            }
        }
        const std::lock_guard lock(mutex_);
        code_.try_emplace(name, std::move(code));
        return found;
    }

    mutable std::mutex mutex_;
    std::map<std::string, std::vector<char>> code_;
    Compilation unprepared_;
    int compiling_ = 0;  ///< threads that are, or wait
    std::chrono::steady_clock::time_point compiling_since_;
    double compiler_seconds_ = 0.0;
};

MachineCode& machine_code() {
    static MachineCode code;
    return code;
}

}  // namespace

CompilerInput::CompilerInput(const Source& source, const Definitions& definitions) : name(source.main) {
    const std::vector<std::string_view> included = included_texts(source);
    for (const auto& [macro, value] : definitions) text += fmt::format("#define {} {}\n", macro, value);
    text += fmt::format("#line 1 \"{}\"\n{}", name, source.texts.at(source.main));
    key = text;
    for (const std::string_view header : included) {
        if (header == source.main) continue;
        headers.push_back(source.texts.at(header));
        header_names.push_back(header.data());
        key += fmt::format("#line 1 \"{}\"\n{}", header, headers.back());
    }
}

const std::vector<char>& machine_code_of(const CompilerInput& program, const std::string& architecture) {
    return machine_code().of(program, architecture);
}

std::string array_of(const std::vector<int>& values) {
    return values.empty() ? "{0}" : fmt::format("{{{}}}", fmt::join(values, ","));
}

std::vector<std::string_view> included_texts(const Source& source) {
    std::vector<std::string_view> names;
    add_included(source.texts, source.main, "the program", names);
    return names;
}

std::string unsupported(int capability) {
    int count = 0, major = 0, minor = 0;
    check(Nvrtc::get().count_of_supported(&count), "nvrtcGetNumSupportedArchs");
    std::vector<int> known(std::size_t(count), 0);
    check(Nvrtc::get().supported(known.data()), "nvrtcGetSupportedArchs");
    check(Nvrtc::get().version(&major, &minor), "nvrtcVersion");
    std::erase_if(known, [](int one) { return one < device::least_capability; });
    if (std::find(known.begin(), known.end(), capability) != known.end()) return "";
    return fmt::format("they need compute capability {:.1f} or newer, of which NVRTC {}.{} compiles for {}",
                       0.1 * device::least_capability, major, minor, fmt::join(known, ", "));
}

std::vector<char> compile(const Source& source, const Definitions& definitions, const std::string& architecture,
                          std::vector<KernelResources>* resources) {
    return compile(CompilerInput(source, definitions), architecture, resources);
}

std::vector<KernelResources> compile(const Programs& programs, const std::string& architecture) {
    std::vector<KernelResources> all, some;
    for (const Program& program : programs) {
        compile(program.source, program.definitions, architecture, &some);
        for (KernelResources& row : some) {
            if (!program.title.empty()) row.name = program.title + " " + row.name;
            all.push_back(std::move(row));
        }
    }
    return all;
}

Compilation prepare(const Programs& programs, const std::string& architecture, int threads) {
    return machine_code().prepare(programs, architecture, threads);
}

Compilation unprepared() {
    return machine_code().unprepared();
}

double compiler_seconds() {
    return machine_code().compiler_seconds();
}

std::string architecture_of(const device::Properties& device) {
    return fmt::format("sm_{}{}", device.major, device.minor);
}

}  // namespace hyperplane::rtc
