// SPDX-License-Identifier: BSD-3-Clause
#include "io/deck.hpp"

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include <algorithm>
#include <cctype>
#include <cerrno>
#include <cstring>
#include <filesystem>
#include <map>
#include <optional>
#include <string_view>
#include <utility>

#include "core/error.hpp"
#include "io/line_ends.hpp"

namespace hyperplane {
namespace {

constexpr std::size_t max_value_bytes = 4096;
constexpr std::size_t max_line_bytes = 16384;  // leaves room for quotes and a comment with a long file name
constexpr std::size_t max_deck_bytes = 1 << 20;

bool is_blank(char c) {
    return c == ' ' || c == '\t';
}
bool begins_comment(char c) {
    return c == ';' || c == '#';
}

/// A lower-case letter, then lower-case letters, digits and underscores.
bool is_word(std::string_view text) {
    if (text.empty() || text[0] < 'a' || text[0] > 'z') return false;
    for (char c : text)
        if (!((c >= 'a' && c <= 'z') || (c >= '0' && c <= '9') || c == '_')) return false;
    return true;
}

/// Whether `text` consists of words joined by dots. A key of [sweep] is the full name of another section's key.
bool is_key(std::string_view text) {
    const std::size_t dot = text.find('.');
    if (dot == text.npos) return is_word(text);
    return is_word(text.substr(0, dot)) && is_key(text.substr(dot + 1));
}

/// `text` for a message: shortened, and without control characters.
std::string shown(std::string_view text) {
    std::string result;
    for (char c : text.substr(0, 40)) result += c >= ' ' && c <= '~' ? c : '?';
    return text.size() > 40 ? result + "..." : result;
}

/// Number of bytes of the UTF-8 character with which `text` begins; 0 if it is not valid UTF-8, or a control character.
std::size_t character_length(std::string_view text) {
    const auto byte = [&](std::size_t at) { return at < text.size() ? static_cast<unsigned char>(text[at]) : 0u; };
    const unsigned lead = byte(0);
    if (lead < 0x80) return (lead >= 0x20 && lead != 0x7f) || lead == '\t' ? 1 : 0;
    const std::size_t length = lead >= 0xf0 ? 4 : lead >= 0xe0 ? 3 : 2;
    unsigned code = lead & (0xffu >> (length + 1));
    for (std::size_t at = 1; at < length; ++at) {
        if ((byte(at) & 0xc0) != 0x80) return 0;
        code = code << 6 | (byte(at) & 0x3f);
    }
    constexpr unsigned smallest[] = {0, 0, 0xa0, 0x800, 0x10000};  // U+0080 to U+009F are control characters
    const bool surrogate = code >= 0xd800 && code <= 0xdfff;
    return lead < 0xc2 || code < smallest[length] || code > 0x10ffff || surrogate ? 0 : length;
}

/// A message that says where a line has a byte that is not allowed in a deck.
std::optional<std::string> find_bad_byte(std::string_view line) {
    for (std::size_t at = 0; at < line.size();) {
        const std::size_t length = character_length(line.substr(at));
        if (length == 0) {
            const unsigned byte = static_cast<unsigned char>(line[at]);
            return fmt::format("byte 0x{:02x} in column {} is {}; a deck is UTF-8 text", byte, at + 1,
                               byte < 0x80 || byte == 0xc2 ? "a control character" : "not UTF-8");
        }
        at += length;
    }
    return std::nullopt;
}

/// `text` as it may stand in a comment of a deck: on one line, with bytes that are not UTF-8 replaced.
std::string on_one_line(std::string_view text) {
    std::string line;
    while (!text.empty()) {
        const std::size_t length = character_length(text);
        line += length == 0 ? "?" : text.substr(0, length);
        text.remove_prefix(std::max<std::size_t>(length, 1));
    }
    return line;
}

/// A value or, if it is malformed, what is wrong with it.
struct ParsedValue {
    std::string value;
    std::string error;
    bool quoted = false;
};

/// Takes the value in quotes with which `text` begins, and the blanks behind it, from `text`. A comment may follow and,
/// in a list, a comma.
ParsedValue take_quoted(std::string_view& text, bool in_list) {
    ParsedValue found{"", "", true};
    std::size_t at = 1;
    for (;; ++at) {
        if (at >= text.size()) return {"", "the value's closing quote is missing", true};
        if (text[at] == '"') {
            if (at + 1 >= text.size() || text[at + 1] != '"') break;
            ++at;
        }
        found.value += text[at];
    }
    text = trim(text.substr(at + 1));
    if (!text.empty() && !begins_comment(text[0]) && !(in_list && text[0] == ','))
        found.error = fmt::format("'{}' follows the closing quote; a quote inside quotes is written twice{}",
                                  shown(text), in_list ? ", and commas separate values" : "");
    return found;
}

/// The value with which `text` begins. Takes it from `text` so that this begins with what follows, a comment or, in a
/// list, a comma.
ParsedValue take_value(std::string_view& text, bool in_list) {
    const std::string_view trimmed = trim(text);
    if (!trimmed.empty() && trimmed[0] == '"') return take_quoted(text = trimmed, in_list);
    std::size_t end = 0;
    for (; end < text.size() && !(in_list && text[end] == ','); ++end)
        if (begins_comment(text[end]) && (end == 0 || is_blank(text[end - 1]))) break;
    ParsedValue found{std::string(trim(text.substr(0, end))), ""};
    if (found.value.empty()) found.error = "the value is missing (\"\" is an empty one)";
    text.remove_prefix(end);
    return found;
}

ParsedValue limited(ParsedValue parsed) {
    if (parsed.value.size() > max_value_bytes)
        parsed.error =
            fmt::format("the value is {} bytes long; at most {} are allowed", parsed.value.size(), max_value_bytes);
    return parsed;
}

/// The values between commas in `text`; `error` is what is wrong with the first that is malformed.
std::vector<ListedValue> parse_list(std::string_view text, std::string& error) {
    std::vector<ListedValue> values;
    for (bool more = true; more && error.empty();) {
        ParsedValue parsed = limited(take_value(text, true));
        more = !text.empty() && text[0] == ',';
        if (more) text.remove_prefix(1);
        const bool missing = parsed.value.empty() && !parsed.quoted && (more || !values.empty());
        error = missing ? "a value is missing between commas (\"\" is an empty one)" : parsed.error;
        values.push_back({std::move(parsed.value), parsed.quoted});
    }
    return values;
}

class DeckParser {
public:
    explicit DeckParser(Deck& deck) : deck_(deck) {}

