// SPDX-License-Identifier: BSD-3-Clause
// The machine code of run-time compiled programs, for those who load it (core/device/kernel_cuda.cpp).
#pragma once

#include <string>
#include <vector>

#include "core/device/rtc.hpp"

namespace hyperplane::rtc {

/// The definitions and texts that the compiler reads. Two of these with the same `key` give the same machine code.
struct CompilerInput {
    CompilerInput(const Source& source, const Definitions& definitions);

    std::string name, text, key;
    std::vector<const char*> headers, header_names;
};

/// The code of a program: kept in this process or on disk, or else compiled now. It stays where it is until the process
/// ends. Threads may ask for it at the same time.
const std::vector<char>& machine_code_of(const CompilerInput& program, const std::string& architecture);

}  // namespace hyperplane::rtc
