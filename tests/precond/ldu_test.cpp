// SPDX-License-Identifier: BSD-3-Clause
// The factors L, D and U that are exported of general matrices, compared with the reference's and with M.
#include "precond/factors/ldu.hpp"

#include "on_device.hpp"
#include "precond/general_cases.hpp"
#include "reference/subdomains.hpp"

namespace hyperplane {
namespace {

using namespace testing_support;
using reference::BlockMatrix;

std::vector<double> times(const CsrMatrix& a, const std::vector<double>& x) {
    std::vector<double> y(x.size(), 0.0);
    for (Index row = 0; row < a.rows; ++row)
        for (Index at = a.row_begin[row]; at < a.row_begin[row + 1]; ++at) y[row] += a.value[at] * x[a.column[at]];
    return y;
}

/// The reference's factor as scalar entries; `block(i, j)` is null where there is none. `unit`: ones on the diagonal.
template <class Block>
std::vector<std::map<Index, double>> entries_of(int rows, int dof, bool unit, const Block& block) {
    std::vector<std::map<Index, double>> entries(std::size_t(rows) * dof);
    for (int i = 0; i < rows; ++i)
        for (int r = 0; r < dof; ++r) {
            for (int j = 0; j < rows; ++j)
                if (const std::optional<reference::Dense> found = block(i, j))
                    for (int c = 0; c < dof; ++c) entries[i * dof + r][Index(j) * dof + c] = (*found)(r, c);
            if (unit) entries[i * dof + r][Index(i) * dof + r] = 1.0;
        }
    return entries;
}

/// Rows ascend and have the same entries, zeros included.
void expect_factor(const CsrMatrix& found, const std::vector<std::map<Index, double>>& expected) {
    ASSERT_EQ(found.rows, Index(expected.size()));
    double largest = 0.0;
    for (const auto& row : expected)
        for (const auto& [column, value] : row) largest = std::max(largest, std::abs(value));
    for (Index row = 0; row < found.rows; ++row) {
        Index at = found.row_begin[row];
        ASSERT_EQ(found.row_begin[row + 1] - at, Index(expected[row].size())) << row;
        for (const auto& [column, value] : expected[row]) {
            EXPECT_EQ(found.column[at], column) << row;
            EXPECT_NEAR(found.value[at], value, 1e-12 * largest) << row << ", " << column;
            ++at;
        }
    }
}

void expect_reference(const LduFactors& ldu, const reference::BlockIlu& expected) {
    const BlockMatrix& f = expected.factors;
    const int rows = int(f.rows.size()), dof = f.dof;
    const auto held = [&](int i, int j) -> std::optional<reference::Dense> {
        const auto found = f.rows[i].find(j);
        if (found == f.rows[i].end()) return std::nullopt;
        return found->second;
    };
    expect_factor(ldu.lower,
                  entries_of(rows, dof, true, [&](int i, int j) { return j < i ? held(i, j) : std::nullopt; }));
    expect_factor(ldu.diagonal,
                  entries_of(rows, dof, false, [&](int i, int j) { return j == i ? held(i, j) : std::nullopt; }));
    expect_factor(ldu.upper, entries_of(rows, dof, true, [&](int i, int j) -> std::optional<reference::Dense> {
                      if (j <= i || !held(i, j)) return std::nullopt;
                      return product(expected.diagonal_inverse[i], *held(i, j));
                  }));
}

/// M^-1 L D U x = x.
void expect_is_m(const LduFactors& ldu, const Preconditioner& m, const BsrMatrix& a) {
    const std::vector<double> x = reference::Random(9).vector(int(a.unknowns()));
    EXPECT_LT(reference::relative_difference(
                  apply_general(m, a, times(ldu.lower, times(ldu.diagonal, times(ldu.upper, x)))), x),
              1e-11);
}

LduFactors factors_of(const Preconditioner& m) {
    const auto& has = dynamic_cast<const HasLduFactors&>(m);
    EXPECT_TRUE(has.has_ldu());
    return has.ldu();
}

std::vector<GeneralCase> ldu_cases() {
    return {{"random", 60, 1, 0},    {"random", 40, 3, 1},          {"arrow", 50, 1, 0},
            {"dense_row", 50, 2, 0}, {"empty_rows", 33, 1, 1},      {"symmetric", 41, 1, 1, true},
            {"random", 60, 1, 3},    {"symmetric", 30, 4, 0, true}, {"dense", 1, 1, 0},
            {"dense", 1, 32, 0}};
}

void expect_equals_reference(const Context& context) {
    for (const GeneralCase& c : ldu_cases()) {
        SCOPED_TRACE(c.pattern + " " + std::to_string(c.dof) + " " + std::to_string(c.fill_level));
        const BlockMatrix data = data_of(c);
        const BsrMatrix a = reference::to_bsr_matrix(context, data, c.symmetric);
        const auto m = make_general("sync_free_ilu", a, {{"fill_level", std::to_string(c.fill_level)}});
        m->setup(a);
        const LduFactors ldu = factors_of(*m);
        expect_reference(ldu, reference_of(data, c));
        expect_is_m(ldu, *m, a);
    }
}
TEST(ExportedFactors, EqualReference) {
    expect_equals_reference(Context::cpu(1));
}
class ExportedFactorsOnDevice : public DeviceTest {};
TEST_F(ExportedFactorsOnDevice, EqualReference) {
    expect_equals_reference(Context::cuda());
}

/// As of saddle points: blocks [a b; b 0] have pivots, and their inverses [0 1/b; 1/b -a/b^2] have none in that place.
TEST(ExportedFactors, OfBlocksWhoseInversesNeedRowExchanges) {
    const GeneralCase c{"dense", 1, 2, 0};
    for (int at = 1; at <= 50; ++at) {
        BlockMatrix data = data_of(c);
        reference::Dense& block = data.rows[0].at(0);
        block(0, 0) = 3.0 + 0.1 * at, block(0, 1) = block(1, 0) = 0.7, block(1, 1) = 0.0;
        const BsrMatrix a = reference::to_bsr_matrix(Context::cpu(1), data);
        const auto m = make_general("sync_free_ilu", a);
        m->setup(a);
        expect_reference(factors_of(*m), reference_of(data, c));
    }
}

TEST(ExportedFactors, OfSymmetricMatricesAreTransposes) {
    const GeneralCase c{"symmetric", 41, 1, 1, true};
    const BsrMatrix a = reference::to_bsr_matrix(Context::cpu(1), data_of(c), true);
    const auto m = make_general("sync_free_ilu", a, {{"fill_level", "1"}});
    m->setup(a);
    const LduFactors ldu = factors_of(*m);
    expect_transposed_triangles(ldu);
}

TEST(ExportedFactors, OfPartsHaveNoCouplingsBetweenThem) {
    const GeneralCase c{"random", 61, 2, 0};
    const BlockMatrix data = data_of(c);
    const BsrMatrix a = reference::to_bsr_matrix(Context::cpu(1), data);
    const auto m = make_general("subdomain_ildu0", a, {{"parts", "consecutive"}, {"part_rows", "61"}});
    m->setup(a);
    expect_reference(factors_of(*m), reference_of(data, c));
    const auto parted = make_general("subdomain_ildu0", a, {{"parts", "consecutive"}, {"part_rows", "31"}});
    parted->setup(a);
    std::vector<int> part(61, 1);
    std::fill_n(part.begin(), 30, 0);
    const BlockMatrix decoupled = reference::decoupled(data, part);
    const LduFactors ldu = factors_of(*parted);
    expect_reference(ldu, reference_of(decoupled, c));
    expect_is_m(ldu, *parted, a);
}

TEST(ExportedFactors, OfParIlutAndOfSweepsAreThoseOfM) {
    for (const bool symmetric : {false, true}) {
        const GeneralCase c{symmetric ? "symmetric" : "random", 60, 2, 0, symmetric};
        const BsrMatrix a = reference::to_bsr_matrix(Context::cpu(1), data_of(c), symmetric);
        for (const char* name : {"par_ilut", "par_ilu"}) {
            const auto m = make_general(name, a);
            m->setup(a);
            expect_is_m(factors_of(*m), *m, a);
        }
    }
}

/// Scales are powers of two, so the factors are those of the matrix itself, to the last bit.
TEST(ExportedFactors, OfAScaledMatrixAreThoseOfTheMatrix) {
    const Context context = Context::cpu(1);
    for (const bool symmetric : {false, true})
        for (const std::string scaling : {"row", "symmetric", "matching"}) {
            SCOPED_TRACE(scaling);
            const GeneralCase c{symmetric ? "symmetric" : "random", 40, 1, 1, symmetric && scaling != "row"};
            BlockMatrix data = data_of(c);
            for (int row = 0; row < c.rows; ++row)  // far from scaled, and as symmetric as before
                for (auto& [column, block] : data.rows[row])
                    block.values[0] = std::ldexp(block.values[0], row % 7 + column % 7);
            const BsrMatrix a = reference::to_bsr_matrix(context, data, c.symmetric);
            const auto plain = make_general("sync_free_ilu", a, {{"fill_level", "1"}});
            plain->setup(a);
            const auto scaled = make_scaled(scaling, "sync_free_ilu", a, {{"fill_level", "1"}});
            scaled->setup(a);
            const LduFactors here = factors_of(*plain), there = factors_of(*scaled);
            EXPECT_EQ(here.lower.value, there.lower.value);
            EXPECT_EQ(here.diagonal.value, there.diagonal.value);
            EXPECT_EQ(here.upper.value, there.upper.value);
            expect_is_m(there, *scaled, a);
            const auto jacobi = make_scaled(scaling, "jacobi", a);
            EXPECT_FALSE(dynamic_cast<const HasLduFactors&>(*jacobi).has_ldu());
        }
}

}  // namespace
}  // namespace hyperplane
