// SPDX-License-Identifier: BSD-3-Clause
#include "apps/bench/vectors.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <memory>

#include "apps/bench/rows.hpp"
#include "apps/bench/setup.hpp"
#include "core/error.hpp"
#include "core/vector/blas1.hpp"
#if HYPERPLANE_CUDA_BUILT
#include "apps/bench/cublas.hpp"
#else
namespace hyperplane {
struct Cublas {
    explicit Cublas(const Context&) {}
};
}  // namespace hyperplane
#endif

namespace hyperplane {
namespace {

constexpr int basis_columns = 16;
constexpr double step_length = 1e-6, share = 0.5;  // so that hundreds of repeats neither overflow nor vanish

/// Random vectors that nothing changes: beginnings of x and y, z, and a basis.
struct VectorBeginning {
    Vector x, y, z;
    std::vector<Vector> vectors_of_v;
    std::vector<const Vector*> v;

    VectorBeginning(const Context& context, const IndexSpace& space) {
        std::uint64_t seed = 0;
        const auto random = [&] {
            Vector made(context, space, 1, "bench");
            fill_random(made, ++seed);
            return made;
        };
        x = random(), y = random(), z = random();
        for (int at = 0; at < basis_columns; ++at) vectors_of_v.push_back(random());
        for (const Vector& column : vectors_of_v) v.push_back(&column);
    }
};

/// What an operation works on. x and y may change.
struct VectorOperands {
    const VectorBeginning& begin;
    Vector x, y;
    const Vector& z;
    const std::vector<const Vector*>& basis;
    Buffer<double> storage;  ///< the basis, a column after the other, as cuBLAS wants it
    Scalars results, numbers;

