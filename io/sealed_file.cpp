// SPDX-License-Identifier: BSD-3-Clause
#include "io/sealed_file.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <boost/crc.hpp>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <string_view>

#include "core/error.hpp"
#include "io/atomic_file.hpp"

namespace hyperplane {
namespace {

constexpr std::size_t magic_bytes = 24;

struct SealHeader {
    char magic[magic_bytes];
    std::int64_t sequence;
    std::int64_t image_bytes;
    std::uint32_t image_crc;
    std::uint32_t header_crc;  ///< of all before it
};
static_assert(sizeof(SealHeader) == 48, "docs/record.md gives the place of each member");

struct KindMagic {
    FileKind kind;
    char text[magic_bytes];
};
constexpr KindMagic magics[] = {{FileKind::record, "hyperplane record 1"},
                                {FileKind::comparison, "hyperplane comparison 1"},
                                {FileKind::study, "hyperplane study 1"},
                                {FileKind::checkpoint, "hyperplane checkpoint 1"}};

std::uint32_t crc_of(const void* data, std::size_t bytes) {
    boost::crc_32_type crc;
    crc.process_bytes(data, bytes);
    return crc.checksum();
}

std::uint32_t crc_of(const SealHeader& header) {
    return crc_of(&header, offsetof(SealHeader, header_crc));
}

/// A regular file open to be read; throws FileError.
class InputFile {
public:
    explicit InputFile(const std::string& path)
        : path_(path), fd_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
        struct stat file = {};
        if (fd_ < 0 || fstat(fd_, &file) != 0) fail(errno);
        size_ = file.st_size;
        if (S_ISDIR(file.st_mode)) fail(EISDIR);
        if (!S_ISREG(file.st_mode)) {
            close(fd_);
            throw FileError(path + ": is a device, FIFO or socket, not a record");
        }
    }
    ~InputFile() { close(fd_); }
    InputFile(const InputFile&) = delete;
    InputFile& operator=(const InputFile&) = delete;
    Index size() const { return size_; }
    /// Reads up to `bytes`; 0 at the end.
    std::size_t read_some(char* to, std::size_t bytes) {
        ssize_t got;
        do got = ::read(fd_, to, bytes);
        while (got < 0 && errno == EINTR);
        if (got < 0) throw FileError(fmt::format("{}: cannot read: {}", path_, std::strerror(errno)));
        return std::size_t(got);
    }
    /// The next bytes, fewer at the end of the file.
    std::vector<char> read_up_to(std::size_t bytes) {
        std::vector<char> all(bytes);
        std::size_t size = 0;
        for (std::size_t got = 1; got > 0 && size < bytes; size += got)
            got = read_some(all.data() + size, bytes - size);
        all.resize(size);
        return all;
    }

private:
    [[noreturn]] void fail(int error) {
        if (fd_ >= 0) close(fd_);
        throw FileError(fmt::format("{}: cannot read: {}", path_, std::strerror(error)));
    }

    const std::string& path_;
    int fd_;
    Index size_ = 0;
};

bool begins_with(const std::vector<char>& bytes, std::size_t at, std::string_view text) {
    return bytes.size() >= at + text.size() && std::equal(text.begin(), text.end(), bytes.begin() + std::ptrdiff_t(at));
}

[[noreturn]] void damaged(const std::string& path, const std::string& how) {
    throw FileError(fmt::format("{}: damaged: {}", path, how));
}

/// Throws FileError for a header that is whole, but of a kind or a form that this program does not know.
void refuse_newer(const std::string& path, const std::vector<char>& head) {
    SealHeader header;
    if (head.size() < seal_bytes || !begins_with(head, 0, "hyperplane ")) return;
    std::memcpy(&header, head.data(), sizeof header);
    if (header.header_crc != crc_of(header)) return;
    const std::string_view name(header.magic, strnlen(header.magic, magic_bytes));
    throw FileError(fmt::format("{}: a newer program wrote it ({}), and reads it", path, name));
}

void write_head(AtomicFile& file, const Seal& seal, Index image_bytes, std::uint32_t image_crc) {
    SealHeader header{};
    for (const KindMagic& magic : magics)
        if (magic.kind == seal.kind) std::memcpy(header.magic, magic.text, magic_bytes);
    header.sequence = seal.sequence;
    header.image_bytes = image_bytes;
    header.image_crc = image_crc;
    header.header_crc = crc_of(header);
    char head[seal_bytes] = {};
    std::memcpy(head, &header, sizeof header);
    file.write(head, seal_bytes, 0);
}

void verify_image(const std::string& path, InputFile& file, const SealHeader& header) {
    boost::crc_32_type crc;
    std::vector<char> part(1 << 20);
    for (std::size_t got = 1; got > 0;) {
        got = file.read_some(part.data(), part.size());
        crc.process_bytes(part.data(), got);
    }
    if (crc.checksum() != header.image_crc)
        damaged(path,
                fmt::format("its CRC-32 is {:08x}, it was written with {:08x}", crc.checksum(), header.image_crc));
}

}  // namespace

