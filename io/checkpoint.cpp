// SPDX-License-Identifier: BSD-3-Clause
#include "io/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <tuple>

#include "core/error.hpp"
#include "io/companions.hpp"
#include "io/sealed_file.hpp"

namespace hyperplane {
namespace {

/// The sequence number of a slot that is whole; throws FileError.
Index sequence_of(const std::string& path) {
    const auto seal = verify_seal(path);
    if (!seal || seal->kind != FileKind::checkpoint) throw FileError(path + ": is no checkpoint");
    return seal->sequence;
}

RecordData read_state(const std::string& path) {
    RecordData record = read_record(path);
    if (!record.has_state) throw FileError(path + ": holds no state");
    return record;
}

}  // namespace

CheckpointSlots::CheckpointSlots(const std::string& record_path, Overwrite overwrite) : overwrite_(overwrite) {
    for (int slot : {0, 1}) paths_.push_back(fmt::format("{}.{}.checkpoint", stem_of(record_path), slot));
}

bool CheckpointSlots::exist() const {
    return std::any_of(paths_.begin(), paths_.end(), [](auto& path) { return std::filesystem::exists(path); });
}

CheckpointSlots::Found CheckpointSlots::read() const {
    Found found;
    std::vector<std::pair<Index, RecordData>> valid;
    for (const std::string& path : paths_) {
        if (!std::filesystem::exists(path)) continue;
        try {
            const Index sequence = sequence_of(path);
            valid.emplace_back(sequence, read_state(path));
        } catch (const FileError& error) {
            found.damaged.push_back(error.what());
        }
    }
    std::sort(valid.begin(), valid.end(), [](auto& a, auto& b) { return a.first > b.first; });
    for (auto& [sequence, record] : valid) found.valid.push_back(std::move(record));
    return found;
}

void CheckpointSlots::look_for_newest() {
    sequence_ = 0;
    for (int slot : {0, 1}) {
        if (!std::filesystem::exists(paths_[slot])) continue;
        try {
            if (const Index sequence = sequence_of(paths_[slot]); sequence > sequence_)
                std::tie(sequence_, newest_) = std::pair(sequence, slot);
        } catch (const FileError&) {  // a damaged slot is the one to write over
        }
    }
}

void CheckpointSlots::write(const RecordWriter& record, const RunState& state) {
    if (sequence_ < 0) look_for_newest();
    const int slot = 1 - newest_;
    record.write_checkpoint(paths_[slot], sequence_ + 1, state, overwrite_);
    ++sequence_;
    newest_ = slot;
}

void CheckpointSlots::guard() const {
    for (const std::string& path : paths_) guard_output(path, FileKind::checkpoint, overwrite_);
}

void CheckpointSlots::remove() const {
    for (const std::string& path : paths_) remove_own(path, FileKind::checkpoint);
}

}  // namespace hyperplane
