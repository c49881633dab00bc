#include "precond/narrow_factors.hpp"

#include "precond/for_each_element.hpp"
#include "precond/pivots.hpp"

namespace hyperplane {
namespace {

/// Values of an entry. A GPU copies four bytes at a time, from an even place on.
Index entry_values(Backend backend, Index slots, int dof) {
    const Index stride = backend == Backend::cpu ? StructMatrix::stride(slots) : dof == 1 ? (slots + 1) / 2 * 2 : slots;
    return stride * dof * dof;
}

int kept_entries(const Stencil& stencil, bool symmetric) {
    return symmetric ? stencil.diagonal() + 1 : stencil.size();
}

/// Whole words; a GPU copies 16 bytes at a time, so that the last ones may begin within the array.
Index value_words(FactorStorage storage, Backend backend, Index slots, const Stencil& stencil, int dof,
                  bool symmetric) {
    const Index values = kept_entries(stencil, symmetric) * entry_values(backend, slots, dof);
    return (values * bytes_of(storage) + 3) / 4 + 4;
}

/// Exponents of a part; on a GPU words of four of them are copied.
Index exponents_of_part(Index slots, int dof) {
    return (slots * dof + 3) / 4 * 4;
}

/// Rounds a row of W, D^-1 or G (parts 0, 2 and 1).
template <class T>
struct RoundRow {
    FactorView from;
    BasicBlockView<T> to;
    RowExponentView exponents[3];
    RoundingLog* log;
    int dof;
    bool rows_first;  ///< threads side by side have the rows of a point, not slots, side by side

    HYPERPLANE_HD static int part_of(int element) { return element == 0 ? 0 : element == 1 ? 2 : 1; }

    /// Columns of row `r` of an entry of W, D^-1 or G; false where there are none.
    HYPERPLANE_HD bool line_of(int e, Int3 p, Index slot, int r, double (&line)[max_dof]) const {
        const Int3 q = p + from.offsets[e];
        if (!from.layout.grid().contains(q)) return false;
        for (int c = 0; c < dof; ++c) {
            if (e == from.lower) {
                line[c] = from.inverse.at(0, slot, r, c);
            } else if (from.unit) {
                line[c] = from.triangles.at(e, slot, r, c);
            } else {
                line[c] = 0.0;
                const Index pivot = e < from.lower ? from.layout.slot(q) : slot;
                for (int k = 0; k < dof; ++k)
                    line[c] += e < from.lower ? from.triangles.at(e, slot, r, k) * from.inverse.at(0, pivot, k, c)
                                              : from.inverse.at(0, pivot, r, k) * from.triangles.at(e, slot, k, c);
            }
        }
        return true;
    }

