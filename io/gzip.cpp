// SPDX-License-Identifier: BSD-3-Clause
#include "io/gzip.hpp"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>

#include "core/error.hpp"

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

}  // namespace

bool is_gzip(std::string_view head) {
    return head.size() >= 2 && head[0] == '\x1f' && head[1] == '\x8b';
}

Bytes expand_gzip(std::string_view bytes, const std::string& path, const std::function<void(std::string_view)>& check) {
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

}  // namespace hyperplane
