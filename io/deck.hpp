// SPDX-License-Identifier: BSD-3-Clause
// The deck: a strict INI reader around Boost.Program_options.
//
//   [section]        names and keys are lower-case words; a key may stand once
//   key = value      ; and # begin a comment at the start of a line or after white space
//   key ?= value     the key's default from here on: what it is where nothing gives it. The key does not count as
//   given,
//                    and where it does not apply the line means nothing. Resolved decks hold their defaults so.
//
// Values may be quoted ("..."), then ; and # are part of them and "" stands for one quote. Text is
// UTF-8; a byte-order mark and Windows line ends are accepted. Nothing is guessed: no key prefixes,
// no -1 for unsigned, no nan or inf.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "core/parameters/parameters.hpp"

namespace hyperplane {

struct DeckEntry {
    std::string section, key, value;
    int line = 0;             ///< 1-based; 0: from the command line
    std::string option = "";  ///< of the command line, where it is not --set
    bool is_default = false;  ///< of a line key ?= value

    std::string name() const { return section + "." + key; }
};

/// A place in a deck and what belongs there: the name of a section, or what is wrong with the line.
struct DeckLine {
    int line = 0;
    std::string text;
};

/// A deck after its syntax was read, before its keys are known to mean anything.
struct Deck {
    std::string file;    ///< as the user named it
    std::string source;  ///< the text itself, or the record that holds the deck
    std::vector<DeckLine> sections;
    std::vector<DeckEntry> entries;
    std::vector<DeckLine> errors;  ///< lines that are no INI; resolve reports them with all others
    std::string folder = "";       ///< where the files lie that it names; empty: beside itself
    bool of_record = false;        ///< the resolved deck of a record
};

/// Without blanks and tabs around it.
std::string_view trim(std::string_view text);

/// Reads syntax. Lines that cannot be understood become `errors`, so that resolve can report every
/// mistake of a deck at once. Throws FileError when the file cannot be read or is no text file.
Deck read_deck(const std::string& path);
Deck parse_deck(const std::string& source, const std::string& file);

/// "section.key=value" from --set; throws UsageError.
DeckEntry parse_override(const std::string& text);

/// The keys a deck may hold: some always, some only with the component named in its section.
struct DeckSchema {
    struct Component {
        std::string section;  ///< problem, solver, preconditioner
        std::string name;
        std::vector<std::string> aliases;
        ParameterTable parameters;

        bool is_called(const std::string& word) const;  ///< its name or an alias
    };
    ParameterTable common;  ///< holds the key `name` of each section that has components
    std::vector<Component> components;

    /// By name or alias; null where there is none.
    const Component* find(const std::string& section, const std::string& name) const;
};

/// Values of every key that applies: defaults, then deck lines, then overrides (the last one wins).
/// Aliases of components are replaced by their names. Checks syntax, unknown sections, unknown keys
/// (with the nearest known one, or the component the key belongs to), types, ranges, missing required
/// keys, unknown components. Throws one UsageError with all errors, a line each, in the deck's order. Where all that is
/// right, keys that mean nothing beside the others' values are refused in the same way.
Parameters resolve(const Deck& deck, const std::vector<DeckEntry>& overrides, const DeckSchema& schema);

/// The resolved deck as INI text, one key a line with its provenance as a comment; resolving it again
/// gives the same values.
std::string to_ini(const Parameters& parameters);

/// Of `known`, the word closest to `word` in edits, or the one it begins; "" when none is near.
std::string nearest(const std::string& word, const std::vector<std::string>& known);

}  // namespace hyperplane
