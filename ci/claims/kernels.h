// Findings about the kernels that a profiled call or a trace's step launches.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "baselines/launches/kernel_name.h"
#include "ci/claims/input.h"

namespace fusegate::ci {

using KernelNames = std::vector<baselines::KernelName>;

// Kernels of one call, in order of their start.
KernelNames read_kernels(const TraceSteps& steps);
KernelNames read_kernels(const baselines::KernelProfile& profile);

// A GEMM that a library brings, and no helper of one such as split-K's reduction.
bool is_library_gemm(const baselines::KernelName& kernel);
KernelNames all_kernels(const KernelNames& kernels);
KernelNames library_gemms(const KernelNames& kernels);
KernelNames all_but_gemms(const KernelNames& kernels);

// "`nvjet_...` (cublas nvjet bf16 256x128x64 tn), 57.06 us"
std::string kernel_line(const baselines::KernelName& kernel, double duration_ns);

// By the steps of a trace named OPERATION-IMPLEMENTATION; unknown where there is none, it is of
// another problem than the series', by its ranges' name, or its steps differ.
Finding trace_finding(std::string question, const ClaimsInput& input, std::string_view trace,
                      const std::function<Answer(const ReadTrace&)>& rule);
// The same by its kernels, which are shown.
Finding trace_kernels_finding(std::string question, const ClaimsInput& input,
                              std::string_view trace,
                              const std::function<bool(const KernelNames&)>& rule);
// Whether two traces' steps launch kernels of the same names, of those that are selected.
Finding same_kernels_finding(std::string question, const ClaimsInput& input, std::string_view trace,
                             std::string_view other, KernelNames (*select)(const KernelNames&));
// By the profiled call of every process of our run: yes where the rule holds in all of them.
Finding profile_finding(std::string question, const ClaimsInput& input,
                        const std::string& benchmark,
                        const std::function<bool(const KernelNames&)>& rule);

}  // namespace fusegate::ci
