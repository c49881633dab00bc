// SPDX-License-Identifier: BSD-3-Clause
#include "precond/cusparse_ilu/cusparse_ilu.hpp"

#include <fmt/format.h>

#include "core/error.hpp"
#include "precond/choice_key.hpp"

namespace hyperplane {
namespace {

const ParameterTable& cusparse_parameters() {
    using enum ParameterType;
    const std::string section = "preconditioner";
    static const ParameterTable table{
        {.section = section,
         .key = "fill_level",
         .type = integer,
         .default_value = "0",
         .description = "ILU(k): the matrix is padded with zeros to the pattern of level k",
         .minimum = Bound{0},
         .maximum = Bound{3}},
        choice_key("format", "csr", "how cuSPARSE stores the matrix: scalars (csr) or dof x dof blocks (bsr)",
                   {"csr", "bsr"}),
        {.section = section,
         .key = "cholesky",
         .type = boolean,
         .default_value = "true",
         .description = "whether a symmetric matrix in CSR is factored by csric02, whose second solve is with a "
                        "transpose; false: by csrilu02, as any other matrix"},
        {.section = section,
         .key = "level_information",
         .type = boolean,
         .default_value = "true",
         .description = "whether csrilu02, csric02, bsrilu02 and bsrsv2 use the levels that their analysis finds; "
                        "SpSV, which solves in CSR, has no such choice"}};
    return table;
}

CusparseOptions read_options(const Parameters& parameters) {
    const std::string section = "preconditioner";
    return {parameters.text(section, "format") == "bsr" ? RowFormat::bsr : RowFormat::csr,
            int(parameters.integer(section, "fill_level")),
            factor_storage(parameters),
            parameters.boolean(section, "level_information"),
            parameters.boolean(section, "cholesky"),
            parameters.where(section, "storage"),
            parameters.where(section, "format")};
}

/// `parameters` are those of a deck, or those of a smoother or of a library's caller, who have no key for the name.
void require_cusparse(const PreconditionerSetting& setting, const Parameters& parameters) {
    const char* const instead = setting.matrix.kind() == MatrixKind::general ? "sync_free_ilu" : "struct_ilu";
    const std::string where =
        parameters.is_given("preconditioner", "name") ? parameters.where("preconditioner", "name") + ": " : "";
    if (const std::string why = cusparse_unavailable(); !why.empty())
        throw DeviceError(fmt::format("{}cusparse_ilu cannot be used: {}; use {}", where, why, instead));
    if (setting.context.backend() != Backend::cuda)
        throw DeviceError(
            fmt::format("{}cusparse_ilu runs on a GPU only; set device.backend = cuda, or use {}", where, instead));
}

PreconditionerPlan plan_cusparse(const Parameters& parameters, const PreconditionerSetting& setting) {
    require_cusparse(setting, parameters);
    const CusparseOptions options = read_options(parameters);
    const MatrixShape& a = setting.matrix;
    options.check_storage(a.kind());
    const RowPart part = options.part(a.symmetric());
    const Index value = bytes_of(options.storage);
    Index scalars = 0, blocks = 0;
    PreconditionerPlan plan;
    plan.space = a.natural_space();
    plan.bytes = 3 * a.unknowns() * value;
    if (a.kind() == MatrixKind::general) {
        const FilledPattern pattern = filled_pattern(setting.context.host(), a.pattern(), options.fill_level, "factor");
        scalars = CompressedRows::scalars(pattern, a.dof(), part);
        blocks = pattern.pattern->blocks();
        plan.bytes += CompressedRows::bytes(pattern, a.dof(), options.format, part);
    } else {
        const Stencil pattern = a.stencil().filled(options.fill_level);
        scalars = CompressedRows::scalars(a.grid(), pattern, a.dof(), part);
        blocks = (2 * pattern.lower_size() + 1) * a.block_rows();
        plan.bytes += CompressedRows::bytes(a.grid(), pattern, a.dof(), options.format, part, value);
    }
    options.require_factorisable(scalars);
    if (is_reduced(options.storage)) {
        plan.bytes += Index(sizeof(double));  // the norm of the right-hand side
        plan.setup_bytes = scalars * Index(sizeof(double));
    }
    plan.bytes_per_apply = CusparseIlu::fewest_bytes(blocks, a.dof(), a.block_rows(), options.storage);
    plan.traits = {.fixed = true, .symmetric = a.symmetric()};
    return plan;
}

}  // namespace

void CusparseOptions::check_storage(MatrixKind kind) const {
    if (kind != MatrixKind::general || !is_reduced(storage)) return;
    throw UsageError(where_storage +
                     ": cusparse_ilu keeps the factors of general matrices in double precision alone; leave the key "
                     "out, or set matrix.format = structured for a problem on a grid");
}

void CusparseOptions::require_factorisable(Index scalars) const {
    constexpr Index most = Index(1) << 30;
    if (format == RowFormat::bsr || scalars <= most) return;
    throw UsageError(
        fmt::format("{}: cuSPARSE's factorisations in CSR fail with more than 2^30 entries, and the factors have {}; "
                    "use format = bsr "
                    "if there are several unknowns a point, struct_ilu or sync_free_ilu, or a smaller system",
                    where_format, scalars));
}

Index CusparseIlu::fewest_bytes(Index blocks, int dof, Index rows, FactorStorage storage) {
    const Index value = bytes_of(storage);
    return blocks * dof * dof * value + 2 * rows * dof * (value + Index(sizeof(double)));
}

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
        "NVIDIA's csrilu02, csric02 and SpSV, or bsrilu02 and bsrsv2, on the matrix in natural order, or on a general "
        "matrix in the order of its rows; the unknowns of a point are consecutive. With storage = single the solves "
        "are cuSPARSE's in single precision, vectors and "
        "arithmetic too. It needs analysis and buffers that struct_ilu does without; memory predictions leave the "
        "buffers out, because only cuSPARSE knows their size. Needs device.backend = cuda. Source: cuSPARSE library, "
        "NVIDIA, sections on incomplete factorisation and SpSV.";
    row.kinds = {MatrixKind::structured, MatrixKind::general};
    row.parameters = cusparse_parameters();
    row.storages = {FactorStorage::double_precision, FactorStorage::single_precision};
    row.storage_note =
        "cuSPARSE solves in the precision of the factors, and has no triangular solves in half precision";
    row.create = [](const Parameters& parameters,
                    const PreconditionerSetting& setting) -> std::unique_ptr<Preconditioner> {
        require_cusparse(setting, parameters);
#if HYPERPLANE_CUSPARSE_BUILT
        const CusparseOptions options = read_options(parameters);
        options.check_storage(setting.matrix.kind());
        return std::make_unique<CusparseIlu>(setting.context, options);
#else
        (void)parameters;
        return nullptr;
#endif
    };
    row.plan = &plan_cusparse;
    row.baseline = true;
    row.same_factors = "struct_ilu";
    row.same_general_factors = "sync_free_ilu";
    return row;
}

}  // namespace hyperplane
