// SPDX-License-Identifier: BSD-3-Clause
// A kernel that judges the pivots of a general matrix.
#pragma once

#include <optional>
#include <string>
#include <utility>

#include "core/device/rtc.hpp"
#include "precond/factors/pivots.hpp"

namespace hyperplane {

/// The program with BY_ROW, whose boosted pivots may have their scale from A's row.
inline rtc::Program with_scale_of_row(rtc::Program program) {
    program.definitions["BY_ROW"] = "1";
    return program;
}

/// The kernel, and the same kernel with BY_ROW, in which a boosted pivot may have its scale from A's row. Few matrices
/// need the second one, and it takes more registers, so it is compiled only when a factorisation is repeated with it.
template <class Arguments>
class PivotKernel {
public:
    PivotKernel(const Context& context, rtc::Program program, std::string name)
        : context_(context),
          program_(std::move(program)),
          name_(std::move(name)),
          usual_(context, program_.source, program_.definitions, name_) {}

    /// The kernel of the two that follows these rules.
    const rtc::Kernel<Arguments>& of(const PivotRules& rules) {
        if (!rules.by_row) return usual_;
        if (!by_row_) by_row_.emplace(context_, program_.source, with_scale_of_row(program_).definitions, name_);
        return *by_row_;
    }

private:
    const Context& context_;
    rtc::Program program_;
    std::string name_;
    rtc::Kernel<Arguments> usual_;
    std::optional<rtc::Kernel<Arguments>> by_row_;
};

}  // namespace hyperplane
