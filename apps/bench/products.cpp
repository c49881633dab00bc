// SPDX-License-Identifier: BSD-3-Clause
#include "apps/bench/products.hpp"

#include "apps/bench/rows.hpp"
#include "apps/bench/setup.hpp"
#include "apps/run/linear_system.hpp"
#include "core/error.hpp"
#include "core/vector/blas1.hpp"
#include "precond/cusparse_ilu/cusparse_ilu.hpp"

namespace hyperplane {
namespace {

class Multiplier {
public:
    Multiplier(const Case& a_case, const SystemMatrix& a, int repeats)
        : case_(a_case),
          a_(a),
          repeats_(repeats),
          x_(a_case.make_vector("bench")),
          y_(a_case.make_vector("bench")),
          expected_(a_case.make_vector("bench")),
          zero_(a_case.make_vector("bench")) {
        fill_random(x_, 5);
        set_zero(zero_);
        a.residual(zero_, x_, expected_);
        scale(-1.0, expected_);
    }

    ProductsBench measure() {
        const double bytes = double(a_.bytes_per_apply()), with_b = bytes + double(y_.size() * Index(sizeof(double)));
        a_.apply(x_, y_);
        add("product", bytes, error(1.0), [&] { a_.apply(x_, y_); });
        a_.residual(zero_, x_, y_);
        add("residual", with_b, error(-1.0), [&] { a_.residual(zero_, x_, y_); });
        add_cusparse(bytes);
        time_copy(bytes);
        bench_.rows = a_.space().block_rows();
        bench_.entries = a_.nonzeros();
        return std::move(bench_);
    }

private:
    /// The relative error of y, which should be `sign` times A x.
    double error(double sign) {
        axpy(-sign, expected_, y_);
        return norm2(y_) / norm2(expected_);
    }
    void add(const std::string& name, double bytes, double error, const std::function<void()>& call) {
        bench_.ways.push_back({name, time_in_iterations(case_.context, repeats_, call), bytes, error, ""});
    }

    void add_cusparse([[maybe_unused]] double bytes) {
#if HYPERPLANE_CUSPARSE_BUILT
        if (case_.context.backend() == Backend::cpu) return;
        const auto try_out = [&](const char* name, RowFormat format, ProductAlgorithm algorithm) {
            try {
                const CusparseProduct product(case_.context, a_, format, algorithm);
                product.apply(x_, y_);
                add(name, bytes, error(1.0), [&] { product.multiply(); });
            } catch (const UsageError& why) {
                bench_.ways.push_back({name, {}, bytes, 0.0, why.what()});
            } catch (const OutOfMemory& why) {
                bench_.ways.push_back({name, {}, bytes, 0.0, why.what()});
            }
        };
        try_out("cuSPARSE CSR", RowFormat::csr, ProductAlgorithm::first);
        try_out("cuSPARSE CSR, algorithm 2", RowFormat::csr, ProductAlgorithm::second);
        if (a_.dof() > 1) try_out("cuSPARSE BSR", RowFormat::bsr, ProductAlgorithm::first);
#endif
    }

    void time_copy(double bytes) {
        const Context& context = case_.context;
        // Half of the bytes are read, and written. On an H200 a copy of a whole number of pages of 4 KiB is 1.5 times
        // as fast as one of any other number of bytes.
        constexpr Index page = 4096;
        const IndexSpace half =
            IndexSpace::plain((Index(bytes / 2.0) + page - 1) / page * (page / Index(sizeof(double))));
        Vector from(context, half, 1, "bench"), to(context, half, 1, "bench");
        fill_random(from, 1);
        bench_.copy = time_in_iterations(context, repeats_, [&] {
            if (context.backend() == Backend::cuda)
                context.stream().copy(from.data(), to.data(), from.size() * Index(sizeof(double)));
            else
                copy(from, to);
        });
    }

    const Case& case_;
    const SystemMatrix& a_;
    int repeats_;
    Vector x_, y_, expected_, zero_;
    ProductsBench bench_;
};

}  // namespace

ProductsBench bench_product(const Case& a_case, int repeats) {
    Vector u = a_case.make_vector("bench");
    LinearSystem system = make_system(a_case);
    assemble_first(a_case, u, system);
    return Multiplier(a_case, *system.a, repeats).measure();
}

}  // namespace hyperplane
