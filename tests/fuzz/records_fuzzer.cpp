// SPDX-License-Identifier: BSD-3-Clause
// No bytes crash the readers of records and comparisons, and what they accept as a record is sound.
#include <unistd.h>

#include <cstdint>
#include <cstdlib>
#include <string>

#include "core/error.hpp"
#include "io/comparison.hpp"
#include "io/record.hpp"

using namespace hyperplane;

namespace {

void require(bool condition) {
    if (!condition) std::abort();
}

/// A file with these bytes, as long as the object lives.
class ScratchFile {
public:
    ScratchFile(const std::uint8_t* data, std::size_t size) {
        const int file = mkstemp(path_.data());
        require(file >= 0 && write(file, data, size) == ssize_t(size));
        close(file);
    }
    ~ScratchFile() { unlink(path_.c_str()); }
    const std::string& path() const { return path_; }

private:
    std::string path_ = "/tmp/records_fuzzer_XXXXXX";
};

/// Calls read(), which may refuse the file with a message and must not do anything else that is wrong.
template <class Read>
void try_to_read(const Read& read) {
    try {
        read();
    } catch (const FileError& error) {
        require(*error.what() != '\0');
    }
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
    const ScratchFile file(data, size);
    try_to_read([&] {
        const RecordData record = read_record(file.path());
        require(record.histories.size() == record.solves.size() && !record.parts.empty());
        for (const DiagnosticSeries& series : record.diagnostics.series)
            require(series.values.size() == record.diagnostics.step.size());
    });
    try_to_read([&] { read_comparison(file.path()); });
    return 0;
}