void write_sealed(const std::string& path, const std::vector<char>& image, const Seal& seal, Overwrite overwrite) {
    AtomicFile file(path, seal.kind, overwrite);
    write_head(file, seal, Index(image.size()), crc_of(image.data(), image.size()));
    file.write(image.data(), Index(image.size()), seal_bytes);
    file.commit();
}

void write_sealed(const std::string& path, Index most_bytes,
                  const std::function<std::vector<PlacedValues>(const std::string& name)>& write_structure,
                  const Seal& seal, Overwrite overwrite) {
    AtomicFile file(path, seal.kind, overwrite);
    file.reserve(seal_bytes + most_bytes);
    std::vector<PlacedValues> arrays = write_structure(file.open_name());
    std::sort(arrays.begin(), arrays.end(), [](const auto& a, const auto& b) { return a.offset < b.offset; });
    boost::crc_32_type crc;  // of the bytes up to `at`, as they stand in the file
    Index at = seal_bytes;
    const auto add_structure_up_to = [&](Index end) {
        std::vector<char> part(static_cast<std::size_t>(std::clamp<Index>(end - at, 0, 1 << 20)));
        for (; at < end; at += Index(part.size())) {
            part.resize(std::min(part.size(), std::size_t(end - at)));
            file.read(part.data(), Index(part.size()), at);
            crc.process_bytes(part.data(), part.size());
        }
    };
    for (const PlacedValues& array : arrays) {
        add_structure_up_to(array.offset);
        array.values.for_each_piece([&](Index /*first*/, const std::vector<double>& piece) {
            const std::size_t bytes = piece.size() * sizeof(double);
            crc.process_bytes(piece.data(), bytes);
            file.write(piece.data(), Index(bytes), at);
            at += Index(bytes);
        });
    }
    add_structure_up_to(file.size());
    write_head(file, seal, at - seal_bytes, crc.checksum());
    file.commit();
}

std::optional<Seal> verify_seal(const std::string& path) {
    InputFile file(path);
    const std::vector<char> head = file.read_up_to(seal_bytes);
    if (begins_with(head, 0, hdf5_signature)) return std::nullopt;
    const auto* magic = std::find_if(std::begin(magics), std::end(magics), [&](const KindMagic& one) {
        return begins_with(head, 0, std::string_view(one.text, magic_bytes));
    });
    if (magic == std::end(magics)) {
        refuse_newer(path, head);
        if (begins_with(file.read_up_to(hdf5_signature.size()), 0, hdf5_signature))
            damaged(path, "its header is incomplete");
        const bool is_deck = path.ends_with(".ini");
        throw FileError(path + ": not an HDF5 file, or not all of one" +
                        (is_deck ? "; a deck holds no results: hyperplane run makes its record, NAME.h5" : ""));
    }
    SealHeader header;
    if (head.size() < seal_bytes) damaged(path, fmt::format("it ends after {} bytes, within its header", head.size()));
    std::memcpy(&header, head.data(), sizeof header);
    const bool zeros = std::all_of(head.begin() + sizeof header, head.end(), [](char byte) { return byte == 0; });
    if (header.header_crc != crc_of(header) || !zeros) damaged(path, "its header is incomplete");
    const Index missing = seal_bytes + header.image_bytes - file.size();
    if (missing > 0) damaged(path, fmt::format("it ends {} bytes too early", missing));
    if (missing < 0) damaged(path, fmt::format("{} bytes follow what was written", -missing));
    verify_image(path, file, header);
    return Seal{magic->kind, header.sequence};
}

}  // namespace hyperplane
