// SPDX-License-Identifier: BSD-3-Clause
// The main function of every binary of tests. GoogleTest's own ends with code 0 where every test was skipped, so that
// ctest could tell a skipped process only by words in its output, and such words hide failures beside them.
#include <gtest/gtest.h>
#include <omp.h>

#include <algorithm>
#include <cstdio>
#include <cstdlib>
#include <cstring>

#include "core/device/device.hpp"
#include "harness/exit_code.hpp"

namespace {

using namespace hyperplane;

/// Looks for a GPU before the first test and after the last, if a test that was selected needs one.
class DeviceWatch : public testing::EmptyTestEventListener {
public:
    explicit DeviceWatch(testing_support::Tally& tally) : tally_(tally) {}
    void OnTestProgramStart(const testing::UnitTest& all) override {
        for (int at = 0; at < all.total_test_suite_count(); ++at) {
            const testing::TestSuite& suite = *all.GetTestSuite(at);
            tally_.needs_device |= suite.should_run() && std::strstr(suite.name(), "OnDevice");
        }
        tally_.had_device = tally_.needs_device && device::available();
    }
    void OnTestProgramEnd(const testing::UnitTest& all) override {
        tally_.has_device = tally_.needs_device && device::available();
        tally_.failed = all.failed_test_count();
        tally_.passed = all.successful_test_count();
        tally_.skipped = all.skipped_test_count();
    }

private:
    testing_support::Tally& tally_;
};

}  // namespace

int main(int argc, char** argv) {
    testing::InitGoogleTest(&argc, argv);
    // Processes of tests share the cores. Tests that need more threads ask for them.
    if (!std::getenv("OMP_NUM_THREADS")) omp_set_num_threads(1);
    testing_support::Tally tally;
    testing::UnitTest::GetInstance()->listeners().Append(new DeviceWatch(tally));  // GoogleTest deletes it
    if (RUN_ALL_TESTS() != 0) tally.failed = std::max(tally.failed, 1);            // failures outside of tests too
    if (const char* why = testing_support::complaint(tally)) std::fprintf(stderr, "[  FAILED  ] %s\n", why);
    return testing_support::exit_code(tally);
}
