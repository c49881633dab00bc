// SPDX-License-Identifier: BSD-3-Clause
// hyperplane report FILE.h5... [-o OUT.html] [--png OUT.png]

#include <fmt/format.h>

#include <filesystem>

#include "apps/base/quoting.hpp"
#include "apps/command/verbs.hpp"
#include "apps/reporting/python_script.hpp"
#include "core/error.hpp"
#include "io/atomic_file.hpp"
#include "io/whole_file.hpp"

namespace hyperplane {
namespace {

void refuse_picture_as_page(const std::string& page) {
    const std::filesystem::path path(page);
    if (path.extension() == ".png" || path.extension() == ".pdf" || path.extension() == ".svg")
        throw UsageError(fmt::format("-o {}: a page is HTML, so give -o {}; --png {} draws the convergence plot alone",
                                     page, std::filesystem::path(path).replace_extension(".html").string(), page));
}

}  // namespace

int report_verb(const Invocation& invocation) {
    const std::string page = invocation.value("output", "report.html"), picture = invocation.value("png");
    const Overwrite overwrite = invocation.overwrite();
    std::string kind;
    if (invocation.has("png")) kind = kind_of_picture("--png", picture);
    const bool printed = page == "-";
    refuse_picture_as_page(page);
    if (!printed) require_writable(page, FileKind::page, overwrite);
    if (invocation.has("png")) require_writable(picture, FileKind::picture, overwrite);
    if (!printed && invocation.has("png"))
        refuse_one_file_of_two({page, picture}, "report", "remove the link, or name another file");
    const MemoryFile drawn_page, drawn_picture;
    std::vector<std::string> words;
    for (const std::string& file : invocation.arguments) words.push_back(as_argument(file));
    words.insert(words.end(), {"-o", drawn_page.name(), "--silent"});
    if (invocation.has("png")) words.insert(words.end(), {"--png", drawn_picture.name(), "--format", kind});
    if (const int status = run_script("report", "report.py", words); status != 0) return status;
    if (printed) {
        fmt::print("{}", std::string_view(read_whole_file(drawn_page.name())));
    } else {
        write_atomically(page, read_whole_file(drawn_page.name()), FileKind::page, overwrite);
        fmt::print("{}\n", page);
    }
    if (!invocation.has("png")) return 0;
    write_atomically(picture, read_whole_file(drawn_picture.name()), FileKind::picture, overwrite);
    if (!printed) fmt::print("{}\n", picture);
    return 0;
}

}  // namespace hyperplane
