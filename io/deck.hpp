// SPDX-License-Identifier: BSD-3-Clause
// The deck: a strict INI reader around Boost.Program_options.
//
//   [section]        names and keys are lower-case words; a key may stand once
//   key = value      ; and # begin a comment at the start of a line or after white space
//   key ?= value     the key's default from here on, the value it has if no other line gives it. The key does not
//                    count as given, and if it does not apply, the line is ignored. The defaults in a resolved
//                    deck are such lines.
//
// Values may be quoted ("..."), then ; and # are part of them and "" stands for one quote. Commas separate the values
// of a key that [sweep] varies (section.key), each of which may be quoted; then commas are part of it, too. Text is
// UTF-8; a byte-order mark and Windows line ends are accepted. Nothing is guessed: abbreviated keys, -1 for an unsigned
// number, nan and inf are refused.
#pragma once

#include <functional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "core/parameters/nearest.hpp"
#include "core/parameters/parameters.hpp"

namespace hyperplane {

/// One of the values between commas.
struct ListedValue {
    std::string text;  ///< without its quotes
    bool quoted = false;
};

struct DeckEntry {
    std::string section, key, value;
    int line = 0;                          ///< counted from 1; 0: the entry is from the command line
    std::string option = "";               ///< option of the command line that it comes from, if not --set
    bool is_default = false;               ///< the line is key ?= value
    std::vector<ListedValue> listed = {};  ///< of a key that [sweep] varies, in place of `value`

    std::string name() const { return section + "." + key; }
};

/// A line of a deck with a text: the name of the section that begins there, or what is wrong with the line.
struct DeckLine {
    int line = 0;
    std::string text;
};

/// A deck whose syntax has been read, but whose keys have not been checked.
struct Deck {
    std::string file;    ///< the name that the user gave
    std::string source;  ///< the text itself, or the record that holds the deck
    std::vector<DeckLine> sections;
    std::vector<DeckEntry> entries;
    std::vector<DeckLine> errors;  ///< lines with wrong syntax; resolve reports them together with all other errors
    std::string folder = "";       ///< folder of the files that the deck names; empty: the deck's own
    bool of_record = false;        ///< whether this is the resolved deck of a record
};

/// `text` without blanks and tabs at its ends.
std::string_view trim(std::string_view text);

/// Reads a deck's syntax. Lines that cannot be understood are added to `errors`, so that resolve can report all
/// mistakes of a deck together. Throws FileError if the file cannot be read or is not a text file. `waiting` is called
/// ten times a second while a FIFO has no writer, or its writer gives nothing; it may throw.
Deck read_deck(const std::string& path, const std::function<void()>& waiting = {});
Deck parse_deck(const std::string& source, const std::string& file);

/// Parses "section.key=value" of --set; throws UsageError.
DeckEntry parse_override(const std::string& text);

/// The keys that a deck may have: some always, others only if their section names a certain component.
struct DeckSchema {
    struct Component {
        std::string section;  ///< problem, solver, preconditioner
        std::string name;
        std::vector<std::string> aliases;
        ParameterTable parameters;

        bool is_called(const std::string& word) const;  ///< by its name or an alias
    };
    /// A name that looks as if it were one of a section's components.
    struct Refused {
        std::string section, name;
        std::string message;  ///< why it is none
    };
    /// The default that a key has where another key has some value.
    struct OtherDefault {
        std::string of, is;          ///< "preconditioner.name", and its default
        std::string key, value;      ///< the key that decides, "problem.name", and its value
        std::string component = "";  ///< the component to which that key belongs; empty: to all of its section
    };
    ParameterTable common;  ///< has the key `name` of each section with components
    std::vector<Component> components;
    std::vector<Refused> refused = {};
    std::vector<OtherDefault> other_defaults = {};  ///< of keys in `common`
    /// Those of these keys whose default no line `key ?= value` changes, since a component decides about it.
    std::set<std::string> decided_defaults = {};

    /// The component with this name or alias; null if there is none.
    const Component* find(const std::string& section, const std::string& name) const;
    /// `common` with the defaults that these entries lead to; of entries for one key the last one counts.
    ParameterTable common_beside(const std::vector<DeckEntry>& entries) const;
};

/// The values of all keys that apply: defaults, then lines of the deck, then overrides, of which the last one counts.
/// Aliases of components are replaced by their names. Throws one UsageError with all errors, one a line, in the order
/// of the deck: wrong syntax, unknown sections, unknown keys (with the nearest known key, or the component to which the
/// key belongs), wrong types, values out of range, missing required keys, unknown components. If there are none of
/// these, keys that have no meaning with the values of other keys are refused in the same way.
Parameters resolve(const Deck& deck, const std::vector<DeckEntry>& overrides, const DeckSchema& schema);

/// The resolved deck as INI text, one key a line, with the origin of its value as a comment. Resolving it again gives
/// the same values.
std::string to_ini(const Parameters& parameters);

}  // namespace hyperplane
