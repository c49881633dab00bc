// SPDX-License-Identifier: BSD-3-Clause
// How ranks on GPUs, which are threads of one process or processes of one host, exchange data.
//
// There are two ways. Of what is queued for once a rank offers its values to the others, which copy them
// (core/ranks/offers_cuda.hpp). So nothing waits for what is not queued yet, whatever the host allocates or frees in
// between. What is recorded as a CUDA graph (device::Recording) consists of kernels that store values straight into
// the other ranks' memory, then a number, the epoch, into a flag there, and wait for the flags in their own memory.
// Before a graph is queued all ranks synchronise (synchronise_ranks), so its counterparts are queued, too. Ranks may
// share a GPU: kernels of threads that wait occupy a few thread blocks only. Processes that share one take turns on it,
// so that a kernel would wait for a whole turn; they record nothing. A kernel that waits for longer than 20 s ends with
// an error.
// How a rank reaches another one's memory is known to core/ranks/peers_cuda.hpp alone.
#pragma once

#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "core/device/context.hpp"
#include "core/ranks/peers_cuda.hpp"
#include "core/ranks/several_hosts.hpp"
#include "core/ranks/slab_ends.hpp"

namespace hyperplane {

namespace cuda {

class RankMessages;

/// Kernels take this by value. Addresses of other ranks are those by which this one reaches them.
struct LinkView {
    int rank = 0, ranks = 1;
    unsigned* epochs = nullptr;         ///< of this rank: how many sums, halos and whole parts were exchanged
    double* const* gathered = nullptr;  ///< of each rank: sums of all planes, for an even epoch, then for an odd one
    unsigned* const* flags = nullptr;   ///< of each rank: epochs, for each rank that of the last sums from there, then
                                        ///< of the ranks below and above that are ready, then of their values, then
                                        ///< for each rank whether it is ready for whole parts, then of its part
};

/// The end of another rank's memory that a rank stores into (LinkView::flags).
inline constexpr int flags_of_halos = 4;
inline constexpr int flags_of_rank(int ranks) {
    return flags_of_halos + 3 * ranks;
}
inline constexpr int kinds_of_epochs = 3;

/// Records an exchange of slots as exchange_ends (core/ranks/slab_ends.hpp) does it, for arrays in the memory of the
/// context's GPU.
void exchange_ends(const Context& context, const SlabEnd& low, const SlabEnd& high, const std::vector<double*>& arrays,
                   OuterEnds outer);
/// Records that all ranks synchronise: what is recorded behind it begins when all ranks have done what comes before it.
void synchronise_in_stream(const Context& context);
/// Gathers slots as gather_slots (core/ranks/slab_ends.hpp) does, for arrays in the memory of the context's GPU.
void gather_slots(const Context& context, const std::vector<Index>& begins, int arrays, double* first, Index distance);

/// Returns, as values of a message, by what other ranks reach addresses in this one's memory.
std::vector<double> described(const Context& context, const std::vector<const void*>& addresses);
/// How many values describe so many addresses.
std::size_t values_to_describe(const Context& context, std::size_t addresses);
/// The addresses by which this rank reaches what another one has described.
std::vector<void*> reached(const Context& context, int rank, std::span<const double> described);

}  // namespace cuda

/// The memory of one rank that the others store into, and the addresses of theirs. Ranks of several hosts exchange
/// messages instead.
class RankLinks {
public:
    /// All ranks must make theirs at the same time. Throws DeviceError if a GPU cannot reach another one's memory.
    explicit RankLinks(const Context& context, BetweenHosts between_hosts = {});
    ~RankLinks();
    const cuda::LinkView& view() const { return view_; }
    cuda::Peers& peers() const;
    cuda::RankMessages& messages() const { return *messages_; }
    const BetweenHosts& between_hosts() const { return between_hosts_; }
    /// Called, by all ranks, where kernels that fill a GPU are going to wait for those of other ranks. If ranks share a
    /// GPU, no step may be recorded from then on, since such kernels could wait for ever.
    void keep_to_host_if_shared() const { records_ = records_ && !(peers_ && peers_->share_gpus()); }
    /// Whether steps may be recorded as graphs.
    bool records() const { return records_; }
    /// Device memory of one of `ranks` ranks.
    static Index bytes(int ranks) {
        return Index(2 * device::Scratch::sums * sizeof(double)) +
               Index((cuda::flags_of_rank(ranks) + cuda::kinds_of_epochs) * sizeof(unsigned)) +
               Index(2 * ranks * sizeof(void*));
    }

private:
    BetweenHosts between_hosts_;
    std::unique_ptr<cuda::Peers> peers_;            ///< of one host
    std::unique_ptr<cuda::RankMessages> messages_;  ///< of several hosts
    // Not a Buffer, which would keep the context alive that keeps this.
    std::unique_ptr<void, std::function<void(void*)>> memory_;
    cuda::LinkView view_;
    mutable bool records_ = true;
};

/// The links of a context's rank, made at the first call outside a recording, which all ranks must make together.
const RankLinks& links_of(const Context& context);

/// Synchronises all ranks: waits until all have come here. Returns the first rank's `decision`. Without ranks that is
/// the decision.
bool synchronise_ranks(const Context& context, bool decision);

}  // namespace hyperplane
