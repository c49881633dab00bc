// SPDX-License-Identifier: BSD-3-Clause
// Verbs with their options, and what the user typed of them.
#pragma once

#include <limits>
#include <map>
#include <string>
#include <vector>

#include "io/output_guard.hpp"

namespace hyperplane {

/// An option of a verb: a switch or, if `value` is not empty, an option with a value of that name.
struct Option {
    std::string name;
    std::string value;
    std::string description;
    char letter = 0;
    bool repeatable = false;
};

/// What the user typed after the verb.
struct Invocation {
    std::string verb;
    std::vector<std::string> arguments;
    std::map<std::string, std::vector<std::string>> options;

    bool has(const std::string& option) const { return options.count(option) > 0; }
    /// The option's value, or `fallback` if it was not given.
    std::string value(const std::string& option, const std::string& fallback = "") const;
    /// All values of a repeatable option.
    std::vector<std::string> values(const std::string& option) const;
    /// Whether standard output holds one JSON object: after --json, which may be told to write to a file instead.
    bool prints_json() const { return has("json") && (value("json").empty() || value("json") == "-"); }
    /// What --force allows.
    Overwrite overwrite() const { return has("force") ? Overwrite::any : Overwrite::own; }
};

/// One word of the program; the table in apps/command/verbs.cpp drives dispatch and help.
struct Verb {
    std::string name;
    std::string arguments;                ///< as the line of usage shows them: "DECK", "FILE.h5..."
    int least_arguments, most_arguments;  ///< most < 0: any number
    std::string summary;
    std::vector<Option> options;
    int (*run)(const Invocation&);  ///< returns the exit status
    bool stops_well = false;        ///< it handles signals itself (apps/base/signals.hpp)
    bool in_one_process = false;    ///< it refuses to be one of several that mpirun has started (apps/run/launch.hpp)
};

/// `text` as an integer from `least` to `most`. Throws a UsageError that begins with `where`.
int parse_integer(const std::string& where, const std::string& text, int least,
                  int most = std::numeric_limits<int>::max());
/// `text` as an integer >= `least`. Throws a UsageError that names the option.
int parse_count(const std::string& option, const std::string& text, int least);
/// `text` as a finite number >= 0. Throws a UsageError that names the option.
double parse_tolerance(const std::string& option, const std::string& text);

}  // namespace hyperplane
