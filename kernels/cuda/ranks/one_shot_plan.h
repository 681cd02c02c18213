// How the all-reduces in one kernel share out a message. Plain C++, tested without a GPU.
#pragma once

#include <cstdint>
#include <string>

#include "kernels/cuda/device/gpu_limits.h"

namespace fusegate::kernels {

inline constexpr int kOneShotThreads = 256;
// Blocks of an SM. While one waits for its data to arrive, which its flag follows, others send: on
// two H200s one block an SM sent 16 MiB at 195 GB/s, of the link's 450.
inline constexpr int kOneShotBlocks = 4;
// 16 bytes that a thread has of a chunk: one, or so many where there is a chunk for every SM.
inline constexpr int kOneShotVectors = 4;
// In chunks. More takes as long as the link does, by NCCL too.
inline constexpr std::int64_t kMostOneShotBytes = std::int64_t{16} << 20;
// What a rank sends to all others in packets, at most. On two H200s 512 KiB took 4 us in packets,
// and 1 MiB in chunks 11 (docs/evidence/across-gpus.md).
inline constexpr std::int64_t kMostInPackets = std::int64_t{2} << 20;

struct OneShotPlan {
  int packets = 0;  // or 0: chunks
  int vectors = 1;  // of a thread in a chunk
  int chunks = 0;   // block b has chunks b, b + blocks, and so on; each has a flag
  int blocks = 0;   // at work at one time
  int shots = 1;    // two: a rank adds up a chunk and sends its sum on (one_shot.cuh)

  std::int64_t chunk_bytes() const { return std::int64_t{16} * kOneShotThreads * vectors; }
};

// bytes: of the message, a multiple of 16 up to kMostOneShotBytes. In packets where it fits these,
// else in chunks: by one shot between two ranks, by two shots among more.
OneShotPlan plan_all_reduce(std::int64_t bytes, int ranks, const GpuLimits& gpu);

// Of bytes that each rank sends to each other one, in packets: a multiple of 16 that
// fits_packets().
OneShotPlan plan_packets(std::int64_t bytes, const GpuLimits& gpu);
bool fits_packets(std::int64_t bytes, int ranks);

// "one_shot: 256 chunks of 4 KiB, 132 blocks", "two_shot: ...", "one_shot: 1024 packets, 4 blocks"
std::string one_shot_text(const OneShotPlan& plan);

}  // namespace fusegate::kernels
