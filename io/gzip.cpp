// SPDX-License-Identifier: BSD-3-Clause
#include "io/gzip.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstdint>
#include <utility>

#include "core/error.hpp"

#ifdef HYPERPLANE_LIBDEFLATE
#include <libdeflate.h>
#endif

namespace hyperplane {
namespace {

constexpr std::size_t piece = 1 << 20;
constexpr std::size_t largest_input = 1 << 30;  // zlib counts in unsigned int
constexpr std::size_t always_allowed = std::size_t(64) << 20, largest_ratio = 200;

/// zlib's state, released on every way out.
class Inflater {
public:
    explicit Inflater(const std::string& path) : path_(path) {
        if (inflateInit2(&stream, 15 + 16) != Z_OK) fail("cannot be expanded: out of memory");  // 16: gzip's header
    }
    ~Inflater() { inflateEnd(&stream); }
    Inflater(const Inflater&) = delete;
    Inflater& operator=(const Inflater&) = delete;

    [[noreturn]] void fail(const std::string& what) const { throw FileError(path_ + ": gzip file: " + what); }

    z_stream stream{};

private:
    const std::string& path_;
};

#ifdef HYPERPLANE_LIBDEFLATE
/// The size that the last member says it has, by the last four bytes of a file (RFC 1952), which hold its lowest bits.
std::size_t announced_size(std::string_view bytes) {
    std::size_t size = 0;
    for (std::size_t at = 0; at < 4; ++at) size |= std::size_t(std::uint8_t(bytes[bytes.size() - 4 + at])) << (8 * at);
    return size;
}
#endif

}  // namespace

bool is_gzip(std::string_view head) {
    return head.size() >= 2 && head[0] == '\x1f' && head[1] == '\x8b';
}

bool expands_at_once() {
#ifdef HYPERPLANE_LIBDEFLATE
    return true;
#else
    return false;
#endif
}

std::optional<Bytes> expand_gzip_at_once([[maybe_unused]] std::string_view bytes) {
#ifdef HYPERPLANE_LIBDEFLATE
    constexpr std::size_t smallest_member = 18;
    if (bytes.size() < smallest_member) return std::nullopt;
    const std::unique_ptr<libdeflate_decompressor, void (*)(libdeflate_decompressor*)> made(
        libdeflate_alloc_decompressor(), libdeflate_free_decompressor);
    const std::size_t most = largest_expansion(bytes.size());
    std::size_t room = std::min(announced_size(bytes), most), size = 0;
    Bytes expanded;
    if (!made || !expanded.try_reserve(room)) return std::nullopt;
    for (std::string_view rest = bytes; !rest.empty();) {
        std::size_t read = 0, written = 0;
        const libdeflate_result result = libdeflate_gzip_decompress_ex(
            made.get(), rest.data(), rest.size(), expanded.resize(room) + size, room - size, &read, &written);
        if (result == LIBDEFLATE_SUCCESS) {
            size += written;
            rest.remove_prefix(read);
            continue;
        }
        // A member that is not the last, or one of more than 4 GiB, is larger than was announced.
        if (result != LIBDEFLATE_INSUFFICIENT_SPACE || room == most) return std::nullopt;
        room = std::min(std::max(2 * room, piece), most);
        if (!expanded.try_reserve(room)) return std::nullopt;
    }
    expanded.resize(size);
    return expanded;
#else
    return std::nullopt;
#endif
}

Bytes expand_gzip(std::string_view bytes, const std::string& path, const std::function<void(std::string_view)>& check) {
    if (std::optional<Bytes> expanded = expand_gzip_at_once(bytes)) {
        for (std::string_view rest = *expanded; !rest.empty(); rest.remove_prefix(std::min(piece, rest.size())))
            check(rest.substr(0, piece));
        return *std::move(expanded);
    }
    return expand_gzip_in_pieces(bytes, path, check);
}

Bytes expand_gzip_in_pieces(std::string_view bytes, const std::string& path,
                            const std::function<void(std::string_view)>& check) {
    Inflater inflater(path);
    z_stream& stream = inflater.stream;
    Bytes expanded;
    std::string_view rest = bytes;
    bool ended = false;  // whether the last member is complete
    while (!rest.empty() || !ended) {
        if (ended) {
            if (!is_gzip(rest)) inflater.fail(fmt::format("{} bytes follow its end", rest.size()));
            inflateReset(&stream);
        }
        const std::size_t given = std::min(rest.size(), largest_input), size = expanded.size();
        stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(rest.data()));
        stream.avail_in = uInt(given);
        stream.next_out = reinterpret_cast<Bytef*>(expanded.resize(size + piece) + size);
        stream.avail_out = uInt(piece);
        const int status = inflate(&stream, Z_NO_FLUSH);
        expanded.resize(size + piece - stream.avail_out);
        rest.remove_prefix(given - stream.avail_in);
        ended = status == Z_STREAM_END;
        if (!ended && status != Z_OK && status != Z_BUF_ERROR)
            inflater.fail(fmt::format("damaged near byte {}: {}", bytes.size() - rest.size(),
                                      stream.msg ? stream.msg : "it cannot be expanded"));
        if (!ended && rest.empty() && stream.avail_out > 0) inflater.fail("it ends too early; is it truncated?");
        if (expanded.size() > always_allowed && expanded.size() / largest_ratio > bytes.size())
            inflater.fail(
                fmt::format("it expands to more than {} times its {} bytes, which no matrix does; expand it "
                            "yourself if it is one",
                            largest_ratio, bytes.size()));
        check(std::string_view(expanded).substr(size));
    }
    return expanded;
}

