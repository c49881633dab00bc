// SPDX-License-Identifier: BSD-3-Clause
// Finite volumes for cavities: |A|, fluxes, the matrix with frozen |A|, sets, scalars and the Householder reflection.
#include "problems/artificial_compressibility_rows.hpp"

#include "problems/dual.hpp"
#include "problems/system.hpp"

namespace hyperplane::test {
namespace {

using Matrix4 = std::array<std::array<double, 4>, 4>;

Matrix4 product(const Matrix4& a, const Matrix4& b) {
    Matrix4 c{};
    for (int i = 0; i < 4; ++i)
        for (int j = 0; j < 4; ++j)
            for (int k = 0; k < 4; ++k) c[i][j] += a[i][k] * b[k][j];
    return c;
}

/// The inverse by Gauss-Jordan elimination with partial pivoting.
Matrix4 inverse(Matrix4 a) {
    Matrix4 x{};
    for (int i = 0; i < 4; ++i) x[i][i] = 1.0;
    for (int k = 0; k < 4; ++k) {
        int pivot = k;
        for (int i = k; i < 4; ++i)
            if (std::abs(a[i][k]) > std::abs(a[pivot][k])) pivot = i;
        std::swap(a[k], a[pivot]);
        std::swap(x[k], x[pivot]);
        for (int i = 0; i < 4; ++i) {
            const double factor = i == k ? 1.0 - 1.0 / a[k][k] : a[i][k] / a[k][k];
            for (int j = 0; j < 4; ++j) {
                x[i][j] -= factor * x[k][j];
                if (j != k) a[i][j] -= factor * a[k][j];
            }
            a[i][k] = i == k ? 1.0 : 0.0;
        }
    }
    return x;
}

void random_state(std::mt19937& engine, double (&q)[4]) {
    std::uniform_real_distribution<double> uniform(-1.0, 1.0);
    for (double& value : q) value = uniform(engine);
}

/// |A| = A sign(A), with sign(A) by Newton's iteration X = (X + X^-1) / 2 (Higham, Functions of Matrices, section 5.3).
TEST(CavityFlux, AbsoluteMatrixHasTheAbsoluteEigenvalues) {
    std::mt19937 engine(1);
    for (double beta : {0.3, 1.0, 10.0})
        for (int axis = 0; axis < 3; ++axis)
            for (int trial = 0; trial < 20; ++trial) {
                double q[4];
                random_state(engine, q);
                const FaceMatrices matrices(q, axis, beta);
                Matrix4 a, sign;
                for (int i = 0; i < 4; ++i)
                    for (int j = 0; j < 4; ++j) sign[i][j] = a[i][j] = matrices.plain[i][j];
                for (int step = 0; step < 60; ++step) {
                    const Matrix4 back = inverse(sign);
                    for (int i = 0; i < 4; ++i)
                        for (int j = 0; j < 4; ++j) sign[i][j] = 0.5 * (sign[i][j] + back[i][j]);
                }
                const Matrix4 absolute = product(a, sign);
                for (int i = 0; i < 4; ++i)
                    for (int j = 0; j < 4; ++j)
                        EXPECT_NEAR(matrices.absolute[i][j], absolute[i][j], 1e-9 * (1 + beta)) << i << j;
            }
}

TEST(CavityFlux, MatrixIsTheFluxesDerivativeAndTheirExactDifference) {
    std::mt19937 engine(2);
    for (int axis = 0; axis < 3; ++axis) {
        double left[4], right[4], mean[4], f_left[4], f_right[4];
        random_state(engine, left);
        random_state(engine, right);
        Dual<4> seeded[4], flux[4];
        for (int c = 0; c < 4; ++c) {
            mean[c] = 0.5 * (left[c] + right[c]);
            seeded[c] = Dual<4>(mean[c], c);
        }
        const FaceMatrices matrices(mean, axis, 2.0);
        plain_flux(left, axis, 2.0, f_left);
        plain_flux(right, axis, 2.0, f_right);
        plain_flux(seeded, axis, 2.0, flux);
        double alone[4][4];
        FaceMatrices::plain_at(mean, axis, 2.0, alone);
        for (int row = 0; row < 4; ++row) {
            double difference = 0.0;
            for (int c = 0; c < 4; ++c) {
                EXPECT_NEAR(matrices.plain[row][c], flux[row].d[c], 1e-15);
                EXPECT_NEAR(alone[row][c], flux[row].d[c], 1e-15);
                difference += matrices.plain[row][c] * (right[c] - left[c]);
            }
            EXPECT_NEAR(difference, f_right[row] - f_left[row], 1e-15);
        }
    }
}

constexpr const char* cavity = "artificial_compressibility";

/// The first-order residual of cell p in dual numbers whose variables are the state of the cell `seeded`, p itself or a
/// neighbour. |A| at each face is that at state q, without derivatives.
void dual_row(const CavityFlow& flow, const ConstVectorView& q, Int3 p, Int3 seeded, Dual<4> (&f)[4]) {
    const auto value = [&](Int3 at, Dual<4>(&state)[4]) {
        for (int c = 0; c < 4; ++c) state[c] = at == seeded ? Dual<4>(q(at, c), c) : Dual<4>(q(at, c));
    };
    for (int axis = 0; axis < 3; ++axis)
        for (int side = -1; side <= 1; side += 2) {
            const double h = flow.grid.spacing[axis];
            const Int3 n = p + CavityFlow::step(axis, side);
            Dual<4> here[4], there[4], f_here[4], f_there[4];
            value(p, here);
            if (!flow.grid.contains(n)) {
                value(p + CavityFlow::step(axis, -side), there);
                for (int e = 0; e < 3; ++e) f[e] += 2 * flow.viscosity / (h * h) * here[e];
                f[axis] += side / h * (1.5 * here[3] - 0.5 * there[3]);
                continue;
            }
            value(n, there);
            double mean[4];
            for (int c = 0; c < 4; ++c) mean[c] = 0.5 * (q(p, c) + q(n, c));
            const FaceMatrices frozen(mean, axis, flow.beta[0]);
            plain_flux(here, axis, flow.beta[0], f_here);
            plain_flux(there, axis, flow.beta[0], f_there);
            for (int row = 0; row < 4; ++row) {
                f[row] += side / (2 * h) * (f_here[row] + f_there[row]);
                for (int c = 0; c < 4; ++c) f[row] += 0.5 / h * frozen.absolute[row][c] * (here[c] - there[c]);
                if (row < 3) f[row] += flow.viscosity / (h * h) * (here[row] - there[row]);
            }
        }
}

TEST(ArtificialCompressibility, MatrixIsTheDerivativeWithFrozenUpwinding) {
    const auto problem = make_problem(cavity, {{"grid.cells", "4 5 3"}, {"problem.reynolds", "30"}});
    const System system(*problem);
    const Vector u = system.random(5);
    const StructMatrix a = system.matrix(u, u);
    CavityFlow flow;
    flow.grid = a.grid();
    flow.viscosity = 1.0 / 30;
    flow.beta[0] = 1.0;
    for (Index row = 0; row < a.grid().points(); ++row)
        for (int e = 0; e < 7; ++e) {
            const Int3 p = a.grid().point(row), seeded = p + a.stencil()[e];
            Dual<4> f[4];
            if (a.grid().contains(seeded)) dual_row(flow, view(u), p, seeded, f);
            for (int r = 0; r < 4; ++r)
                for (int c = 0; c < 4; ++c)
                    ASSERT_NEAR(a.at(p, e, r, c), f[r].d[c] + (e == 3 && r == c ? system.level.rate[0] : 0.0), 1e-12)
                        << "entry " << e << " " << r << c;
        }
}

/// If the states on both sides of every face are equal, |A| does not matter: then the matrix is the derivative of the
/// program's residual, including the scalars.
TEST(ArtificialCompressibility, MatrixIsTheDerivativeOfTheFirstOrderResidualAtEvenStates) {
    const auto problem = make_problem(cavity, {{"grid.cells", "4 5 3"},
                                               {"grid.lengths", "1 2 0.5"},
                                               {"problem.reconstruction", "first_order"},
                                               {"problem.sets", "2"},
                                               {"problem.scalars", "2"},
                                               {"problem.artificial_compressibility", "1 3"},
                                               {"problem.step_factor", "1 0.5"},
                                               {"problem.coupling", "householder"}});
    const System system(*problem);
    Vector u = system.vector();
    for (int c = 0; c < 8; ++c)
        for (Index row = 0; row < system.layout.slots(); ++row) u.component(c)[row] = 0.1 + 0.15 * c - 0.02 * c * c;
    // u = H u for a uniform state whose scalars are zero
    double square = 0.0, inner = 0.0;
    for (int c = 0; c < 10; ++c) {
        square += (1.0 + c) * (1.0 + c);
        inner += (1.0 + c) * u.component(c)[0];
    }
    for (int c = 0; c < 10; ++c)
        for (Index row = 0; row < system.layout.slots(); ++row) u.component(c)[row] -= 2 * inner / square * (1.0 + c);
    const StructMatrix a = system.matrix(u, u);
    const Grid& grid = a.grid();
    for (Index column = 0; column < grid.points(); ++column)
        for (int c = 0; c < 10; ++c) {
            const Int3 q = grid.point(column);
            constexpr double step = 1e-5;
            const double before = u(q, c);
            u(q, c) = before + step;
            const Vector plus = system.residual(u, system.initial());
            u(q, c) = before - step;
            const Vector minus = system.residual(u, system.initial());
            u(q, c) = before;
            for (Index row = 0; row < grid.points(); ++row) {
                const Int3 p = grid.point(row);
                const int e = a.stencil().find(q + -p);
                for (int r = 0; r < 10; ++r)
                    ASSERT_NEAR((plus(p, r) - minus(p, r)) / (2 * step), e < 0 ? 0.0 : a.at(p, e, r, c), 1e-7)
                        << "row " << row << " " << r << " column " << column << " " << c;
            }
        }
}

/// Set s of several equals a flow with its beta and step alone, and no coefficient couples two sets.
TEST(ArtificialCompressibility, SetsAreFlowsOfTheirOwn) {
    const char* betas[] = {"1", "2", "0.5"};
    const auto joint = make_problem(
        cavity, {{"grid.cells", "4 3 5"}, {"problem.sets", "3"}, {"problem.artificial_compressibility", "1 2 0.5"}});
    const System all(*joint);
    const Vector u = all.random(3), old = all.random(4), f = all.residual(u, old);
    const StructMatrix a = all.matrix(u, old);
    for (int s = 0; s < 3; ++s) {
        const auto alone =
            make_problem(cavity, {{"grid.cells", "4 3 5"}, {"problem.artificial_compressibility", betas[s]}});
        const System one(*alone);
        Vector v = one.vector(), before = one.vector();
        std::copy_n(u.component(4 * s), v.size(), v.data());
        std::copy_n(old.component(4 * s), v.size(), before.data());
        const Vector g = one.residual(v, before);
        const StructMatrix b = one.matrix(v, before);
        for (Index row = 0; row < g.layout().slots(); ++row) {
            const Int3 p = g.layout().grid().point(row);
            for (int r = 0; r < 4; ++r) {
                EXPECT_EQ(f(p, 4 * s + r), g(p, r));
                for (int e = 0; e < 7; ++e)
                    for (int c = 0; c < 12; ++c)
                        ASSERT_EQ(a.at(p, e, 4 * s + r, c), c / 4 == s ? b.at(p, e, r, c % 4) : 0.0);
            }
        }
    }
}

/// A' = H A H and F'(H x) = H F(x), with H = I - 2 w w^T / (w^T w) and w = (1, 2, 3, ...) computed here.
TEST(ArtificialCompressibility, ReflectionTurnsUnknownsAndRows) {
    for (const char* sets : {"1", "2", "8"})
        for (const char* scalars : {"0", "2"}) {
            if (sets == std::string("8") && scalars == std::string("2")) continue;
            const Keys keys{{"grid.cells", "3 4 2"}, {"problem.sets", sets}, {"problem.scalars", scalars}};
            Keys coupled = keys;
            coupled.push_back({"problem.coupling", "householder"});
            const auto plain = make_problem(cavity, keys), turned = make_problem(cavity, coupled);
            const System x(*plain), y(*turned);
            const int n = plain->shape().dof;
            std::vector<double> h(n * n);
            double square = 0.0;
            for (int c = 0; c < n; ++c) square += (c + 1.0) * (c + 1.0);
            for (int r = 0; r < n; ++r)
                for (int c = 0; c < n; ++c) h[r * n + c] = (r == c ? 1.0 : 0.0) - 2 * (r + 1.0) * (c + 1.0) / square;
            const auto reflected = [&](const Vector& from) {
                Vector to = x.vector();
                for (Index s = 0; s < x.layout.slots(); ++s)
                    for (int r = 0; r < n; ++r)
                        for (int c = 0; c < n; ++c) to.component(r)[s] += h[r * n + c] * from.component(c)[s];
                return to;
            };
            const Vector u = x.random(1), old = x.random(2);
            EXPECT_LE(max_difference(y.residual(reflected(u), reflected(old)), reflected(x.residual(u, old))), 1e-11);
            const StructMatrix a = x.matrix(u, old), b = y.matrix(reflected(u), reflected(old));
            for (int e = 0; e < 7; ++e)
                for (int r = 0; r < n; ++r)
                    for (int c = 0; c < n; ++c) {
                        double sum = 0.0;
                        for (int i = 0; i < n; ++i)
                            for (int j = 0; j < n; ++j) sum += h[r * n + i] * a.at({1, 1, 1}, e, i, j) * h[j * n + c];
                        ASSERT_NEAR(b.at({1, 1, 1}, e, r, c), sum, 1e-11) << n << " unknowns, entry " << e;
                    }
        }
}

TEST(ArtificialCompressibility, ScalarsAreBoundByTheirUpwindRows) {
    const auto problem = make_problem(cavity, {{"grid.cells", "5 4 3"}, {"problem.scalars", "2"}});
    const System system(*problem);
    const Vector u = system.random(9);
    const StructMatrix a = system.matrix(u, u);
    for (Index row = 0; row < a.grid().points(); ++row)
        for (int s = 4; s < 6; ++s)
            for (int e = 0; e < 7; ++e) {
                const double value = a.at(a.grid().point(row), e, s, s);
                EXPECT_TRUE(e == 3 ? value > 0.0 : value <= 0.0);
            }
}

}  // namespace
}  // namespace hyperplane::test
