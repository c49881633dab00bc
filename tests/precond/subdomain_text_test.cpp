// SPDX-License-Identifier: BSD-3-Clause
// The factorisation of subdomains on tensor cores (precond/subdomain/factor.cuh), its text compiled for the host: the
// factors are those of the lines of a CPU.
#include <gtest/gtest.h>

#include "on_device.hpp"
#include "precond/factors/gauss_jordan.hpp"
#include "precond/factors/pivot_record.hpp"
#include "precond/subdomain/factor_arguments.hpp"
#include "precond/subdomain/factors.hpp"
#include "precond/support.hpp"

// The host's headers stand before.
#include "precond/emulated_warps.hpp"

#define DOF 6
namespace emulated_subdomains {
namespace hyperplane {
using namespace ::hyperplane;
}
#include "precond/subdomain/factor.cuh"
namespace hyperplane {
alignas(16) double shared[28 * 1024];
}
}  // namespace emulated_subdomains

namespace hyperplane {
namespace {

using testing_support::random_struct_matrix;

using SubdomainTextCase = std::tuple<std::string, LayoutKind, MatrixStorage>;
class SubdomainText : public testing::TestWithParam<SubdomainTextCase> {};

TEST_P(SubdomainText, FactorsAsACpuDoes) {
#ifdef __SANITIZE_ADDRESS__
    GTEST_SKIP() << "AddressSanitizer does not know fibers";
#endif
    const auto& [name, kind, storage] = GetParam();
    constexpr double alpha = 0.25;
    const Stencil stencil = Stencil::by_name(name);
    const Grid grid{5, 4, 3};
    const Context cpu = Context::cpu(1);
    const StructMatrix a = random_struct_matrix(Layout(kind, grid, stencil.level_map()), stencil, DOF, storage, 3);
    const Partition partition{grid, {3, 3, 2}};
    const PivotRules rules;
    SubdomainFactors by_lines(cpu, partition, a, SubdomainOrder::Rows::by_line, FactorStorage::double_precision);
    PivotInverter inverter(rules, grid, DOF, a.symmetric());
    by_lines.factor(a, alpha, rules, inverter);

    SubdomainFactors factors(cpu, partition, a, SubdomainOrder::Rows::by_step, FactorStorage::double_precision);
    PivotRecord record(cpu, partition.subdomains());
    record.clear_log();
    const SubdomainFactorArguments arguments = factors.tensor_arguments(a, alpha, rules, record);
    const unsigned subdomains = unsigned(partition.subdomains()), entries = unsigned(factors.stencil().size());
    const unsigned loads = unsigned((partition.points() + 31) / 32);
    namespace text = emulated_subdomains::hyperplane;
    ASSERT_TRUE(emulated_warps::launch(subdomains * loads, 1, 256, [&] { text::subdomain_load(arguments); }));
    ASSERT_TRUE(emulated_warps::launch(subdomains, 1, 128, [&] { text::subdomain_factor(arguments); }));
    EXPECT_EQ(record.log()->failures, 0u);

    const auto view_of = [&](const SubdomainFactors& f) {
        return BasicSubdomainView<const double>{partition,        f.order().places.data(), f.values<double>(),
                                                f.order().values, f.order().dof,           f.order().lower};
    };
    double worst = 0.0, largest = 0.0;
    for (Index row = 0; row < grid.points(); ++row) {
        const Int3 p = grid.point(row), n = partition.count(), size = partition.size;
        const Index subdomain = p.x / size.x + n.x * (p.y / size.y + Index(n.y) * (p.z / size.z));
        const int local = partition.local(p, partition.first_point(subdomain));
        for (int e = 0; e < int(entries); ++e)
            for (int r = 0; r < DOF; ++r)
                for (int c = 0; c < DOF; ++c) {
                    const double expected = view_of(by_lines).at(subdomain, local, e, r, c);
                    worst = std::max(worst, std::abs(view_of(factors).at(subdomain, local, e, r, c) - expected));
                    largest = std::max(largest, std::abs(expected));
                }
    }
    EXPECT_LT(worst, 1e-13 * largest);
}
INSTANTIATE_TEST_SUITE_P(All, SubdomainText,
                         testing::Values(SubdomainTextCase{"star7", LayoutKind::natural, MatrixStorage::full},
                                         SubdomainTextCase{"diamond25", LayoutKind::hyperplane, MatrixStorage::full},
                                         SubdomainTextCase{"box27", LayoutKind::natural, MatrixStorage::lower}),
                         [](const auto& info) { return std::get<0>(info.param); });

}  // namespace
}  // namespace hyperplane