std::string expand_gzip_head(std::string_view bytes, const std::string& path, std::size_t most, bool whole) {
    Inflater inflater(path);
    z_stream& stream = inflater.stream;
    std::string expanded(most, '\0');
    stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
    stream.avail_in = uInt(std::min(bytes.size(), largest_input));
    stream.next_out = reinterpret_cast<Bytef*>(expanded.data());
    stream.avail_out = uInt(most);
    bool ended = false;  // whether the last member is complete
    while (stream.avail_out > 0 && stream.avail_in > 0) {
        if (ended) inflateReset(&stream);
        const int status = inflate(&stream, Z_NO_FLUSH);
        ended = status == Z_STREAM_END;
        if (!ended && status != Z_OK)
            inflater.fail(fmt::format("damaged near byte {}: {}", bytes.size() - stream.avail_in,
                                      stream.msg ? stream.msg : "it cannot be expanded"));
    }
    if (whole && !ended && stream.avail_out > 0) inflater.fail("it ends too early; is it truncated?");
    expanded.resize(most - stream.avail_out);
    return expanded;
}

std::size_t largest_expansion(std::size_t bytes) {
    return std::max(always_allowed, (bytes + 1) * largest_ratio);
}

struct GzipWriter::State {
    std::function<void(std::string_view)> put;
    std::string comment;
    z_stream stream{};
    gz_header header{};
    std::string room;

    /// Hands on what zlib makes of the bytes that it has been given.
    void hand_on(int flush) {
        do {
            stream.next_out = reinterpret_cast<Bytef*>(room.data());
            stream.avail_out = uInt(room.size());
            deflate(&stream, flush);
            put(std::string_view(room).substr(0, room.size() - stream.avail_out));
        } while (stream.avail_out == 0);
    }
};

GzipWriter::GzipWriter(std::function<void(std::string_view)> put, std::string comment)
    : state_(new State{std::move(put), std::move(comment), {}, {}, std::string(piece, '\0')}) {
    constexpr int of_gzip = 15 + 16, memory = 8;
    if (deflateInit2(&state_->stream, Z_BEST_SPEED, Z_DEFLATED, of_gzip, memory, Z_DEFAULT_STRATEGY) != Z_OK)
        throw OutOfMemory("gzip: there is no memory to compress with");
    state_->header.comment = reinterpret_cast<Bytef*>(state_->comment.data());
    state_->header.os = 255;  // unknown
    deflateSetHeader(&state_->stream, &state_->header);
}

GzipWriter::~GzipWriter() {
    deflateEnd(&state_->stream);
}

void GzipWriter::write(std::string_view bytes) {
    for (; !bytes.empty(); bytes.remove_prefix(std::min(bytes.size(), largest_input))) {
        state_->stream.next_in = reinterpret_cast<Bytef*>(const_cast<char*>(bytes.data()));
        state_->stream.avail_in = uInt(std::min(bytes.size(), largest_input));
        state_->hand_on(Z_NO_FLUSH);
    }
}

void GzipWriter::end() {
    state_->hand_on(Z_FINISH);
}

}  // namespace hyperplane
