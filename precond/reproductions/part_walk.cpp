// SPDX-License-Identifier: BSD-3-Clause
#include "precond/reproductions/part_walk.hpp"

#include <vector>

#include "precond/general/factors/cpu.hpp"

namespace hyperplane {
namespace {

constexpr const char *walk_text = "precond/reproductions/part_walk.cuh", *walk_label = "factor";
constexpr unsigned walk_threads = 256;

rtc::Definitions definitions(int dof, SubdomainVariant variant) {
    return {{"DOF", std::to_string(dof)},
            {"THREADS", std::to_string(walk_threads)},
            {"SPIN", variant == SubdomainVariant::spin ? "1" : "0"},
            {"EDGES", variant == SubdomainVariant::dag_edge ? "1" : "0"}};
}

/// Numbers of both graphs of all parts (graph_of in the kernels' text).
Index graph_size(Index rows, Index parts, SubdomainVariant variant) {
    if (variant == SubdomainVariant::spin) return 0;
    return 2 * (variant == SubdomainVariant::dag_edge ? 3 : 2) * (rows + parts);
}

/// The rows part by part, as the kernels read them.
struct StoredRows {
    std::vector<Index> begin{0};
    std::vector<int> below;
    std::vector<unsigned short> columns;

    StoredRows(const FilledPattern& filled, const GraphParts& parts) {
        const BlockPattern& p = *filled.pattern;
        std::vector<unsigned short> number(std::size_t(p.rows()));  // of a row within its part
        for (Index part = 0; part < parts.count(); ++part)
            for (Index at = parts.begin[part]; at < parts.begin[part + 1]; ++at)
                number[parts.vertices[at]] = static_cast<unsigned short>(at - parts.begin[part]);
        columns.reserve(std::size_t(p.blocks()));
        for (const int row : parts.vertices) {
            const Index first = p.row_begin()[row], last = p.row_begin()[row + 1];
            for (Index at = first; at < last; ++at) columns.push_back(number[p.column()[at]]);
            below.push_back(int(filled.diagonal[row] - first));
            begin.push_back(Index(columns.size()));
        }
    }
};

}  // namespace

PartWalkCuda::PartWalkCuda(const GpuPattern& pattern, const GeneralFactors& factors, const GraphParts& parts,
                           SubdomainVariant variant)
    : pattern_(pattern),
      dof_(factors.dof),
      parts_(parts.count()),
      shared_(parts.largest() *
              (factors.dof * Index(sizeof(double)) + (variant == SubdomainVariant::spin ? Index(sizeof(int)) : 0))),
      values_(pattern.diagonal.context(), walk_label, factors.value_count()) {
    const Context& context = values_.context();
    const auto kernel = [&](const char* name) {
        return Kernel(context, precond_source(walk_text), definitions(factors.dof, variant), name);
    };
    pack_kernel_ = kernel("pack_rows");
    walk_kernel_ = kernel("part_walk");
    const StoredRows stored(factors.filled, parts);
    part_rows_ = copied_to(context, walk_label, std::vector<int>(parts.begin.begin(), parts.begin.end()));
    rows_ = copied_to(context, walk_label, std::vector<int>(parts.vertices.begin(), parts.vertices.end()));
    below_ = copied_to(context, walk_label, stored.below);
    begin_ = copied_to(context, walk_label, stored.begin);
    columns_ = copied_to(context, walk_label, stored.columns);
    graph_ = Buffer<int>(context, walk_label, graph_size(parts.vertices.size(), parts_, variant));
    arguments_.part_rows = part_rows_.data();
    arguments_.rows = rows_.data();
    arguments_.begin = as_pointers(begin_.data());
    arguments_.below = below_.data();
    arguments_.columns = columns_.data();
    arguments_.values = values_.data();
    arguments_.graph = graph_.data();
    arguments_.count = parts.vertices.size();
    walk_kernel_.allow_shared(shared_);
    if (graph_.size() == 0 || parts_ == 0) return;
    const Kernel find = kernel("part_graph");
    const Index scratch = 2 * parts.largest() * Index(sizeof(int));
    find.allow_shared(scratch);
    find.launch({unsigned(parts_)}, walk_threads, scratch, arguments_);
}

Index PartWalkCuda::bytes_per_apply() const {
    return general_cpu::bytes_per_apply(pattern_.pattern->rows(), pattern_.pattern->blocks(), dof_);
}

void PartWalkCuda::take(const GeneralFactors& factors, const std::string& /*name*/) {
    PartWalkArguments arguments = arguments_;
    arguments.row_begin = as_pointers(pattern_.pattern->row_begin());
    arguments.diagonal = as_pointers(pattern_.diagonal.data());
    arguments.factors = factors.values.data();
    if (arguments.count == 0) return;
    pack_kernel_.launch({unsigned((arguments.count * dof_ + walk_threads - 1) / walk_threads)}, walk_threads, 0,
                        arguments);
}

void PartWalkCuda::apply(const Vector& r, Vector& z) const {
    if (parts_ == 0) return;
    PartWalkArguments arguments = arguments_;
    arguments.in = r.data();
    arguments.out = z.data();
    walk_kernel_.launch({unsigned(parts_)}, walk_threads, shared_, arguments);
}

Index PartWalkCuda::bytes(const FilledPattern& filled, const GraphParts& parts, int dof, SubdomainVariant variant) {
    const Index rows = filled.pattern->rows(), blocks = filled.pattern->blocks();
    return (parts.count() + 1 + 2 * rows + graph_size(rows, parts.count(), variant)) * Index(sizeof(int)) +
           (rows + 1) * Index(sizeof(Index)) +
           blocks * (Index(sizeof(unsigned short)) + dof * dof * Index(sizeof(double)));
}

rtc::Programs PartWalkCuda::programs(int dof, SubdomainVariant variant) {
    return {{precond_source(walk_text), definitions(dof, variant)}};
}

}  // namespace hyperplane
