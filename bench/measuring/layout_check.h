// Whether a call works in its own memory layout. What keeps addresses of an earlier one still
// computes something, and may even pass: in memory that is no longer the benchmark's.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/measuring/meter.h"
#include "kernels/contract/workspace.h"

namespace fusegate::bench {

// A benchmark's checks, in one layout after another. Both throw std::runtime_error with what the
// call does wrong.
class LayoutCheck {
 public:
  // device and meter must outlive it.
  LayoutCheck(kernels::Device& device, Meter& meter) : device_(device), meter_(meter) {}

  // Of a call that can be captured: that it neither reads nor writes memory of an earlier layout.
  // Launches nothing, but where an argument points there: then restores the workspace. A host time
  // of a call and 1 us an argument.
  void require_current_arguments(kernels::Workspace& workspace,
                                 const kernels::PreparedKernel& kernel);
  // Of a batch that ran, in a workspace that was poisoned before: that it writes every output which
  // has memory of its own. One digest an output.
  void require_written_outputs(kernels::Workspace& workspace, const kernels::PreparedKernel& kernel,
                               Batch& batch);
  // Before the first batch, in a new workspace.
  void see_poison(const kernels::Workspace& workspace);

 private:
  bool works_in(const MemorySpan& elsewhere, kernels::Workspace& workspace,
                const kernels::PreparedKernel& kernel);
  bool is_unwritten(const kernels::Tensor& output, const kernels::PreparedKernel& kernel,
                    Batch& batch);

  kernels::Device& device_;
  Meter& meter_;
  std::vector<std::uint64_t> poison_;  // the outputs' digests, the same in every layout
};

}  // namespace fusegate::bench
