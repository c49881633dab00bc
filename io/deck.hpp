// The deck: a strict INI reader around Boost.Program_options.
//
//   [section]        names and keys are lower-case words; a key may stand once
//   key = value      ; and # begin a comment at the start of a line or after white space
//
// Values may be quoted ("..."), then ; and # are part of them. A byte-order mark and Windows line
// ends are accepted. Nothing is guessed: no key prefixes, no -1 for unsigned, no nan or inf.
#pragma once

#include <string>
#include <vector>

#include "core/parameters.hpp"

namespace hyperplane {

struct DeckEntry {
    std::string section, key, value;
    int line = 0;  ///< 1-based
};

/// A deck after its syntax was read, before its keys are known to mean anything.
struct Deck {
    std::string file;    ///< as the user named it
    std::string source;  ///< the text itself
    std::vector<DeckEntry> entries;
};

/// Reads syntax; throws UsageError listing every wrong line ("deck.ini:9: ..."), FileError when the
/// file cannot be read.
Deck read_deck(const std::string& path);
Deck parse_deck(const std::string& source, const std::string& file);

/// "section.key=value" from --set; throws UsageError.
DeckEntry parse_override(const std::string& text);

/// The keys a deck may hold: some always, some only with the component named in its section.
struct DeckSchema {
    struct Component {
        std::string section;               ///< problem, solver, preconditioner
        std::string name;
        std::vector<std::string> aliases;
        ParameterTable parameters;
    };
    ParameterTable common;
    std::vector<Component> components;
};

/// Values of every key that applies: defaults, then deck lines, then overrides (the last one wins).
/// Checks unknown keys (with the nearest known one, or the component the key belongs to), types,
/// ranges, missing required keys, unknown components. Throws one UsageError with all errors, a line
/// each. `[expect]` and `[sweep]` keys are resolved by the common table like all others.
Parameters resolve(const Deck& deck, const std::vector<DeckEntry>& overrides, const DeckSchema& schema);

/// The resolved deck as INI text, one key a line with its provenance as a comment.
std::string to_ini(const Parameters& parameters);

/// Of `known`, the word closest to `word` in edits, or "" when none is near.
std::string nearest(const std::string& word, const std::vector<std::string>& known);

}  // namespace hyperplane
