// Chooses among kernels for the same work by measuring them where they run: cublasLt's candidates
// (lt_tuning.h) and our own. Once for each problem and device; from then on the choice is taken
// from CudaDevice.
//
// Each contestant runs back to back for 0.2 to 1.5 ms a round, in a CUDA graph between two events,
// in rounds that take them in random order; those that are close then for 1.5 ms. After a batch the
// device idles twice as long as the batch took, as in the burst protocol: a kernel that draws more
// power must not be chosen at clocks that it will not have later. The operands are the real ones in
// the layout at hand, warm in the L2 as far as they fit. launch_choice.h says which of equals is
// taken, and what is kept of an earlier process's choices. Where that is kept strictly, nothing is
// measured.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "kernels/contract/device.h"
#include "kernels/cuda/device/cuda_device.h"

namespace fusegate::kernels {

struct Contestant {
  std::string name;  // which tells how it is cut, and nothing that differs between processes
  std::function<void()> launch;
};

// What competes for a stage of a kernel.
struct StageContest {
  std::string stage;
  std::vector<Contestant> contestants;
  std::size_t of_library = 0;  // the last so many start only when what is ahead of them has ended
};

// The one that is taken of those that the device runs; kept: that was taken before. x is random
// meanwhile, since what a kernel multiplies decides its power, hence its clock, and an intermediate
// result holds nothing yet. Weights must hold their values already; x and out hold afterwards what
// they held before. Throws DeviceError where none runs, or the device's stream captures.
TakenLaunch fastest(CudaDevice& device, const std::vector<std::function<void()>>& launches,
                    const Tensor& x, const Tensor& out,
                    std::optional<std::size_t> kept = std::nullopt);

struct ContestResult {
  std::size_t taken = 0;
  std::string choice;  // "measured: candidate 3 of 8, <its name>"; of one alone its name
  std::string note{};  // why_taken(); of one alone ""
};

struct PairResult {
  ContestResult first, second;
};

// Of two kernels in a row, the second of which reads what the first writes to between, the pair
// that is fastest: what leaves room on the SMs to a kernel that is launched early, or its operands
// in the L2, can be worth more than to be fastest alone. Measured in pairs are few: of the second
// stage's own the fastest alone, of the firsts the fastest alone and in front of the best of these,
// of the second stage's library the fastest behind the best of those. work: what they compute,
// sizes and dtype with it; measured once for work and names. Throws DeviceError also where what is
// strictly kept is none of them.
PairResult contest_of_pairs(CudaDevice& device, const std::string& work, const StageContest& first,
                            const StageContest& second, const Tensor& x, const Tensor& between,
                            const Tensor& out);

}  // namespace fusegate::kernels
