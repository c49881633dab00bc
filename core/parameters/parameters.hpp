// SPDX-License-Identifier: BSD-3-Clause
// Typed, documented parameters. One table drives reading, checking, echo, help and docs/deck.md.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/types.hpp"

namespace hyperplane {

enum class ParameterType { boolean, integer, real, choice, text, path, integers, reals };

const char* to_string(ParameterType type);

/// Lower or upper end of a range.
struct Bound {
    double value;
    bool open = false;  ///< the value itself is not allowed
};

/// What another key of the section, a choice, must be for a key to mean anything.
struct Condition {
    std::string key, value;
    /// "triangular_solve = jacobi"
    std::string text() const { return key + " = " + value; }
};

/// One key of the deck.
struct ParameterSpec {
    std::string section, key;
    ParameterType type = ParameterType::text;
    std::string default_value;                                            ///< as a deck would write it; empty: unset
    std::string description;                                              ///< a sentence, no final full stop
    std::string unit = "";                                                ///< empty where it has none
    std::optional<Bound> minimum = std::nullopt, maximum = std::nullopt;  ///< each element's, for lists
    std::vector<std::string> choices = {};  ///< of a choice; of a number the words allowed in its place
    int count = 0;                          ///< elements a list must have, 0: any number of 1 or more
    bool required = false;
    std::optional<Condition> only_with = std::nullopt;  ///< without which a deck must not have the key

    std::string name() const { return section + "." + key; }
};

using ParameterTable = std::vector<ParameterSpec>;

/// Whether a table has a key.
bool has_key(const ParameterTable& table, const std::string& section, const std::string& key);

/// Its description, and what it means nothing without.
std::string describe(const ParameterSpec& spec);

/// "real > 0, in 1/m, default 1e-3": type, range, unit and default in words.
std::string describe_domain(const ParameterSpec& spec);

/// Where a value came from.
struct Provenance {
    enum class Source { built_in, deck, command_line } source = Source::built_in;
    std::string file;  ///< deck; of the command line the option, --set where empty
    int line = 0;      ///< deck line, 1-based
    /// "default", "deck.ini:9", "--set" or another option
    std::string text() const;
};

/// Parses one value; returns an error ("expected an integer, got '1.5'") or nothing.
/// Integers may be written 1e3; nan and inf are refused; `1,2,3` and `1 2 3` are lists.
std::optional<std::string> check_value(const ParameterSpec& spec, const std::string& text);

/// Values of all parameters that apply to a run, checked, with provenance.
class Parameters {
public:
    struct Value {
        ParameterSpec spec;
        std::string text;
        Provenance provenance;
    };

    /// All of a table at its defaults.
    Parameters() = default;
    explicit Parameters(const ParameterTable& table);

    void add(const ParameterTable& table);
    /// Sets a value; throws UsageError ("deck.ini:9: solver.rtol: ...") for unknown keys and bad values.
    void set(const std::string& section, const std::string& key, const std::string& text, Provenance provenance = {});

    bool has(const std::string& section, const std::string& key) const;
    /// True when a value was given, by default or otherwise.
    bool is_set(const std::string& section, const std::string& key) const { return !value(section, key).text.empty(); }
    /// True when deck or command line gave it.
    bool is_given(const std::string& section, const std::string& key) const;
    const Value& value(const std::string& section, const std::string& key) const;

    bool boolean(const std::string& section, const std::string& key) const;
    Index integer(const std::string& section, const std::string& key) const;
    double real(const std::string& section, const std::string& key) const;
    const std::string& text(const std::string& section, const std::string& key) const;
    std::vector<Index> integers(const std::string& section, const std::string& key) const;
    std::vector<double> reals(const std::string& section, const std::string& key) const;

    /// What a key means nothing without, of a chain of conditions the first that is not met; null where all are.
    const Condition* unmet(const std::string& section, const std::string& key) const;

    /// In the order the tables were added.
    std::vector<Value> all() const;
    /// "deck.ini:9: solver.rtol" — the beginning of a message about a value.
    std::string where(const std::string& section, const std::string& key) const;

private:
    std::vector<std::string> order_;
    std::map<std::string, Value> values_;
};

}  // namespace hyperplane
