// SPDX-License-Identifier: BSD-3-Clause
// hyperplane study submit STUDY

#include <fmt/format.h>

#include <optional>

#include "apps/base/log.hpp"
#include "apps/base/process.hpp"
#include "apps/base/quoting.hpp"
#include "apps/study/pending.hpp"
#include "apps/study/prediction.hpp"
#include "apps/study/slurm.hpp"
#include "apps/study/subverbs.hpp"
#include "core/counted.hpp"
#include "core/error.hpp"
#include "io/atomic_file.hpp"

namespace hyperplane {
namespace {

/// The largest predicted memory of a host in bytes; nothing if that of some case cannot be predicted on this machine,
/// or a case holds its data on a GPU.
std::optional<Index> largest_of_host(const std::vector<Prediction>& predictions) {
    Index most = 0;
    for (const Prediction& prediction : predictions) {
        if (!prediction.known() || prediction.on_gpu) return std::nullopt;
        most = std::max(most, prediction.bytes);
    }
    return most;
}

}  // namespace

int study_submit(const Study& study, const Invocation& invocation) {
    std::optional<OutputLock> lock;
    if (!invocation.has("print")) {
        study.make_folder();
        lock.emplace(launcher_lock(study, invocation));
    }
    const Pending pending = find_pending(study, {.failed = invocation.has("failed"),
                                                 .retry = true,
                                                 .edited = invocation.has("edited"),
                                                 .overwrite = invocation.overwrite()});
    const int code = int(pending.left_out == 0 ? ExitCode::ok : ExitCode::expectation);
    const std::vector<Prediction> predictions = predict(study, pending.cases);
    refuse_wrong(study, pending.cases, predictions);
    if (pending.cases.empty()) {
        logging::info("{}: nothing to submit, {} done, {} failed, {} running{}", study.file,
                      counted(pending.done, "case"), pending.failed, pending.running,
                      pending.left_out > 0 ? fmt::format(", {} left out", pending.left_out) : "");
        return code;
    }
    const std::string script = slurm_script(study, pending.cases, largest_of_host(predictions));
    if (invocation.has("print")) {
        fmt::print("{}", script);
        return code;
    }
    const std::string path = study.folder + "/submit.sh";
    guard_output(path, FileKind::script, invocation.overwrite());
    for (std::size_t at = 0; at < pending.cases.size(); ++at)
        if (pending.replaces[at])
            if (const std::string told = set_aside(*pending.cases[at], invocation.overwrite()); !told.empty())
                logging::warn("{}", told);
    write_atomically(path, script, FileKind::script, invocation.overwrite());
    const auto [status, printed] = capture({"sbatch", "--parsable", as_argument(path)});
    if (status != 0)
        throw FileError(fmt::format("sbatch {} ended with status {}: {}{}", path, status, printed,
                                    status == 127 ? "; is this a machine of the cluster?" : ""));
    fmt::print("job {}: {} of {}, as in {}; hyperplane study status {} shows how far they are\n", printed,
               counted(Index(pending.cases.size()), "case"), study.file, path, shown_argument(study.file));
    return code;
}

}  // namespace hyperplane