    void parse_line(std::string_view line) {
        ++number_;
        if (!line.empty() && line.back() == '\r') line.remove_suffix(1);
        if (line.size() > max_line_bytes) {
            fail(fmt::format("the line is {} bytes long; at most {} are allowed", line.size(), max_line_bytes));
            return;
        }
        if (const auto bad = find_bad_byte(line)) {
            fail(*bad);
            return;
        }
        line = trim(line);
        if (line.empty() || begins_comment(line[0])) return;
        if (line[0] == '[')
            parse_section(line);
        else
            parse_entry(line);
    }

private:
    void fail(std::string text) { deck_.errors.push_back({number_, std::move(text)}); }

    void parse_section(std::string_view line) {
        section_state_ = SectionState::wrong;
        const std::size_t end = line.find(']');
        if (end == line.npos) return fail(fmt::format("the ']' of section {} is missing", shown(line)));
        const std::string_view name = trim(line.substr(1, end - 1)), rest = trim(line.substr(end + 1));
        if (!is_word(name))
            return fail(fmt::format("[{}] is not the name of a section; names are lower-case words", shown(name)));
        if (!rest.empty() && !begins_comment(rest[0]))
            return fail(fmt::format("'{}' follows [{}]; a key stands on its own line", shown(rest), name));
        section_ = name;
        section_state_ = SectionState::open;
        deck_.sections.push_back({number_, section_});
    }

