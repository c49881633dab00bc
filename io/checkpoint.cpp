// SPDX-License-Identifier: BSD-3-Clause
#include "io/checkpoint.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <boost/crc.hpp>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <tuple>

#include "core/error.hpp"
#include "io/atomic_file.hpp"

namespace hyperplane {
namespace {

constexpr char magic[24] = "hyperplane checkpoint 1";
constexpr std::size_t header_bytes = 512;  // where HDF5 looks for the beginning of a file, if it is not at 0

struct Header {
    char magic[24];
    std::int64_t sequence;
    std::int64_t image_bytes;
    std::uint32_t image_crc;
    std::uint32_t header_crc;  ///< CRC-32 of the members above
};

std::uint32_t crc32(const void* data, std::size_t bytes) {
    boost::crc_32_type crc;
    crc.process_bytes(data, bytes);
    return crc.checksum();
}

std::uint32_t crc_of(const Header& header) {
    return crc32(&header, offsetof(Header, header_crc));
}

/// Reads and checks header and image; throws FileError.
Header read_header(const std::string& path) {
    std::ifstream file(path, std::ios::binary);
    if (!file) throw FileError(path + ": cannot be opened");
    Header header{};
    file.read(reinterpret_cast<char*>(&header), sizeof header);
    if (!file || std::memcmp(header.magic, magic, sizeof magic) != 0 || header.header_crc != crc_of(header))
        throw FileError(path + ": its header is incomplete, or it is not a checkpoint");

    file.seekg(header_bytes);
    boost::crc_32_type crc;
    std::vector<char> part(1 << 20);
    for (Index left = header.image_bytes; left > 0;) {
        file.read(part.data(), std::min(left, Index(part.size())));
        if (file.gcount() == 0) throw FileError(fmt::format("{}: ends {} bytes too early", path, left));
        crc.process_bytes(part.data(), std::size_t(file.gcount()));
        left -= file.gcount();
    }
    if (crc.checksum() != header.image_crc)
        throw FileError(fmt::format("{}: damaged: its CRC-32 is {:08x}, it was written with {:08x}", path,
                                    crc.checksum(), header.image_crc));
    return header;
}

RecordData read_state(const std::string& path) {
    RecordData record = read_record(path);
    if (!record.has_state) throw FileError(path + ": holds no state");
    return record;
}

}  // namespace

CheckpointSlots::CheckpointSlots(const std::string& record_path, Overwrite overwrite) : overwrite_(overwrite) {
    const auto stem = std::filesystem::path(record_path).replace_extension().string();
    for (int slot : {0, 1}) paths_.push_back(fmt::format("{}.{}.checkpoint", stem, slot));
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
            const Header header = read_header(path);
            valid.emplace_back(header.sequence, read_state(path));
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
            if (const Header header = read_header(paths_[slot]); header.sequence > sequence_)
                std::tie(sequence_, newest_) = std::pair(header.sequence, slot);
        } catch (const FileError&) {  // a damaged slot is the one to write over
        }
    }
}

void CheckpointSlots::write(const RecordWriter& record, const RunState& state) {
    if (sequence_ < 0) look_for_newest();
    const std::vector<char> image = record.image(state);
    Header header{};
    std::memcpy(header.magic, magic, sizeof magic);
    header.sequence = sequence_ + 1;
    header.image_bytes = Index(image.size());
    header.image_crc = crc32(image.data(), image.size());
    header.header_crc = crc_of(header);

    const int slot = 1 - newest_;
    AtomicFile file(paths_[slot], FileKind::checkpoint, overwrite_);
    file.write(image.data(), header.image_bytes, Index(header_bytes));
    file.write(&header, sizeof header, 0);
    file.commit();
    sequence_ = header.sequence;
    newest_ = slot;
}

void CheckpointSlots::guard() const {
    for (const std::string& path : paths_) guard_output(path, FileKind::checkpoint, overwrite_);
}

void CheckpointSlots::remove() const {
    for (const std::string& path : paths_) remove_own(path, FileKind::checkpoint);
}

}  // namespace hyperplane
