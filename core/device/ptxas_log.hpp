// SPDX-License-Identifier: BSD-3-Clause
// Lines of text that the compiler of a GPU's kernels reads and writes. They are not searched by std::regex: it recurses
// once a character, and where a program such as Python with PyTorch brings another libstdc++ it ended that program.
#pragma once

#include <algorithm>
#include <string_view>
#include <vector>

#include "core/device/rtc.hpp"

namespace hyperplane::rtc {

/// Calls `read` with every line of a text, without its end.
template <class Read>
void for_lines(std::string_view text, const Read& read) {
    for (std::size_t begin = 0; begin < text.size();) {
        const std::size_t end = std::min(text.find('\n', begin), text.size());
        read(text.substr(begin, end - begin));
        begin = end + 1;
    }
}

/// What stands in a line after `before` up to one of the characters `ends`; empty where `before` does not stand there.
std::string_view word_after(std::string_view line, std::string_view before, std::string_view ends);

/// One row for each kernel in the log of ptxas -v, which NVRTC passes on.
std::vector<KernelResources> read_ptxas_log(std::string_view log);

}  // namespace hyperplane::rtc
