// SPDX-License-Identifier: BSD-3-Clause
#include "apps/study/case_state.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string_view>

#include "apps/base/output_lock.hpp"
#include "core/error.hpp"
#include "io/checkpoint.hpp"

namespace hyperplane {
namespace {

std::string first_line(const std::string& text) {
    return text.substr(0, text.find('\n'));
}

/// The state of a case according to its record.
CaseState judge_record(const StudyCase& a_case, RecordData record) {
    const auto differences = deck_differences(a_case.parameters, record.deck_resolved, not_of_a_case);
    if (!differences.empty()) return {CaseStatus::edited, fmt::format("{}", fmt::join(differences, "; ")), {}};
    if (record.status == "preempted")
        return {CaseStatus::preempted, fmt::format("in step {}", record.state.step + 1), {}};
    if (record.status == "ok" && record.exit_code == 0) return {CaseStatus::done, "", std::move(record)};
    if (record.status != "failed")
        return {CaseStatus::damaged, fmt::format("{}: its status is '{}'", record.path, record.status), {}};
    const std::string detail = fmt::format("exit code {}: {}", record.exit_code, first_line(record.message));
    return {CaseStatus::failed, detail, std::move(record)};
}

/// Whether the file belongs to this case; false if it cannot be read.
bool is_of(const StudyCase& a_case, const std::string& path) {
    try {
        return deck_differences(a_case.parameters, read_record(path).deck_resolved, not_of_a_case).empty();
    } catch (const FileError&) {
        return false;
    }
}

/// The error with which the newest attempt at a case ended, according to its log; empty if it did not end in this way.
std::string error_at_end(const StudyCase& a_case) {
    constexpr std::string_view error = "error: ", goes_on = "info: ";
    std::string found;
    for (const std::string& line : newest_lines(a_case))
        if (line.starts_with(error))
            found = line.substr(error.size());
        else if (line.starts_with(goes_on))
            found.clear();
    return found;
}

/// The study's deck that a record names, an absolute path; empty if it is of no study or cannot be read.
std::filesystem::path study_of(const std::filesystem::path& path, std::string& as_given) {
    try {
        const RecordData record = read_record(path.string());
        const auto study = record.environment.find("study");
        if (study == record.environment.end()) return {};
        as_given = study->second;
        return std::filesystem::path(record.deck_folder) / std::filesystem::path(as_given).filename();
    } catch (const FileError&) {
        return {};
    }
}

/// Who works on the case's record, if anybody does.
std::optional<OutputLock::Holder> holder_of(const StudyCase& a_case) {
    try {
        return RecordLock::holder(a_case.record);
    } catch (const FileError&) {  // links that lead back to themselves: the case itself tells of them
        return std::nullopt;
    }
}

}  // namespace

std::string to_string(CaseStatus status) {
    switch (status) {
        case CaseStatus::done: return "done";
        case CaseStatus::failed: return "failed";
        case CaseStatus::running: return "running";
        case CaseStatus::preempted: return "preempted";
        case CaseStatus::killed: return "killed";
        case CaseStatus::unwritten: return "unwritten";
        case CaseStatus::waiting: return "waiting";
        case CaseStatus::edited: return "edited";
        case CaseStatus::damaged: return "damaged";
        case CaseStatus::refused: return "refused";
    }
    return "";
}

bool CaseState::may_pass_next_time() const {
    static const std::vector<ExitCode> passing = {ExitCode::internal, ExitCode::out_of_memory, ExitCode::file,
                                                  ExitCode::no_device};
    return status == CaseStatus::failed && record &&
           std::find(passing.begin(), passing.end(), ExitCode(record->exit_code)) != passing.end();
}

std::string other_states(const std::map<CaseStatus, int>& counts) {
    std::string text;
    for (const auto& [status, count] : counts)
        if (status != CaseStatus::done) text += fmt::format(", {} {}", count, to_string(status));
    return text;
}

CaseState look_at(const StudyCase& a_case, bool locked) {
    if (!a_case.error.empty()) return {CaseStatus::refused, a_case.error, {}};
    if (const auto holder = locked ? std::nullopt : holder_of(a_case)) return {CaseStatus::running, holder->text(), {}};
    std::error_code none;  // such links, too
    if (std::filesystem::exists(a_case.record, none)) {
        try {
            return judge_record(a_case, read_record(a_case.record));
        } catch (const FileError& error) {
            return {CaseStatus::damaged, error.what(), {}};
        }
    }
    const bool has_checkpoint = CheckpointSlots(a_case.record).exist();
    const char* const next = has_checkpoint ? "there is a checkpoint" : "begins anew";
    if (const std::string error = error_at_end(a_case); !error.empty())
        return {CaseStatus::unwritten, fmt::format("{}; {}", error, next), {}};
    if (is_of(a_case, a_case.record + ".part") || has_checkpoint) return {CaseStatus::killed, next, {}};
    return {};
}

std::vector<std::string> newest_lines(const StudyCase& a_case) {
    const std::string path = a_case.beside("log");
    std::error_code none;
    if (!std::filesystem::is_regular_file(path, none)) return {};  // a FIFO would be waited for
    std::ifstream log(path);
    log.seekg(0, std::ios::end);
    constexpr std::streamoff enough = 4096;
    log.seekg(std::max<std::streamoff>(0, std::streamoff(log.tellg()) - enough));
    std::vector<std::string> lines;
    for (std::string line; std::getline(log, line);) lines.push_back(std::move(line));
    return lines;
}

void refuse_other_study(const Study& study) {
    namespace fs = std::filesystem;
    std::error_code none;
    for (const fs::directory_entry& entry : fs::directory_iterator(study.folder, none)) {
        const std::string name = entry.path().filename().string();
        if (!entry.is_regular_file(none) || (!name.ends_with(".h5") && !name.ends_with(".h5.part"))) continue;
        std::string as_given;
        const fs::path other = study_of(entry.path(), as_given);
        if (other.empty()) continue;
        // A relative folder was found from where the deck was: both may have been moved, or copied, together.
        const bool same = (fs::path(study.folder).is_relative() && as_given == study.file) ||
                          !fs::exists(other, none) || fs::equivalent(other, study.file, none);
        if (same) return;
        throw UsageError(fmt::format(
            "{} names the folder {}, which holds records of another study, {} (such as {}); set sweep.folder to a "
            "folder of its own or, if this deck takes the place of that one, remove that one",
            study.where_folder(), study.folder, other.string(), name));
    }
}

}  // namespace hyperplane
