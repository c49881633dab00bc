// SPDX-License-Identifier: BSD-3-Clause
// Records {value, epoch} that threads store and others poll, until a record has the epoch of their own launch.
#pragma once

#include "core/device/epochs.hpp"

namespace hyperplane {

typedef unsigned long long u64;
/// A record as four registers. It is loaded as one value, so that the thread waits only where it uses the record.
typedef unsigned __int128 Record;

/// Who stores and loads a record: threads of one GPU, or of several.
enum class Reach { one_gpu, all_gpus };

__device__ __forceinline__ u64 epoch_of(Record record) {
    return u64(record >> 64);
}
__device__ __forceinline__ double value_of(Record record) {
    return __longlong_as_double((long long)record);
}

// NOLINTBEGIN(misc-unused-parameters): a test compiles this text for the host, without PTX
template <Reach reach = Reach::one_gpu>
__device__ __forceinline__ void store_record(EpochRecord* at, double value, u64 epoch) {
    const Record record = (Record)epoch << 64 | (u64)__double_as_longlong(value);
    if constexpr (reach == Reach::one_gpu)
        asm volatile("st.relaxed.gpu.global.b128 [%0], %1;" ::"l"(at), "q"(record) : "memory");
    else
        asm volatile("st.relaxed.sys.global.b128 [%0], %1;" ::"l"(at), "q"(record) : "memory");
}
template <Reach reach = Reach::one_gpu>
__device__ __forceinline__ Record load_record(const EpochRecord* at) {
    Record record;
    if constexpr (reach == Reach::one_gpu)
        asm volatile("ld.relaxed.gpu.global.b128 %0, [%1];" : "=q"(record) : "l"(at) : "memory");
    else
        asm volatile("ld.relaxed.sys.global.b128 %0, [%1];" : "=q"(record) : "l"(at) : "memory");
    return record;
}
// NOLINTEND(misc-unused-parameters)

}  // namespace hyperplane
