// SPDX-License-Identifier: BSD-3-Clause
// The contradictions of a case's deck, which are told together.
#pragma once

#include <string>

#include "core/error.hpp"
#include "core/parameters/parameters.hpp"

namespace hyperplane {

/// A message that begins with "section.key = ", behind the line of the deck that says so.
inline std::string with_line(const Parameters& parameters, const std::string& message) {
    const std::size_t dot = message.find('.'), sign = message.find(" = ");
    if (dot > sign || sign == message.npos) return message;
    const std::string section = message.substr(0, dot), key = message.substr(dot + 1, sign - dot - 1);
    if (!parameters.has(section, key)) return message;
    const Provenance& from = parameters.value(section, key).provenance;
    return from.source == Provenance::Source::deck ? from.text() + ": " + message : message;
}

/// Runs several steps and combines the UsageErrors of all of them into one.
class Contradictions {
public:
    template <class Step>
    void collect(const Step& step) {
        try {
            step();
        } catch (const UsageError& error) {
            add(error.what());
        }
    }
    /// Collects what a component says of the keys in `parameters`, with the line of the deck that has the key.
    template <class Step>
    void collect(const Parameters& parameters, const Step& step) {
        collect([&] {
            try {
                step();
            } catch (const UsageError& error) {
                throw UsageError(with_line(parameters, error.what()));
            }
        });
    }
    /// Several parts of a case may find the same contradiction.
    void add(const std::string& message) {
        if (text_.find(message) == text_.npos) text_ += (text_.empty() ? "" : "\n") + message;
    }
    void report() const {
        if (!text_.empty()) throw UsageError(text_);
    }

private:
    std::string text_;
};

}  // namespace hyperplane
