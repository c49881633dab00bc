// SPDX-License-Identifier: BSD-3-Clause
// hyperplane plot FILE.h5 [NAME...] [-o OUT.png]

#include <fmt/format.h>

#include "apps/base/quoting.hpp"
#include "apps/command/verbs.hpp"
#include "apps/reporting/python_script.hpp"
#include "core/error.hpp"
#include "io/atomic_file.hpp"
#include "io/whole_file.hpp"

namespace hyperplane {

int plot_verb(const Invocation& invocation) {
    std::vector<std::string> words = invocation.arguments;
    words.at(0) = as_argument(words[0]);
    if (invocation.has("list")) {
        words.push_back("--list");
        return run_script("plot", "plot.py", words);
    }
    const std::string picture = invocation.value("output", "plot.png"), kind = kind_of_picture("-o", picture);
    const Overwrite overwrite = invocation.overwrite();
    require_writable(picture, FileKind::picture, overwrite);
    const MemoryFile drawn;
    for (const char* option : {"slice", "profile", "time", "over"})
        if (invocation.has(option)) words.insert(words.end(), {fmt::format("--{}", option), invocation.value(option)});
    words.insert(words.end(), {"-o", drawn.name(), "--format", kind});
    if (const int status = run_script("plot", "plot.py", words); status != 0) return status;
    write_atomically(picture, read_whole_file(drawn.name()), FileKind::picture, overwrite);
    fmt::print("{}\n", picture);
    return 0;
}

}  // namespace hyperplane
