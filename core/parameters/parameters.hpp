// SPDX-License-Identifier: BSD-3-Clause
// Typed and documented parameters. Reading, checking, echo, help and docs/deck.md all follow from one table.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "core/error.hpp"
#include "core/types.hpp"

namespace hyperplane {

enum class ParameterType { boolean, integer, real, choice, text, path, integers, reals };

const char* to_string(ParameterType type);

/// Lower or upper end of a range.
struct Bound {
    double value;
    bool open = false;  ///< the value itself is not allowed
};

/// The value that another key of the section, a choice, must have for a key to mean anything.
struct Condition {
    std::string key, value;
    /// "triangular_solve = jacobi"
    std::string text() const { return key + " = " + value; }
};

/// One key of the deck.
struct ParameterSpec {
    std::string section, key;
    ParameterType type = ParameterType::text;
    std::string default_value;                                            ///< as in a deck; empty: unset
    std::string description;                                              ///< a sentence without its full stop
    std::string unit = "";                                                ///< empty if it has none
    std::optional<Bound> minimum = std::nullopt, maximum = std::nullopt;  ///< for lists, those of each element
    std::vector<std::string> choices = {};  ///< values of a choice; for a number, words allowed in its place
    int count = 0;                          ///< length of a list; 0: any length from 1
    bool required = false;
    std::optional<Condition> only_with = std::nullopt;  ///< a deck must not have the key unless this holds

    std::string name() const { return section + "." + key; }
};

using ParameterTable = std::vector<ParameterSpec>;

/// Whether a table has a key.
bool has_key(const ParameterTable& table, const std::string& section, const std::string& key);

/// The parameter's description, followed by its condition (only_with) if it has one.
std::string describe(const ParameterSpec& spec);

/// "real > 0, in 1/m, default 1e-3": type, range, unit and default in words.
std::string describe_domain(const ParameterSpec& spec);

/// Where a value came from.
struct Provenance {
    enum class Source { built_in, deck, command_line } source = Source::built_in;
    std::string file;  ///< the deck, or the option of the command line; --set if that is empty
    int line = 0;      ///< line of the deck, 1-based
    /// "default", "deck.ini:9", "--set" or the name of another option
    std::string text() const;
};

/// Checks the text of one value; returns an error ("expected an integer, got '1.5'") or nothing.
/// Integers of up to 64 bits may be written as 1e3; nan and inf are refused; `1,2,3` and `1 2 3` are lists.
std::optional<std::string> check_value(const ParameterSpec& spec, const std::string& text);

/// The checked values of all parameters that apply to a run, each with its provenance.
class Parameters {
public:
    struct Value {
        ParameterSpec spec;
        std::string text;
        Provenance provenance;
    };

    /// No parameters, or those of a table with their defaults.
    Parameters() = default;
    explicit Parameters(const ParameterTable& table);

    void add(const ParameterTable& table);
    /// Sets a value; throws UsageError ("deck.ini:9: solver.rtol: ...") for unknown keys and bad values.
    void set(const std::string& section, const std::string& key, const std::string& text, Provenance provenance = {});

    /// Makes a key what it is where it is not given: its default. Returns false if it has been that before, or if there
    /// is no such key.
    bool leave_out(const std::string& section, const std::string& key);

    bool has(const std::string& section, const std::string& key) const;
    /// True if the parameter has a value, by default or otherwise.
    bool is_set(const std::string& section, const std::string& key) const { return !value(section, key).text.empty(); }
    /// True if the deck or the command line gave the value.
    bool is_given(const std::string& section, const std::string& key) const;
    const Value& value(const std::string& section, const std::string& key) const;

    bool boolean(const std::string& section, const std::string& key) const;
    Index integer(const std::string& section, const std::string& key) const;
    double real(const std::string& section, const std::string& key) const;
    const std::string& text(const std::string& section, const std::string& key) const;
    std::vector<Index> integers(const std::string& section, const std::string& key) const;
    std::vector<double> reals(const std::string& section, const std::string& key) const;

    /// The first condition in a key's chain of conditions that is not met; null if all are met. A condition's own key
    /// may have a condition, too.
    const Condition* unmet(const std::string& section, const std::string& key) const;

    /// All values, in the order in which the tables were added.
    std::vector<Value> all() const;
    /// "deck.ini:9: solver.rtol" — the beginning of a message about a value.
    std::string where(const std::string& section, const std::string& key) const;

private:
    std::vector<std::string> order_;
    std::map<std::string, Value> values_;
};

/// A key that is refused beside others and decides about none of them: without it the deck has the other errors that it
/// has with it. Whoever collects errors may therefore leave the key out and go on. Where keys of the section belong to
/// it alone, `with_it` names them, since they are no errors of their own.
struct RefusedKey : UsageError {
    /// `message`: what follows the place and the name of the key, with what separates them.
    RefusedKey(const Parameters& parameters, std::string in_section, std::string key, const std::string& message,
               const std::vector<std::string>& with_it = {});

    std::string section;
    std::vector<std::string> keys;
};

}  // namespace hyperplane
