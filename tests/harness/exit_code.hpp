// SPDX-License-Identifier: BSD-3-Clause
// What a process of tests tells ctest by its exit code.
#pragma once

namespace hyperplane::testing_support {

/// What came of the tests of a process.
struct Tally {
    int failed = 0, passed = 0, skipped = 0;
    bool needs_device = false;  ///< a test that was selected has OnDevice in its suite's name
    bool had_device = false;    ///< a GPU could be used before the first test
    bool has_device = false;    ///< and after the last
};

inline constexpr int all_passed = 0, some_failed = 1, all_skipped = 77;

/// Why the process fails although no test did; nullptr where nothing is amiss.
inline const char* complaint(const Tally& tally) {
    if (!tally.needs_device || !tally.had_device) return nullptr;
    if (!tally.has_device) return "the GPU could be used before the first test and cannot after the last";
    if (tally.passed == 0 && tally.skipped > 0) return "a GPU can be used, but every test was skipped";
    return nullptr;
}

/// A failure outranks a skip, and a test that passed outranks one that was skipped: only a process all of whose tests
/// were skipped counts as skipped, and where there is a GPU not even that one.
inline int exit_code(const Tally& tally) {
    if (tally.failed > 0 || complaint(tally)) return some_failed;
    return tally.passed == 0 && tally.skipped > 0 ? all_skipped : all_passed;
}

}  // namespace hyperplane::testing_support
