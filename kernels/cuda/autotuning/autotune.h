// Chooses among kernels for the same work by measuring them where they run: cublasLt's candidates
// (lt_tuning.h) and our own. Once for each problem and device: CudaDevice remembers the choice.
//
// Each candidate runs back to back for 0.2 to 1.5 ms a round, in a CUDA graph between two events;
// rounds take the candidates in random order. Those that are close then run for 1.5 ms a round.
// After a round the device idles twice as long as the round took, as in the burst protocol: a
// kernel that draws more power must not be chosen at clocks that it will not have later. Operands
// are the real ones in the current memory layout, warm in the L2 as far as they fit.
// launch_choice.h says which of equally fast candidates is taken, and what becomes of pinned
// choices.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernels/contract/device.h"
#include "kernels/cuda/device/cuda_device.h"

namespace fusegate::kernels {

using Launch = std::function<void()>;

struct Candidate {
  std::string name;  // how it is cut; the same in every process
  Launch launch;
};

struct StageCandidates {
  std::string stage;
  std::vector<Candidate> candidates;
  // The last so many are a library's. These start only when the kernel ahead of them has ended.
  std::size_t of_library = 0;
};

struct TunedStage {
  std::size_t taken = 0;  // index of the candidate
  std::string choice;  // "measured: candidate 3 of 8, <its name>"; of a single candidate its name
  std::string note{};  // why_taken(); of a single candidate ""
};

// Two kernels in a row: first reads x and writes between, second reads between and writes out.
struct KernelPair {
  std::string work;  // what they compute, with sizes and dtype
  StageCandidates first, second;
  Tensor x, between, out;
};

struct TunedPair {
  TunedStage first, second;
};

// The fastest of the launches that the device accepts; pinned: index of the one taken before. x is
// filled with random numbers meanwhile, since a kernel's operands decide its power, hence its
// clock, and an intermediate result holds nothing yet. Weights must hold their values already; x
// and out are restored. Throws DeviceError where no launch runs, or the device's stream captures.
TakenLaunch fastest(CudaDevice& device, const std::vector<Launch>& launches, const Tensor& x,
                    const Tensor& out, std::optional<std::size_t> pinned = std::nullopt);

// What measure() returns, once per key: the device keeps it.
TakenLaunch measured_once(CudaDevice& device, const std::string& key,
                          const std::function<TakenLaunch()>& measure);

// The fastest pair, which need not be of the two fastest kernels: one may leave room on the SMs to
// a kernel that is launched early, or its operands in the L2. Shortlists of both stages are
// measured in pairs (shortlist_pairs() in autotune.cc), once for pair.work and the candidates'
// names. Throws DeviceError as fastest() does, and where a required pinned choice is not among the
// candidates.
TunedPair tune_pair(CudaDevice& device, const KernelPair& pair);

}  // namespace fusegate::kernels
