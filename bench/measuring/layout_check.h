// Whether a call works in its own memory layout. What keeps addresses of an earlier one still
// computes something, and may even pass: in memory that is no longer the benchmark's.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/meters/meter.h"
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
  // Poisons the outputs that have memory of their own: preparing a kernel may have written to them.
  void poison_outputs(const kernels::Workspace& workspace);
  // Of a batch that ran after that: that it writes all of those. One digest an output.
  void require_written_outputs(const kernels::Workspace& workspace,
                               const kernels::PreparedKernel& kernel, Batch& batch);

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