    VectorOperands(const Context& context, const VectorBeginning& from, bool for_cublas)
        : begin(from),
          x(context, from.x.space(), 1, "bench"),
          y(context, from.x.space(), 1, "bench"),
          z(from.z),
          basis(from.v),
          results(context, "bench", 2 + basis_columns),
          numbers(context, "bench", 5) {
        numbers.set(0, std::vector<double>{step_length, share, 1.0, 0.0, -1.0});
        if (!for_cublas) return;
        const Index size = x.size();
        storage = Buffer<double>(context, "bench", basis_columns * size);
        for (int at = 0; at < basis_columns; ++at)
            context.stream().copy(basis[std::size_t(at)]->data(), storage.data() + at * size,
                                  size * Index(sizeof(double)));
    }
    void restore() {
        copy(begin.x, x);
        copy(begin.y, y);
        results.set(0, std::vector<double>(std::size_t(results.size()), 0.25));
    }
    int size() const { return int(x.size()); }
    const double* number(int at) { return numbers.data() + at; }
    /// All that an operation may have changed.
    std::vector<double> changed() const {
        std::vector<double> all = results.get(0, results.size());
        for (const Vector* v : {&x, &y}) {
            const std::vector<double> values = to_natural(*v);
            all.insert(all.end(), values.begin(), values.end());
        }
        return all;
    }
};

enum CublasNumber { is_step_length, is_share, is_one, is_zero, is_minus_one };

struct VectorPair {
    std::string name;
    int vectors;
    int cublas_calls;
    std::function<void(VectorOperands&)> ours;
    std::function<void(const Cublas&, VectorOperands&)> theirs;
};

std::vector<VectorPair> vector_pairs() {
#if HYPERPLANE_CUDA_BUILT
    using C = Cublas;
    const auto updated = [](const C& c, VectorOperands& o) {
        c.axpy(o.size(), o.number(is_step_length), o.x.data(), o.y.data());
    };
    const auto product = [](const C& c, VectorOperands& o, const Vector& v, const Vector& w, int at) {
        c.dot(o.size(), v.data(), w.data(), o.results.data() + at);
    };
    const auto dot_xy = [product](const C& c, VectorOperands& o) { product(c, o, o.x, o.y, 0); };
    const auto norm_y = [product](const C& c, VectorOperands& o) { product(c, o, o.y, o.y, 0); };
    const auto both = [dot_xy, product](const C& c, VectorOperands& o) { dot_xy(c, o), product(c, o, o.y, o.y, 1); };
    const auto scaled = [](const C& c, VectorOperands& o) { c.scale(o.size(), o.number(is_minus_one), o.x.data()); };
    const auto stepped = [updated, norm_y](const C& c, VectorOperands& o) { updated(c, o), norm_y(c, o); };
    const auto directed = [](const C& c, VectorOperands& o) {  // y is the solution, x the direction
        c.axpy(o.size(), o.number(is_step_length), o.x.data(), o.y.data());
        c.scale(o.size(), o.number(is_share), o.x.data());
        c.axpy(o.size(), o.number(is_one), o.z.data(), o.x.data());
    };
    const auto projected = [](const C& c, VectorOperands& o) {
        c.gemv(true, o.size(), basis_columns, o.number(is_one), o.storage.data(), o.x.data(), o.number(is_zero),
               o.results.data() + 2);
    };
    const auto combined = [](const C& c, VectorOperands& o) {
        c.gemv(false, o.size(), basis_columns, o.number(is_minus_one), o.storage.data(), o.results.data() + 2,
               o.number(is_one), o.y.data());
    };
#else
    const std::function<void(const Cublas&, VectorOperands&)> dot_xy, norm_y, both, updated, scaled, stepped, directed,
        projected, combined;
#endif
    const std::string of = fmt::format(", V of {} columns", basis_columns);
    return {
        {"x^T y", 2, 1, [](VectorOperands& o) { dot(o.x, o.y, o.results.data()); }, dot_xy},
        {"y^T y", 1, 1, [](VectorOperands& o) { dot(o.y, o.y, o.results.data()); }, norm_y},
        {"x^T y, y^T y", 2, 2, [](VectorOperands& o) { dot_norm2(o.x, o.y, o.results.data(), o.results.data() + 1); },
         both},
        {"x = a x", 2, 1, [](VectorOperands& o) { scale(-1.0, o.x); }, scaled},
        {"y = a x + y", 3, 1, [](VectorOperands& o) { axpy(step_length, o.x, o.y); }, updated},
        {"y = a x + y, y^T y", 3, 2, [](VectorOperands& o) { axpy_norm2(step_length, o.x, o.y, o.results.data()); },
         stepped},
        {"y = a x + y, x = z + b x", 5, 3, [](VectorOperands& o) { axpy_xpby(step_length, o.y, o.z, share, o.x); },
         directed},
        {"h = V^T x" + of, 1 + basis_columns, 1, [](VectorOperands& o) { dots(o.basis, o.x, o.results.data() + 2); },
         projected},
        {"y = y - V h" + of, 2 + basis_columns, 1,
         [](VectorOperands& o) { add_combination(-1.0, o.results.data() + 2, o.basis, o.y); }, combined},
    };
}

/// The largest difference relative to the largest value; infinite if one of them is not finite.
double difference_of_results(const std::vector<double>& ours, const std::vector<double>& theirs) {
    double largest = 0.0, most = 0.0;
    for (std::size_t at = 0; at < ours.size(); ++at) {
        if (!std::isfinite(ours[at]) || !std::isfinite(theirs[at])) return std::numeric_limits<double>::infinity();
        largest = std::max(largest, std::abs(ours[at]));
        most = std::max(most, std::abs(ours[at] - theirs[at]));
    }
    return largest > 0.0 ? most / largest : 0.0;
}

}  // namespace

double vectors_memory(const Context& context, Index size) {
    const int beginning = 3 + basis_columns, of_each = 2, own_basis = basis_columns;
    const int vectors = beginning + of_each + (context.backend() == Backend::cuda ? of_each + own_basis : 0);
    return double(vectors) * double(size) * sizeof(double);
}

std::vector<VectorOperation> bench_vectors(const Context& context, Index size, int repeats) {
    const bool cuda = context.backend() == Backend::cuda;
    const std::unique_ptr<Cublas> cublas = cuda ? std::make_unique<Cublas>(context) : nullptr;
    const VectorBeginning begin(context, IndexSpace::plain(size));
    VectorOperands ours(context, begin, false);
    const std::unique_ptr<VectorOperands> theirs =
        cuda ? std::make_unique<VectorOperands>(context, begin, true) : nullptr;
    std::vector<VectorOperation> rows;
    for (const VectorPair& pair : vector_pairs()) {
        VectorOperation row;
        row.name = pair.name;
        row.vectors = pair.vectors;
        ours.restore();
        if (cuda) {
            theirs->restore();
            pair.ours(ours);
            pair.theirs(*cublas, *theirs);
            row.difference = difference_of_results(ours.changed(), theirs->changed());
            if (!(row.difference <= 1e-12))
                throw Error(ExitCode::expectation,
                            fmt::format("bench vectors: {} differs from cuBLAS's by {:.1e}", row.name, row.difference));
        }
        row.seconds = time_in_iterations(context, repeats, [&] { pair.ours(ours); });
        if (cuda) {
            row.cublas_calls = pair.cublas_calls;
            row.cublas = time_in_iterations(context, repeats, [&] { pair.theirs(*cublas, *theirs); });
        }
        rows.push_back(row);
    }
    return rows;
}

}  // namespace hyperplane
