// SPDX-License-Identifier: BSD-3-Clause
// The two parts of gmres and fgmres: orthogonalisation and the least-squares problem.
#include "solvers/gram_schmidt.hpp"
#include "solvers/least_squares.hpp"
#include "solvers/systems.hpp"

namespace hyperplane::test {
namespace {

/// w -= V h; returns ||w||.
double orthogonalise(Columns v, Vector& w, std::span<double> h) {
    std::vector<double> first(v.size()), second(v.size());
    double square;
    orthogonalise_twice(v, w, {first.data(), second.data(), &square});
    return orthogonalised(first.data(), second.data(), square, h);
}

struct Basis {
    std::vector<Vector> vectors;
    std::vector<const Vector*> pointers;

    void add(Vector v, double norm) {
        scale(1.0 / norm, v);
        vectors.push_back(std::move(v));
        pointers.clear();
        for (const Vector& vector : vectors) pointers.push_back(&vector);
    }
    /// max |V^T V - I|
    double loss() const {
        double largest = 0.0;
        for (std::size_t i = 0; i < vectors.size(); ++i)
            for (std::size_t j = 0; j < vectors.size(); ++j)
                largest = std::max(largest, std::abs(dot(vectors[i], vectors[j]) - (i == j ? 1.0 : 0.0)));
        return largest;
    }
};

/// A^k v for increasing k are soon nearly parallel: one pass of classical Gram-Schmidt is not enough for them, two are.
TEST(GramSchmidt, TwiceKeepsNearlyParallelVectorsOrthogonal) {
    std::vector<double> eigenvalues(300);
    for (int i = 0; i < 300; ++i) eigenvalues[i] = 1.0 + i;
    const auto a = diagonal(eigenvalues);
    Vector power = vector_of(random_values(300, 1));
    Basis twice, once;
    for (int step = 0; step < 12; ++step) {
        Vector w = vector_of(std::vector<double>(power.data(), power.data() + 300));
        std::vector<double> h(step);
        const double norm = orthogonalise(twice.pointers, w, h);
        ASSERT_GT(norm, 0.0);
        EXPECT_NEAR(norm / norm2(w), 1.0, 1e-14);
        twice.add(std::move(w), norm);

        Vector u = vector_of(std::vector<double>(power.data(), power.data() + 300));
        dots(once.pointers, u, h.data());
        add_combination(-1.0, h.data(), once.pointers, u);
        const double length = norm2(u);
        once.add(std::move(u), length);

        Vector next = vector_of(std::vector<double>(300));
        a.apply(power, next);
        copy(next, power);
        scale(1.0 / norm2(power), power);
    }
    EXPECT_LT(twice.loss(), 1e-14);
    EXPECT_GT(once.loss(), 1e-10) << "or the test could not tell";
}

TEST(GramSchmidt, CoefficientsRebuildTheVector) {
    Basis basis;
    for (unsigned seed = 0; seed < 5; ++seed) {
        Vector v = vector_of(random_values(50, seed));
        std::vector<double> h(seed);
        const double norm = orthogonalise(basis.pointers, v, h);
        basis.add(std::move(v), norm);
    }
    const auto values = random_values(50, 9);
    Vector w = vector_of(values);
    std::vector<double> h(5);
    orthogonalise(basis.pointers, w, h);
    add_combination(1.0, h.data(), basis.pointers, w);
    for (int i = 0; i < 50; ++i) EXPECT_NEAR(w.data()[i], values[i], 1e-15);
}

TEST(GramSchmidt, ZeroForAVectorInTheSpan) {
    Basis basis;
    Vector v = vector_of(random_values(50, 1));
    const double norm = norm2(v);
    basis.add(std::move(v), norm);
    Vector w = vector_of(random_values(50, 1));
    scale(3.0, w);
    std::vector<double> h(1);
    EXPECT_EQ(orthogonalise(basis.pointers, w, h), 0.0);
    EXPECT_NEAR(h[0], 3.0 * norm, 1e-13);
    Vector zero = vector_of(std::vector<double>(50));
    EXPECT_EQ(orthogonalise(basis.pointers, zero, h), 0.0);
}

/// H = [3; 4], beta = 5: y = 15/25, the residual is |(5 - 9/5, -12/5)| = 4.
TEST(LeastSquares, OneColumnByHand) {
    HessenbergLeastSquares problem(5.0);
    EXPECT_EQ(problem.residual_norm(), 5.0);
    const double h[] = {3.0};
    ASSERT_TRUE(problem.add_column(h, 4.0));
    EXPECT_DOUBLE_EQ(problem.residual_norm(), 4.0);
    ASSERT_EQ(problem.solve().size(), 1u);
    EXPECT_DOUBLE_EQ(problem.solve()[0], 0.6);
}

/// The solution equals that of the normal equations, H^T H y = beta H^T e_0, for each number of columns.
TEST(LeastSquares, EqualsTheNormalEquations) {
    const int n = 6;
    const double beta = 2.5;
    reference::Dense full(n + 1, n);
    const auto values = random_values(100, 2);
    HessenbergLeastSquares problem(beta);
    for (int j = 0; j < n; ++j) {
        for (int i = 0; i <= j + 1; ++i) full(i, j) = values[10 * i + j] + (i == j ? 2.0 : 0.0);
        std::vector<double> h(j + 1);
        for (int i = 0; i <= j; ++i) h[i] = full(i, j);
        ASSERT_TRUE(problem.add_column(h, full(j + 1, j)));

        reference::Dense hessenberg(j + 2, j + 1), right(j + 2, 1);
        for (int i = 0; i < j + 2; ++i)
            for (int col = 0; col <= j; ++col) hessenberg(i, col) = full(i, col);
        right(0, 0) = beta;
        const auto transposed = reference::transpose(hessenberg);
        const auto y =
            reference::solve(reference::product(transposed, hessenberg), reference::product(transposed, right));
        EXPECT_LT(max_difference(problem.solve(), y.values), 1e-12);
        const auto rest = reference::difference(reference::product(hessenberg, y), right);
        double squares = 0.0;
        for (double value : rest.values) squares += value * value;
        EXPECT_NEAR(problem.residual_norm(), std::sqrt(squares), 1e-12);
    }
}

TEST(LeastSquares, RefusesAColumnThatMakesItSingular) {
    HessenbergLeastSquares problem(1.0);
    const double first[] = {2.0}, second[] = {4.0, 2.0};
    ASSERT_TRUE(problem.add_column(first, 1.0));
    EXPECT_FALSE(problem.add_column(second, 0.0)) << "twice the first column";
    EXPECT_EQ(problem.columns(), 1);
    EXPECT_EQ(problem.solve().size(), 1u);
    EXPECT_TRUE(problem.add_column(second, 1.0)) << "independent again";
}

}  // namespace
}  // namespace hyperplane::test
