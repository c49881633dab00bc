// SPDX-License-Identifier: BSD-3-Clause
#include "apps/run/fingerprint.hpp"
#include "apps/run/build_case.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <set>

#include "apps/run/linear_system.hpp"
#include "several_threads.hpp"

namespace hyperplane {
namespace {

Case make_case(const std::vector<std::string>& overrides) {
    constexpr const char* deck = "[problem]\nname = block_laplacian\n[grid]\ncells = 7 5 3\n[solver]\nname = gmres\n";
    return build_case(parse_deck(deck, "deck"), overrides);
}

struct First {
    explicit First(const Case& a_case) : system(make_system(a_case)) {
        Vector u = a_case.make_vector("u");
        assemble_first(a_case, u, system);
    }
    LinearSystem system;
};

TEST(Fingerprint, DependsOnValuesAlone) {
    const First natural(make_case({})), skewed(make_case({"device.layout=hyperplane"}));
    EXPECT_EQ(fingerprint(*natural.system.a), fingerprint(*skewed.system.a));
    EXPECT_EQ(fingerprint(natural.system.b), fingerprint(skewed.system.b));
    const SeveralThreads several(natural.system.a->context(), 3), too(skewed.system.a->context(), 3);
    EXPECT_EQ(fingerprint(*natural.system.a), fingerprint(*skewed.system.a));
}

TEST(Fingerprint, NoticesTheLastBitAnywhere) {
    First first(make_case({}));
    Vector& b = first.system.b;
    std::set<std::uint64_t> seen{fingerprint(b)};
    for (Index at = 0; at < b.size(); ++at) {
        const double before = b.data()[at];
        b.data()[at] = std::nextafter(before, 2.0);
        EXPECT_TRUE(seen.insert(fingerprint(b)).second) << at;
        b.data()[at] = before;
    }
    StructMatrix& a = structured(*first.system.a);
    const std::uint64_t whole = fingerprint(a);
    double& value = a.values(a.stencil().diagonal(), 1, 1)[4];
    value = std::nextafter(value, 100.0);
    EXPECT_NE(fingerprint(a), whole);
}

TEST(Fingerprint, NoticesAnExchange) {
    First first(make_case({}));
    Vector& b = first.system.b;
    b.data()[0] = 1.0;
    b.data()[1] = 2.0;
    const std::uint64_t before = fingerprint(b);
    std::swap(b.data()[0], b.data()[1]);
    EXPECT_NE(fingerprint(b), before);
}

TEST(Fingerprint, SixteenDigits) {
    EXPECT_EQ(in_hex(0xabc), "0000000000000abc");
}

}  // namespace
}  // namespace hyperplane
