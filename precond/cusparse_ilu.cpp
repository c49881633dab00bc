#include "precond/cusparse_ilu.hpp"

#include <fmt/format.h>

#include "core/error.hpp"

namespace hyperplane {
namespace {

const ParameterTable& cusparse_parameters() {
    using enum ParameterType;
    const std::string section = "preconditioner";
    static const ParameterTable table{
        {section, "fill_level", integer, "0",
         "ILU(k): the matrix is padded with zeros to the stencil's pattern of level k", "", Bound{0}, Bound{3}},
        {section,
         "format",
         choice,
         "csr",
         "how cuSPARSE keeps the matrix: scalars (csr) or dof x dof blocks (bsr)",
         "",
         {},
         {},
         {"csr", "bsr"}}};
    return table;
}

CusparseOptions read_options(const Parameters& parameters) {
    const std::string section = "preconditioner";
    return {parameters.text(section, "format") == "bsr" ? RowFormat::bsr : RowFormat::csr,
            int(parameters.integer(section, "fill_level"))};
}

/// Of a symmetric matrix CSR keeps one triangle, for csric02.
RowPart kept_part(RowFormat format, bool symmetric) {
    return symmetric && format == RowFormat::csr ? RowPart::lower : RowPart::full;
}

void require_cusparse(const Context& context) {
    if (const std::string why = cusparse_unavailable(); !why.empty())
        throw DeviceError(fmt::format("preconditioner.name: cusparse_ilu cannot be used: {}; use struct_ilu", why));
    if (context.backend() != Backend::cuda)
        throw DeviceError(
            "preconditioner.name: cusparse_ilu runs on a GPU only; set device.backend = cuda, or use "
            "struct_ilu");
}

PreconditionerPlan plan_cusparse(const Parameters& parameters, const PreconditionerSetting& setting) {
    require_cusparse(setting.context);
    const CusparseOptions options = read_options(parameters);
    const Stencil pattern = setting.stencil.filled(options.fill_level);
    PreconditionerPlan plan;
    plan.layout = Layout(LayoutKind::natural, setting.grid, setting.stencil.level_map());
    plan.bytes = CompressedRows::bytes(setting.grid, pattern, setting.dof, options.format,
                                       kept_part(options.format, setting.symmetric)) +
                 3 * setting.grid.points() * setting.dof * Index(sizeof(double));
    const Index block = Index(setting.dof) * setting.dof * setting.grid.points();
    plan.bytes_per_apply =
        ((2 * pattern.lower_size() + 1) * block + 4 * setting.grid.points() * setting.dof) * Index(sizeof(double));
    plan.traits = {.fixed = true, .symmetric = setting.symmetric};
    return plan;
}

}  // namespace

#if !HYPERPLANE_CUSPARSE_BUILT
std::string cusparse_unavailable() {
    return cuda_built ? "this program was built without cuSPARSE's incomplete factorisations, which the CUDA toolkit "
                        "it was built with does not have"
                      : device::unavailable();
}
#endif

PreconditionerRow cusparse_ilu_row() {
    PreconditionerRow row;
    row.name = "cusparse_ilu";
    row.summary = "ILU(k), or IC(k) of a symmetric matrix, by cuSPARSE: the baseline on a GPU";
    row.explanation =
        "NVIDIA's csrilu02, csric02 and SpSV, or bsrilu02 and bsrsv2, on the matrix in natural order; a point's "
        "unknowns "
        "are neighbours. It needs analysis and buffers that struct_ilu does without; memory predictions leave the "
        "buffers out, because only cuSPARSE knows their size. Needs device.backend = cuda. "
        "Source: cuSPARSE library, NVIDIA, sections on incomplete factorisation and SpSV.";
    row.parameters = cusparse_parameters();
    row.create = [](const Parameters& parameters,
                    const PreconditionerSetting& setting) -> std::unique_ptr<Preconditioner> {
        require_cusparse(setting.context);
#if HYPERPLANE_CUSPARSE_BUILT
        return std::make_unique<CusparseIlu>(setting.context, read_options(parameters));
#else
        (void)parameters;
        return nullptr;
#endif
    };
    row.plan = &plan_cusparse;
    return row;
}

}  // namespace hyperplane
