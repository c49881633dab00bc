// SPDX-License-Identifier: BSD-3-Clause
#include "precond/triangular/edges_between_ranks.hpp"

#include <vector>

#include "core/ranks/links_cuda.hpp"
#include "core/ranks/messages_cuda.hpp"

namespace hyperplane {
namespace {

constexpr const char* label = "preconditioner: edges";

}  // namespace

EdgesBetweenRanks::EdgesBetweenRanks(const Context& context, const IluPattern& system)
    : context_(context),
      received_{Buffer<EpochRecord>(context, label, count(system)), Buffer<EpochRecord>(context, label, count(system))},
      sent_(context, label, count(system)),
      by_messages_(cuda::by_messages(context)) {
    links_of(context).keep_to_host_if_shared();
    if (by_messages_) return;
    // A rank tells the one that comes before it in a solve where it receives.
    for (const bool upper : {false, true})
        if (const int from = rank_beside(!upper); from >= 0)
            context.ranks()->send(from, cuda::described(context, {received_[upper].data()}));
    for (const bool upper : {false, true})
        if (const int to = rank_beside(upper); to >= 0) {
            std::vector<double> message(cuda::values_to_describe(context, 1));
            context.ranks()->receive(to, message);
            there_[upper] = static_cast<EpochRecord*>(cuda::reached(context, to, message)[0]);
        }
    context.synchronize();
    synchronise_ranks(context, true);  // all memory is zero
}

int EdgesBetweenRanks::rank_beside(bool below) const {
    const int rank = context_.ranks()->rank() + (below ? -1 : 1);
    return rank < context_.ranks()->size() ? rank : -1;
}

void EdgesBetweenRanks::receive(int from, Buffer<EpochRecord>& records) {
    cuda::exchange_parts(context_, {}, {{from, records.data(), records.size() * Index(sizeof(EpochRecord))}});
}

void EdgesBetweenRanks::send(int to) {
    cuda::exchange_parts(context_, {{to, sent_.data(), sent_.size() * Index(sizeof(EpochRecord))}}, {});
}

}  // namespace hyperplane
