// How ranks exchange data within kernels. Each has a buffer in its own memory, which the others
// write to over NVLink:
//
//   counters   one a block: the number of the current exchange, from 1 on
//   flags      of each rank that writes here: the exchange whose data it has written
//   packets    data with its flag in one store, as NCCL's LL protocol has it: two halves, each with
//              a slot a rank. Nothing else is ever written there, which could pass for a flag
//   halves     two, each with a slot a rank: its data. The exchange's parity says which half
//   gathered   rows of x, by copy engines (x_gather.h)
//
// Nothing is ever reset: a call is captured once and replayed, and numbers only grow. They wrap
// around after 2^32 calls, and are compared by their difference.
//
// The counter. A kernel ends one exchange: block b reads counter b when the kernels before it have
// ended, and at its end adds one to the counters b, b + blocks, and so on. So all counters are
// equal between kernels, whatever their number of blocks, on all ranks, and no block writes a
// counter that another reads.
//
// Why two halves suffice, of packets too, without a barrier and with any kernels in between. Let
// kernel n of a rank be its n-th that exchanges; each kernel of a stream begins to write, and to
// read what others write, when all before it have ended (griddepcontrol.wait). Rank A writes into
// B's half n % 2 in its kernel n, so its kernel n - 1 has ended. That waited for data of B's kernel
// n - 1, so B's kernel n - 1 had begun to write, so B's kernel n - 2, which was the last to read
// that half, had ended. It holds for whole halves, hence also where kernels cut them in different
// ways; it needs each kernel to wait for at least one flag or packet of every other rank.
//
// gathered is not doubled: A writes rows for call n when its kernel n - 1 has ended, so B's kernel
// n - 1 had begun to write, and B's product that read the rows of call n - 1 lies before that.
//
// A kernel that waits must have all its blocks at work at one time: ranks wait for each other's.
#pragma once

#include <cstddef>
#include <cstdint>

#include "kernels/contract/host_device.h"

namespace fusegate::kernels {

inline constexpr int kMostRanks = 8;
inline constexpr int kCounters = 1024;  // blocks of a kernel that exchanges, at most
inline constexpr int kFlags = 32768;    // of one rank; the last kGatherFlags are of gathered rows
inline constexpr int kGatherFlags = 64;
inline constexpr int kDataFlags = kFlags - kGatherFlags;
inline constexpr int kMostPackets = 1 << 18;  // of one rank in one exchange
inline constexpr int kPacketBytes = 16, kPacketData = 8;

// How much a buffer holds; the same on all ranks.
struct ExchangeRoom {
  std::int64_t slot_bytes = 0;  // what one rank writes in one exchange
  std::int64_t gathered_bytes = 0;
};

// By value to kernels. Without padding (launch_kernel()).
struct RankExchange {
  std::byte* buffers[kMostRanks] = {};  // by rank, as this process addresses them
  std::int64_t slot_bytes = 0;          // a multiple of 128
  std::int32_t rank = 0;                // this one
  std::int32_t count = 1;

  static constexpr std::int64_t kFlagsAt = kCounters * std::int64_t{4};
  static constexpr std::int64_t kPacketsAt = kFlagsAt + kMostRanks * kFlags * std::int64_t{4};
  static constexpr std::int64_t kPacketsSlot = kMostPackets * std::int64_t{kPacketBytes};

  FUSEGATE_HOST_DEVICE constexpr std::int64_t data_at() const {
    return kPacketsAt + 2 * count * kPacketsSlot;
  }
  FUSEGATE_HOST_DEVICE constexpr std::int64_t gathered_at() const {
    return data_at() + 2 * count * slot_bytes;
  }
  FUSEGATE_HOST_DEVICE std::uint32_t* counter(int block) const {
    return reinterpret_cast<std::uint32_t*>(buffers[rank]) + block;
  }
  // In the buffer of rank `at`: that `of` has written.
  FUSEGATE_HOST_DEVICE std::uint32_t* flag(int at, int of, int index) const {
    return reinterpret_cast<std::uint32_t*>(buffers[at] + kFlagsAt) + of * kFlags + index;
  }
  // In the buffer of rank `at`: what `of` writes.
  FUSEGATE_HOST_DEVICE std::byte* packet(int at, int of, std::uint32_t exchange,
                                         std::int64_t index) const {
    return buffers[at] + kPacketsAt + ((exchange & 1) * count + of) * kPacketsSlot +
           index * kPacketBytes;
  }
  FUSEGATE_HOST_DEVICE std::byte* slot(int at, int of, std::uint32_t exchange) const {
    return buffers[at] + data_at() + ((exchange & 1) * count + of) * slot_bytes;
  }
  FUSEGATE_HOST_DEVICE std::byte* gathered(int at) const { return buffers[at] + gathered_at(); }
  // Of rows that rank `of` has written.
  FUSEGATE_HOST_DEVICE std::uint32_t* gather_flag(int at, int of, int chunk) const {
    return flag(at, of, kDataFlags + chunk);
  }
};

// Whether the number that a flag or a counter holds is that exchange's or a later one's.
FUSEGATE_HOST_DEVICE constexpr bool has_reached(std::uint32_t number, std::uint32_t exchange) {
  return static_cast<std::int32_t>(number - exchange) >= 0;
}

}  // namespace fusegate::kernels
