// SPDX-License-Identifier: BSD-3-Clause
// hyperplane warm DECK...: compiles the kernels of decks and studies in advance

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <filesystem>

#include "apps/command/verbs.hpp"
#include "apps/deck/named_deck.hpp"
#include "apps/run/build_case.hpp"
#include "apps/run/kernels.hpp"
#include "apps/study/study.hpp"
#include "core/counted.hpp"
#include "core/device/device.hpp"
#include "core/device/kept_code.hpp"

namespace hyperplane {
namespace {

/// "80,90" -> {"sm_80", "sm_90"}
std::vector<std::string> architectures_of(const std::string& list) {
    std::vector<std::string> all;
    for (std::size_t begin = 0; begin <= list.size();) {
        const std::size_t end = std::min(list.find(',', begin), list.size());
        const std::string word = list.substr(begin, end - begin);
        if (word.size() < 2 || word.size() > 3 || word.find_first_not_of("0123456789") != word.npos)
            throw UsageError(
                fmt::format("--arch '{}': expected compute capabilities without a point, such as 80,90,100", list));
        const int capability = std::stoi(word);
        if (const std::string why = rtc::unsupported(capability); !why.empty())
            throw UsageError(fmt::format("--arch {}: kernels cannot be compiled for it; {}", word, why));
        all.push_back(fmt::format("sm_{}", capability));
        begin = end + 1;
    }
    return all;
}

/// The architectures that --arch names, else that of the GPU that is here.
std::vector<std::string> chosen_architectures(const Invocation& invocation) {
    if (invocation.has("arch")) return architectures_of(invocation.value("arch"));
    try {
        return {rtc::architecture_of(device::properties_of(0))};
    } catch (const DeviceError& error) {
        throw UsageError(fmt::format("{}; name the GPUs that the kernels are for: --arch 80,90,100", error.what()));
    }
}

/// Throws FileError if machine code cannot be kept.
std::string writable_folder() {
    const std::string folder = rtc::folder_of_kept_code().string();
    if (folder.empty())
        throw FileError("machine code would be kept nowhere: set HOME, XDG_CACHE_HOME or HYPERPLANE_KERNEL_CACHE");
    std::error_code error;
    std::filesystem::create_directories(folder, error);
    if (access(folder.c_str(), W_OK) != 0)
        throw FileError(
            fmt::format("{}: machine code cannot be kept there; HYPERPLANE_KERNEL_CACHE names another folder", folder));
    return folder;
}

/// The kernels of a deck as a GPU would run it. Without a GPU the layout of the vectors is not known unless the deck
/// says it, so products are compiled for both.
void add_programs(Deck deck, rtc::Programs& programs) {
    std::erase_if(deck.entries,
                  [](const DeckEntry& entry) { return entry.section == "device" && entry.key != "layout"; });
    const Case a_case = build_case(std::move(deck), {"device.backend=cpu"});
    const bool known = a_case.parameters.text("device", "layout") != "auto";
    const std::vector<LayoutKind> both{LayoutKind::natural, LayoutKind::hyperplane};
    for (rtc::Program& program : programs_of(a_case, known ? std::vector{a_case.space.layout().kind()} : both))
        programs.push_back(std::move(program));
}

void add_programs(const std::string& file, rtc::Programs& programs) {
    const Deck deck = read_deck_or_record(file);
    const bool is_study = std::any_of(deck.sections.begin(), deck.sections.end(),
                                      [](const DeckLine& section) { return section.text == "sweep"; });
    if (!is_study) return add_programs(deck, programs);
    for (const StudyCase& one : read_study(file).cases) {
        if (!one.error.empty()) throw UsageError(fmt::format("{}, case {}: {}", file, one.name, one.error));
        add_programs(one.deck, programs);
    }
}

}  // namespace

int warm_verb(const Invocation& invocation) {
    if constexpr (cuda_built) {
        const std::vector<std::string> architectures = chosen_architectures(invocation);
        const std::string folder = writable_folder();
        rtc::Programs programs;
        for (const std::string& file : invocation.arguments) add_programs(file, programs);
        const int threads = Context::cpu().threads();
        for (const std::string& architecture : architectures) {
            const rtc::Compilation done = rtc::prepare(programs, architecture, threads);
            fmt::print("{}: {} compiled in {:.2g} s, {} kept from earlier{}\n", architecture,
                       counted(done.compiled, "program"), done.seconds, done.kept,
                       done.waited ? fmt::format(", {} compiled by other processes", done.waited) : "");
        }
        fmt::print("machine code is in {}\n", folder);
        return int(ExitCode::ok);
    }
    throw DeviceError("this program was built without CUDA, so there are no kernels to compile");
}

}  // namespace hyperplane
