// SPDX-License-Identifier: BSD-3-Clause
// A kernel that judges the pivots of a general matrix.
#pragma once

#include <functional>
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
    struct Compiled {
        rtc::Kernel<Arguments> kernel;
        unsigned blocks;  ///< thread blocks of a launch
    };
    /// The thread blocks of a launch may depend on how many of them are resident.
    using CountBlocks = std::function<unsigned(const rtc::AnyKernel&)>;

    PivotKernel(const Context& context, rtc::Program program, std::string name, CountBlocks blocks)
        : context_(context),
          program_(std::move(program)),
          name_(std::move(name)),
          blocks_(std::move(blocks)),
          usual_(compiled(program_)) {}

    /// The kernel that is compiled for these rules.
    const Compiled& of(const PivotRules& rules) {
        if (!rules.by_row) return usual_;
        if (!by_row_) by_row_ = compiled(with_scale_of_row(program_));
        return *by_row_;
    }

private:
    Compiled compiled(const rtc::Program& program) const {
        rtc::Kernel<Arguments> kernel(context_, program.source, program.definitions, name_);
        const unsigned blocks = blocks_(kernel);
        return {std::move(kernel), blocks};
    }

    const Context& context_;
    rtc::Program program_;
    std::string name_;
    CountBlocks blocks_;
    Compiled usual_;
    std::optional<Compiled> by_row_;
};

}  // namespace hyperplane
