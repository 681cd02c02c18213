// Reads the names of GEMM kernels that are made of words between underscores.
#pragma once

#include <optional>
#include <string_view>

#include "baselines/launches/kernel_name.h"

namespace fusegate::baselines {

// name: one identifier. Nothing where it is not of a family that kernel_name.h lists.
std::optional<KernelName> read_gemm_name(std::string_view name);

// "bf16" of "__nv_bfloat16", "c10::BFloat16" or "bf16"; empty for other texts.
std::string_view dtype_of(std::string_view type);

}  // namespace fusegate::baselines
