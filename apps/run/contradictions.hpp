// SPDX-License-Identifier: BSD-3-Clause
// The contradictions of a case's deck, which are told together.
#pragma once

#include <exception>
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

/// Runs several steps and combines the UsageErrors of all of them into one. A FileError or a DeviceError is told when
/// there are none.
class Contradictions {
public:
    template <class Step>
    void collect(const Step& step) {
        try {
            step();
        } catch (const UsageError& error) {
            add(error.what());
        } catch (const FileError&) {
            put_off();
        } catch (const DeviceError&) {
            put_off();
        }
    }
    /// Collects what a component says of the keys in `parameters`, with the line of the deck that has the key. A key
    /// that is refused is left out from then on, and the step repeated, which may find others.
    template <class Step>
    void collect(Parameters& parameters, const Step& step) {
        for (bool again = true; again;) {
            again = false;
            collect([&] {
                try {
                    step();
                } catch (const RefusedKey& error) {
                    for (const std::string& key : error.keys)
                        if (parameters.leave_out(error.section, key)) again = true;
                    throw;
                } catch (const UsageError& error) {
                    throw UsageError(with_line(parameters, error.what()));
                }
            });
        }
    }
    /// Several parts of a case may find the same contradiction.
    void add(const std::string& message) {
        if (text_.find(message) == text_.npos) text_ += (text_.empty() ? "" : "\n") + message;
    }
    bool none() const { return text_.empty() && !put_off_; }
    void report() const {
        if (!text_.empty()) throw UsageError(text_);
        if (put_off_) std::rethrow_exception(put_off_);
    }

private:
    /// Keeps the exception that is being handled, if it is the first of its kind.
    void put_off() {
        if (!put_off_) put_off_ = std::current_exception();
    }

    std::string text_;
    std::exception_ptr put_off_;
};

}  // namespace hyperplane