    void parse_entry(std::string_view line) {
        const std::size_t equals = line.find('=');
        if (equals == line.npos) return fail(fmt::format("'{}' has no '='; expected key = value", shown(line)));
        std::string_view key = trim(line.substr(0, equals));
        const bool is_default = !key.empty() && key.back() == '?';
        if (is_default) key = trim(key.substr(0, key.size() - 1));
        if (!is_key(key)) return fail(fmt::format("'{}' is not a key; keys are lower-case words", shown(key)));
        if (section_state_ == SectionState::none)
            return fail(fmt::format("key {} stands outside a section; put a line [section] above it", shown(key)));
        if (section_state_ == SectionState::wrong) return;  // its header has already been reported
        DeckEntry entry{section_, std::string(key), "", number_, "", is_default};
        std::string_view text = line.substr(equals + 1);
        std::string error;
        if (section_ == "sweep" && key.find('.') != key.npos) {
            entry.listed = parse_list(text, error);
        } else {
            ParsedValue parsed = limited(take_value(text, false));
            entry.value = std::move(parsed.value);
            error = std::move(parsed.error);
        }
        if (!error.empty()) return fail(fmt::format("{}: {}", entry.name(), error));
        const auto [first, is_new] = first_line_.try_emplace(entry.name(), number_);
        if (!is_new) return fail(fmt::format("{} is given twice, first in line {}", entry.name(), first->second));
        deck_.entries.push_back(std::move(entry));
    }

    enum class SectionState { none, open, wrong };

    Deck& deck_;
    int number_ = 0;
    std::string section_;
    SectionState section_state_ = SectionState::none;
    std::map<std::string, int> first_line_;
};

/// `value` as a value in a deck, in quotes if it would otherwise be read differently.
std::string quoted(const std::string& value) {
    const bool plain =
        !value.empty() && trim(value) == value && value[0] != '"' && value.find_first_of(";#") == value.npos;
    if (plain) return value;
    std::string text = "\"";
    for (char c : value) text += c == '"' ? std::string("\"\"") : std::string(1, c);
    return text + '"';
}

}  // namespace

std::string_view trim(std::string_view text) {
    while (!text.empty() && is_blank(text.front())) text.remove_prefix(1);
    while (!text.empty() && is_blank(text.back())) text.remove_suffix(1);
    return text;
}

Deck parse_deck(const std::string& source, const std::string& file) {
    Deck deck{file, source, {}, {}, {}};
    std::string_view rest = deck.source;
    if (rest.substr(0, 2) == "\xff\xfe" || rest.substr(0, 2) == "\xfe\xff") {
        deck.errors.push_back({1, "the file is UTF-16; save it as UTF-8"});
        return deck;
    }
    if (rest.substr(0, 3) == "\xef\xbb\xbf") rest.remove_prefix(3);
    if (rest.find('\n') == rest.npos && rest.find('\r') < rest.size() - 1) {
        deck.errors.push_back({1, std::string(lone_returns)});
        return deck;
    }
    DeckParser parser(deck);
    while (!rest.empty()) {
        const std::size_t end = std::min(rest.find('\n'), rest.size());
        parser.parse_line(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 1, rest.size()));
    }
    return deck;
}

namespace {

/// "; did you mean case.ini?" of the decks that are in the same folder; empty where none has such a name.
std::string deck_nearby(const std::string& path) {
    const std::filesystem::path wanted(path);
    std::vector<std::string> names;
    std::error_code ignored;
    const auto folder = wanted.has_parent_path() ? wanted.parent_path() : std::filesystem::path(".");
    for (const auto& entry : std::filesystem::directory_iterator(folder, ignored))
        if (entry.path().extension() == ".ini") names.push_back(entry.path().filename().string());
    std::sort(names.begin(), names.end());
    if (const std::string with_ending = path + ".ini"; std::filesystem::is_regular_file(with_ending, ignored))
        return fmt::format("; did you mean {}?", with_ending);
    const std::string near = nearest(wanted.filename().string(), names);
    return near.empty() ? "" : fmt::format("; did you mean {}?", (wanted.parent_path() / near).string());
}

class DeckFile {
public:
    /// Without O_NONBLOCK to open a FIFO would take until it has a writer, whatever signals come.
    explicit DeckFile(const std::string& path)
        : path_(path), descriptor_(open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NONBLOCK)) {
        if (descriptor_ < 0) fail(errno);
    }
    ~DeckFile() { close(descriptor_); }
    DeckFile(const DeckFile&) = delete;
    DeckFile& operator=(const DeckFile&) = delete;

