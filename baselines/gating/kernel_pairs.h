// Which kernel of the candidate stands in which one's place.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "baselines/launches/kernel_profile.h"

namespace fusegate::baselines {

struct StagedKernel {
  std::string name;
  std::string stage;
};

// Numbers in either side, both or either.
struct AlignedKernels {
  std::optional<std::size_t> before{};
  std::optional<std::size_t> after{};
  std::vector<std::string> differences{};  // of their names, in words
};

// Each kernel of either side, in order: one of the same name and stage is in the same one's place,
// then what is left between those by stage, likest first.
std::vector<AlignedKernels> align_kernels(const std::vector<StagedKernel>& before,
                                          const std::vector<StagedKernel>& after);

// A kernel of the baseline and the one in its place, both or either.
struct KernelPair {
  std::optional<ProfiledKernel> before;
  std::optional<ProfiledKernel> after;
  std::vector<std::string> differences;  // of their names, in words
  bool is_part_of_other = false;  // alone, in a stage where another kernel was picked: its helper

  bool is_alone() const { return !before || !after; }
  bool is_other() const { return !differences.empty(); }
  double change_ns() const {
    return (after ? after->duration_ns : 0) - (before ? before->duration_ns : 0);
  }
};

// Aligned by name and stage.
std::vector<KernelPair> pair_kernels(const std::vector<ProfiledKernel>& before,
                                     const std::vector<ProfiledKernel>& after);

}  // namespace fusegate::baselines
