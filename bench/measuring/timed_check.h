// What is timed is what is checked: the batch that was timed runs once more on inputs that it has
// never seen and leaves poison nowhere, and its calls give what they give alone where inputs change
// from one to the next. So a kernel that returns what it computed before, computes when it is
// prepared, leaves its work to another stream or thread, or counts its calls is not taken for fast.
//
// Nothing of the program's own runs in between: a batch is a graph of one call and its copies
// (repeated_calls.h), and which layout is checked is drawn anew in each process.
#pragma once

#include <chrono>
#include <cstdint>
#include <random>
#include <vector>

#include "bench/meters/meter.h"
#include "kernels/contract/workspace.h"

namespace fusegate::bench {

// A batch in its memory layout, after its samples. All must outlive the check, which changes the
// layout's tensors.
struct TimedBatch {
  kernels::Device& device;
  const kernels::Operation& operation;
  const kernels::Problem& problem;
  kernels::Workspace& workspace;
  const kernels::PreparedKernel& kernel;
  Batch& batch;
  int calls;                      // a sample's
  double call_ns;                 // in the shortest sample, lest one held up hide a short call
  std::chrono::nanoseconds idle;  // before a sample
};

// Runs the batch on inputs of that seed that were changed by it (Workspace::change), and returns
// copies of its outputs, outside of memory layouts, to be compared with a reference
// (kernels::Verifier::verify_timed). Inputs are poison when the batch has ended, so that nothing is
// computed later. Then some calls run between which inputs change. Where an output overwrites an
// input, the last of some calls is checked, before which that is as it was: it would read what the
// others wrote. Throws std::runtime_error where the last of those calls gives another result than
// the batch, where they take longer than calls whose inputs stay, and where outputs are written
// after the batch has ended.
std::vector<kernels::Memory> check_timed(const TimedBatch& timed, std::uint64_t seed,
                                         std::mt19937_64& random);

}  // namespace fusegate::bench