    /// The bytes of the file, `most` of them at most.
    std::string read_up_to(std::size_t most, const std::function<void()>& waiting) const {
        std::string bytes(most, '\0');
        std::size_t size = 0;
        while (size < most) {
            if (!has_more_or_ends()) {
                if (waiting) waiting();
                continue;
            }
            const ssize_t got = read(descriptor_, bytes.data() + size, most - size);
            if (got == 0) break;
            if (got > 0)
                size += std::size_t(got);
            else if (errno != EAGAIN && errno != EINTR)
                fail(errno);
        }
        bytes.resize(size);
        return bytes;
    }

private:
    /// Waits for a tenth of a second at most. A FIFO ends when a writer has closed it, not before there was one.
    bool has_more_or_ends() const {
        constexpr int milliseconds = 100;
        pollfd asked{descriptor_, POLLIN, 0};
        return poll(&asked, 1, milliseconds) > 0;
    }
    [[noreturn]] void fail(int error) const {
        throw FileError(fmt::format("{}: cannot read the deck: {}{}", path_, std::strerror(error),
                                    error == ENOENT   ? deck_nearby(path_)
                                    : error == EISDIR ? "; name a deck in it"
                                                      : ""));
    }

    const std::string& path_;
    int descriptor_;
};

}  // namespace

Deck read_deck(const std::string& path, const std::function<void()>& waiting) {
    const std::string source = DeckFile(path).read_up_to(max_deck_bytes + 1, waiting);
    if (source.find('\0') != source.npos && !source.starts_with("\xff\xfe") && !source.starts_with("\xfe\xff"))
        throw UsageError(path + ": a binary file and no deck; a deck is text (hyperplane new poisson prints one)");
    constexpr std::string_view banner = "%%matrixmarket";
    const auto in_any_case = [](char a, char b) { return a == std::tolower((unsigned char)b); };
    if (source.size() > banner.size() && std::equal(banner.begin(), banner.end(), source.begin(), in_any_case))
        throw UsageError(
            fmt::format("{0}: a matrix in Matrix Market format and no deck; a deck names it as file = {0} in [problem] "
                        "with name = matrix (hyperplane new matrix)",
                        path));
    if (source.size() > max_deck_bytes)
        throw FileError(fmt::format("{}: larger than {} bytes, so this is no deck", path, max_deck_bytes));
    return parse_deck(source, path);
}

DeckEntry parse_override(const std::string& text) {
    const std::size_t equals = text.find('=');
    const std::string_view name = trim(std::string_view(text).substr(0, equals));
    const std::size_t dot = name.find('.');
    if (equals == text.npos || dot == name.npos || !is_word(name.substr(0, dot)) || !is_key(name.substr(dot + 1)))
        throw UsageError(fmt::format("--set '{}': expected section.key=value{}", shown(text),
                                     std::any_of(name.begin(), name.end(), [](char c) { return c >= 'A' && c <= 'Z'; })
                                         ? ", section and key in lower case"
                                         : ""));
    std::string_view value = trim(std::string_view(text).substr(equals + 1));
    if (const auto bad = find_bad_byte(value)) throw UsageError(fmt::format("--set {}: {}", name, *bad));
    // The shell has already removed its own quotes. Quotes that are left have the same meaning as in a deck.
    const bool is_quoted = !value.empty() && value[0] == '"';
    const ParsedValue parsed = limited(is_quoted ? take_quoted(value, false) : ParsedValue{std::string(value), ""});
    if (!parsed.error.empty()) throw UsageError(fmt::format("--set {}: {}", name, parsed.error));
    return {std::string(name.substr(0, dot)), std::string(name.substr(dot + 1)), parsed.value, 0};
}

std::string to_ini(const Parameters& parameters) {
    std::vector<std::string> order;
    std::map<std::string, std::string> body;
    for (const auto& [spec, text, provenance] : parameters.all()) {
        if (body.count(spec.section) == 0) order.push_back(spec.section);
        const bool unset = text.empty() && spec.default_value.empty();
        const Condition* unmet = parameters.unmet(spec.section, spec.key);
        const std::string line = unmet   ? fmt::format("; {} means nothing without {}", spec.key, unmet->text())
                                 : unset ? fmt::format("; {} is not set", spec.key)
                                         : fmt::format("{} {} {}  ; {}", spec.key,
                                                       provenance.source == Provenance::Source::built_in ? "?=" : "=",
                                                       quoted(text), on_one_line(provenance.text()));
        body[spec.section] += line + '\n';
    }
    std::string ini;
    for (const std::string& section : order)
        ini += fmt::format("{}[{}]\n{}", ini.empty() ? "" : "\n", section, body[section]);
    return ini;
}

}  // namespace hyperplane
