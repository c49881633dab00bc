#include <fmt/format.h>

#include <chrono>
#include <functional>

#include "core/error.hpp"
#include "core/timer.hpp"
#include "precond/cusparse_factorisation.hpp"
#include "precond/cusparse_ilu.hpp"
#include "precond/cusparse_triangle.hpp"

namespace hyperplane {
using namespace cusparse;

namespace {

/// Seconds of work, with all it queued.
double seconds_of(const std::function<void()>& work) {
    device::synchronize();
    const auto begin = std::chrono::steady_clock::now();
    work();
    device::synchronize();
    return seconds_since(begin);
}

}  // namespace

std::string cusparse_unavailable() {
    return device::unavailable();
}

struct CusparseIlu::Device {
    Layout layout;
    std::vector<Int3> offsets;
    int dof, pattern_lower;
    bool symmetric, analysed = false;
    Handle handle;
    CompressedRows rows;
    Buffer<double> in, middle, out;
    std::unique_ptr<Factorisation> factorisation;
    std::unique_ptr<Triangle> lower, upper;
    Buffer<char> work;
    CusparseCosts costs;

    Device(const Context& context, const StructMatrix& a, const Stencil& pattern, RowFormat format)
        : layout(a.layout()),
          offsets(a.stencil().offsets()),
          dof(a.dof()),
          pattern_lower(pattern.lower_size()),
          symmetric(a.symmetric()),
          rows(context, a, pattern, format, symmetric && format == RowFormat::csr ? RowPart::lower : RowPart::full),
          in(context, "cuSPARSE's vectors", a.unknowns()),
          middle(context, "cuSPARSE's vectors", a.unknowns()),
          out(context, "cuSPARSE's vectors", a.unknowns()) {
        open(handle);
        const bool cholesky = symmetric && format == RowFormat::csr;
        const auto unit = cholesky ? CUSPARSE_DIAG_TYPE_NON_UNIT : CUSPARSE_DIAG_TYPE_UNIT;
        const Side low{CUSPARSE_FILL_MODE_LOWER, unit, plain, &in, &middle};
        const Side up{cholesky ? CUSPARSE_FILL_MODE_LOWER : CUSPARSE_FILL_MODE_UPPER, CUSPARSE_DIAG_TYPE_NON_UNIT,
                      cholesky ? CUSPARSE_OPERATION_TRANSPOSE : plain, &middle, &out};
        factorisation = make_factorisation(handle, format, cholesky);
        lower = make_triangle(handle, rows, low);
        upper = make_triangle(handle, rows, up);
    }

    bool serves(const StructMatrix& a) const {
        return a.layout() == layout && a.dof() == dof && a.symmetric() == symmetric && a.stencil().offsets() == offsets;
    }

    void analyse_factorisation(const Context& context) {
        work = buffer(context, factorisation->work_bytes(rows), factorisation->name());
        costs.analysis += seconds_of([&] { factorisation->analyse(rows, work.data()); });
        require_pivots();
    }

    void analyse_triangles(const Context& context) {
        costs.analysis += seconds_of([&] {
            lower->analyse(context);
            upper->analyse(context);
        });
        costs.work_bytes = work.size() + lower->work_bytes() + upper->work_bytes();
    }

    void require_pivots() {
        const int at = factorisation->zero_pivot();
        if (at < 0) return;
        const int rows_of_point = rows.format() == RowFormat::bsr ? 1 : dof;
        const Int3 cell = layout.grid().point(Index(at / rows_of_point));
        throw SetupError(
            fmt::format("cusparse_ilu: {} met a pivot that is zero{} at cell ({},{},{}){}; it has no remedy for one, "
                        "struct_ilu has "
                        "(preconditioner.pivot_policy = shift or boost)",
                        factorisation->name(), symmetric ? " or not positive" : "", cell.x, cell.y, cell.z,
                        rows_of_point > 1 ? fmt::format(", component {}", at % rows_of_point) : ""));
    }
};

CusparseIlu::CusparseIlu(const Context& context, const CusparseOptions& options)
    : context_(context), options_(options) {}
CusparseIlu::~CusparseIlu() = default;

SetupReport CusparseIlu::setup(const StructMatrix& a) {
    if (!device_ || !device_->serves(a)) {
        device_.reset();
        const Stencil stencil = a.stencil().filled(options_.fill_level);
        const double seconds =
            seconds_of([&] { device_ = std::make_unique<Device>(context_, a, stencil, options_.format); });
        device_->costs.conversion = seconds;
        device_->analyse_factorisation(context_);
    } else {
        restore(a);
    }
    Device& d = *device_;
    factorise();
    d.require_pivots();
    if (!d.analysed) {
        d.analyse_triangles(context_);
        d.analysed = true;
    } else {
        d.lower->update();
        d.upper->update();
    }
    SetupReport report;
    report.factor_bytes = d.rows.bytes();
    return report;
}

void CusparseIlu::restore(const StructMatrix& a) {
    device_->rows.assign(a);
}

void CusparseIlu::factorise() {
    device_->factorisation->factorise(device_->rows, device_->work.data());
}

void CusparseIlu::load(const Vector& r) const {
    to_rows(r, device_->in.data());
}

void CusparseIlu::lower_solve() const {
    device_->lower->solve();
}

void CusparseIlu::upper_solve() const {
    device_->upper->solve();
}

void CusparseIlu::store(Vector& z) const {
    from_rows(device_->out.data(), z);
}

void CusparseIlu::apply(const Vector& r, Vector& z) const {
    load(r);
    lower_solve();
    upper_solve();
    store(z);
}

PreconditionerTraits CusparseIlu::traits() const {
    return {.fixed = true, .symmetric = device_ && device_->symmetric};
}

Index CusparseIlu::bytes_per_apply() const {
    const Device& d = *device_;
    const Index block = Index(d.dof) * d.dof * d.layout.slots(), lower = d.pattern_lower;
    return ((2 * lower + 1) * block + 4 * d.in.size()) * Index(sizeof(double));
}

const CusparseCosts& CusparseIlu::costs() const {
    return device_->costs;
}

}  // namespace hyperplane
