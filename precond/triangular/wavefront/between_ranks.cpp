// SPDX-License-Identifier: BSD-3-Clause
#include "precond/triangular/wavefront/between_ranks.hpp"

#include <vector>

#include "core/ranks/cuts.hpp"
#include "core/ranks/links_cuda.hpp"

namespace hyperplane::wavefront_cuda {
namespace {

constexpr const char* label = "preconditioner: edges";

}  // namespace

EdgesBetweenRanks::EdgesBetweenRanks(const Context& context, const IluPattern& system)
    : context_(context),
      received_{Buffer<Edge>(context, label, count(system)), Buffer<Edge>(context, label, count(system))},
      sent_(context, label, count(system)) {
    links_of(context).keep_to_host_if_shared();
    std::vector<double> mine;
    for (Buffer<Edge>& buffer : received_) mine.push_back(address_as_value(buffer.data()));
    const std::vector<double> all = gathered(context, mine);
    for (const bool upper : {false, true})
        if (const int to = rank_beside(upper); to >= 0)
            there_[upper] = static_cast<Edge*>(address_of_value(all[std::size_t(2 * to + upper)]));
    context.synchronize();
    meet_ranks(context, true);  // all memory is zero
}

int EdgesBetweenRanks::rank_beside(bool below) const {
    const int rank = context_.ranks()->rank() + (below ? -1 : 1);
    return rank < context_.ranks()->size() ? rank : -1;
}

void EdgesBetweenRanks::receive(int from, Buffer<Edge>& records) {
    std::vector<double> message(std::size_t(records.size()) * sizeof(Edge) / sizeof(double));
    context_.ranks()->receive(from, message);
    context_.stream().copy(message.data(), records.data(), records.size() * Index(sizeof(Edge)));
}

void EdgesBetweenRanks::send(int to) {
    std::vector<double> message(std::size_t(sent_.size()) * sizeof(Edge) / sizeof(double));
    context_.stream().copy(sent_.data(), message.data(), sent_.size() * Index(sizeof(Edge)));
    context_.ranks()->send(to, message);
}

}  // namespace hyperplane::wavefront_cuda
