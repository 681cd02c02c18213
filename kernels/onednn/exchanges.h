// What ranks on CPUs exchange, over their hosts (ranks.h): slow, and alike everywhere.
#pragma once

#include "kernels/contract/kernel.h"

namespace fusegate::kernels {

// Sums are of fp32, in the order of ranks. out may be summand.
Stage gathered_all_reduce(Ranks& ranks, const Tensor& summand, const Tensor& out);
Stage gathered_all_gather(Ranks& ranks, const Tensor& part, const Tensor& whole);
Stage gathered_reduce_scatter(Ranks& ranks, const Tensor& summand, const Tensor& part);

}  // namespace fusegate::kernels
