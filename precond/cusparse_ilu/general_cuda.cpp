// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <chrono>

#include "core/error.hpp"
#include "core/timer.hpp"
#include "precond/cusparse_ilu/factorisation.hpp"
#include "precond/cusparse_ilu/general.hpp"
#include "precond/cusparse_ilu/solves.hpp"

namespace hyperplane {
using namespace cusparse;

struct GeneralCusparseIlu::Device {
    std::shared_ptr<const BlockPattern> pattern;  ///< of the matrices that it serves
    int dof;
    bool symmetric, analysed = false;
    Index blocks;  ///< of L + U
    Handle handle;
    CompressedRows rows;
    std::unique_ptr<Factorisation> factorisation;
    std::unique_ptr<Solves> solves;
    Buffer<char> work;
    double analysis = 0.0;  ///< seconds
    Index work_bytes = 0;

    Device(const Context& context, const BsrMatrix& a, const CusparseOptions& options)
        : Device(context, a, options, factorisable(context, a, options)) {}

    /// The pattern of the factors. Throws UsageError if they are more than cuSPARSE can compute.
    static FilledPattern factorisable(const Context& context, const BsrMatrix& a, const CusparseOptions& options) {
        FilledPattern filled = filled_pattern(context.host(), a.pattern(), options.fill_level, "factor");
        options.require_factorisable(CompressedRows::scalars(filled, a.dof(), options.part(a.symmetric())));
        return filled;
    }

    Device(const Context& context, const BsrMatrix& a, const CusparseOptions& options, const FilledPattern& filled)
        : pattern(a.pattern()),
          dof(a.dof()),
          symmetric(a.symmetric()),
          blocks(filled.pattern->blocks()),
          rows(context, a, filled, options.format, options.part(symmetric)) {
        open(context, handle);
        const bool cholesky = options.cholesky(symmetric);
        factorisation = make_factorisation(handle, options.format, cholesky, options.levels);
        solves = make_solves(context, handle, rows, pattern->rows() * dof, cholesky, options);
        work = buffer(context, factorisation->work_bytes(rows), factorisation->name());
        add_analysis(context, [&] { factorisation->analyse(rows, work.data()); });
        require_pivots();
    }

    bool serves(const BsrMatrix& a) const {
        return a.pattern() == pattern && a.dof() == dof && a.symmetric() == symmetric;
    }

    void factorise() { factorisation->factorise(rows, work.data()); }

    /// Analyses the triangles in the first call, and only updates the solves later.
    void take_factors(const Context& context) {
        if (analysed) return solves->update();
        add_analysis(context, [&] { solves->analyse(context); });
        work_bytes = work.size() + solves->work_bytes();
        analysed = true;
    }

    void require_pivots() {
        const int at = factorisation->zero_pivot();
        if (at < 0) return;
        const int rows_of_block = rows.format() == RowFormat::bsr ? 1 : dof;
        throw SetupError(fmt::format(
            "cusparse_ilu: {} found a pivot that is zero{} at row {}{}, which it cannot replace; use sync_free_ilu, "
            "which can (preconditioner.pivot_policy = shift or boost)",
            factorisation->name(), symmetric ? " or not positive" : "", pattern->given_row(at / rows_of_block) + 1,
            rows_of_block > 1 ? fmt::format(", component {}", at % rows_of_block) : ""));
    }

private:
    template <class Work>
    void add_analysis(const Context& context, const Work& done) {
        context.synchronize();
        const auto begin = std::chrono::steady_clock::now();
        done();
        context.synchronize();
        analysis += seconds_since(begin);
    }
};

GeneralCusparseIlu::GeneralCusparseIlu(const Context& context, const CusparseOptions& options)
    : context_(context), options_(options) {
    check(options);
}
GeneralCusparseIlu::~GeneralCusparseIlu() = default;

SetupReport GeneralCusparseIlu::setup(const SystemMatrix& matrix) {
    const BsrMatrix& a = general(matrix);
    SetupReport report;
    const auto begin = std::chrono::steady_clock::now();
    const bool fresh = !device_ || !device_->serves(a);
    if (fresh) {
        device_.reset();
        device_ = std::make_unique<Device>(context_, a, options_);
        report.symbolic_seconds = seconds_since(begin);
    }
    const auto numeric = std::chrono::steady_clock::now();
    if (!fresh) device_->rows.assign(a);
    device_->factorise();
    device_->require_pivots();
    report.numeric_seconds = seconds_since(numeric);
    device_->take_factors(context_);
    report.factor_bytes = device_->rows.bytes();
    return report;
}

void GeneralCusparseIlu::apply(const Vector& r, Vector& z) const {
    device_->solves->load(r);
    apply_unconverted(r, z);
    device_->solves->store(z);
}

void GeneralCusparseIlu::apply_unconverted(const Vector& /*r*/, Vector& /*z*/) const {
    device_->solves->lower();
    device_->solves->upper();
}

ApplicationCheck GeneralCusparseIlu::check_application(const SystemMatrix& a, const Vector& r, const Vector& z,
                                                       const MakeInDouble& in_double) const {
    return check_by_another(a, options_.storage, r, z, in_double);
}

NumericSetup GeneralCusparseIlu::numeric_setup(const SystemMatrix& matrix) {
    return {[this] { device_->factorise(); }, [this, &a = general(matrix)] { device_->rows.assign(a); },
            device_->analysis, device_->work_bytes};
}

PreconditionerTraits GeneralCusparseIlu::traits() const {
    return {.fixed = true, .symmetric = device_ && device_->symmetric};
}

Index GeneralCusparseIlu::bytes_per_apply() const {
    return CusparseIlu::fewest_bytes(device_->blocks, device_->dof, device_->pattern->rows());
}

}  // namespace hyperplane