    HYPERPLANE_HD void operator()(int at, int element) const {
        const int slots = int(from.layout.slots()), part = part_of(element);
        const int slot = rows_first ? at / dof : at % slots, r = rows_first ? at % dof : at / slots;
        const Int3 p = from.layout.point(slot);
        const int first = part == 0 ? 0 : part == 2 ? from.lower : from.lower + 1;
        const int last = part == 2 ? first + 1 : first + from.lower;
        double line[max_dof];
        RowRounding<T> row;
        if constexpr (RowRounding<T>::scales) {
            for (int e = first; e < last; ++e)
                if (line_of(e, p, slot, r, line))
                    for (int c = 0; c < dof; ++c) row.see(line[c]);
            const RowExponent exponent = row.settle();
            exponents[part].at(slot, r) = exponent;
            if (part == 0 && from.symmetric) exponents[1].at(slot, r) = exponent;
        }
        for (int e = first; e < last; ++e) {
            const bool inside = line_of(e, p, slot, r, line);
            for (int c = 0; c < dof; ++c) to.at(e, slot, r, c) = inside ? row.rounded(line[c]) : T{};
        }
        row.tell(*log, (unsigned long long)(from.layout.grid().row(p) * dof + r));
    }
};

}  // namespace

NarrowFactors::NarrowFactors(const Context& context, FactorStorage storage, const Layout& layout,
                             const Stencil& stencil, int dof, bool symmetric)
    : context_(context),
      backend_(context.backend()),
      storage_(storage),
      layout_(layout),
      stencil_(stencil),
      dof_(dof),
      symmetric_(symmetric),
      offsets_(copied_to(context, "factor", stencil.offsets())),
      values_(context, "factor", value_words(storage, context.backend(), layout.slots(), stencil, dof, symmetric)) {
    const Index entry = entry_values(backend_, layout.slots(), dof), size = dof * dof, stride = entry / size;
    strides_ = backend_ == Backend::cpu ? ConstBlockView{nullptr, entry, 1, dof * stride, stride}
                                        : ConstBlockView{nullptr, entry, size, dof, 1};
    if (storage == FactorStorage::half_scaled)
        exponents_ = Buffer<RowExponent>(context, "factor", 3 * exponents_of_part(layout.slots(), dof));
}

bool NarrowFactors::serves(FactorStorage storage, const Layout& layout, const Stencil& stencil, int dof,
                           bool symmetric) const {
    return storage == storage_ && layout == layout_ && stencil.offsets() == stencil_.offsets() && dof == dof_ &&
           symmetric == symmetric_;
}

Index NarrowFactors::bytes(FactorStorage storage, Backend backend, Index slots, const Stencil& stencil, int dof,
                           bool symmetric) {
    const Index exponents = storage == FactorStorage::half_scaled ? 3 * exponents_of_part(slots, dof) : 0;
    return 4 * value_words(storage, backend, slots, stencil, dof, symmetric) + exponents +
           stencil.size() * Index(sizeof(Int3));
}

Index NarrowFactors::bytes_of_sweeps(FactorStorage storage, Index slots, const Stencil& stencil, int dof) {
    const Index exponents = storage == FactorStorage::half_scaled ? 3 * slots * dof : 0;
    return (2 * stencil.lower_size() + 1) * dof * dof * slots * bytes_of(storage) + exponents;
}

RowExponentView NarrowFactors::exponents(int part) const {
    if (storage_ != FactorStorage::half_scaled) return {};
    const Index slots = layout_.slots(), size = exponents_of_part(slots, dof_);
    RowExponent* const values = exponents_.data();
    if (backend_ == Backend::cpu) return {values + part * size, 1, slots};
    if (part == 0) return {values, dof_, 1};
    return {values + size + (part - 1), 2 * dof_, 2};
}

template <class T>
void NarrowFactors::round_to(const FactorView& factors, RoundingLog* log) {
    RoundRow<T> row{factors, {}, {exponents(0), exponents(1), exponents(2)}, log, dof_, backend_ == Backend::cuda};
    row.from.offsets = offsets_.data();
    row.to = {reinterpret_cast<T*>(values_.data()), strides_.entry_stride, strides_.slot_stride, strides_.row_stride,
              strides_.col_stride};
    for_each_element(backend_, int(layout_.slots() * dof_), symmetric_ ? 2 : 3, "rounding of factors", row);
}

Rounding NarrowFactors::round(const FactorView& factors) {
    const std::vector<RoundingLog> none{{empty_pivot_log(), 0}};
    Buffer<RoundingLog> log = copied_to(context_, "factor", none);
    if (storage_ == FactorStorage::single_precision)
        round_to<float>(factors, log.data());
    else
        round_to<Half>(factors, log.data());
    RoundingLog met;
    if (backend_ == Backend::cuda)
        device::copy(log.data(), &met, sizeof met);
    else
        met = log[0];
    Rounding result{.flushed = Index(met.flushed), .overflows = Index(met.overflows.failures)};
    if (result.overflows > 0) {
        const Index row = Index(met.overflows.failed[0]);
        result.overflow = {layout_.grid().point(row / dof_), int(row % dof_), met.overflows.failed_value[0]};
    }
    return result;
}

template <class T>
void NarrowFactors::widen_to(StructMatrix& host) const {
    std::vector<std::uint32_t> words(values_.size());
    std::vector<RowExponent> exponents(exponents_.size());
    const auto fetch = [&](const auto& from, auto& to) {
        if (backend_ == Backend::cuda)
            device::copy(from.data(), to.data(), from.size() * Index(sizeof(*to.data())));
        else
            std::copy(from.begin(), from.end(), to.begin());
    };
    fetch(values_, words);
    fetch(exponents_, exponents);
    BasicBlockView<const T> from = values<T>();
    from.values = reinterpret_cast<const T*>(words.data());
    for (int e = 0; e < host.stored_entries(); ++e) {
        RowExponentView scales = this->exponents(e < stencil_.diagonal() ? 0 : e > stencil_.diagonal() ? 1 : 2);
        if (scales.values) scales.values = exponents.data() + (scales.values - exponents_.data());
        for (int row = 0; row < dof_; ++row)
            for (int col = 0; col < dof_; ++col)
                for (Index slot = 0; slot < layout_.slots(); ++slot)
                    host.values(e, row, col)[slot] = hyperplane::widened(from.at(e, slot, row, col)) *
                                                     (scales.values ? scale_of(scales.at(slot, row)) : 1.0);
    }
}

StructMatrix NarrowFactors::widened() const {
    StructMatrix host(Context::cpu(), layout_, stencil_, dof_, symmetric_ ? MatrixStorage::lower : MatrixStorage::full,
                      "factor");
    if (storage_ == FactorStorage::single_precision)
        widen_to<float>(host);
    else
        widen_to<Half>(host);
    return host;
}

}  // namespace hyperplane
