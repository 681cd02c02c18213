// A wrong kernel is never timed: its outputs on fresh inputs are compared with the double-precision
// reference, as a whole and by the worst element, row and tile (rounding.h), and forbidden writes
// are found.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "kernels/contract/expected.h"
#include "kernels/contract/kernel.h"
#include "kernels/contract/workspace.h"

namespace fusegate::kernels {

struct Verification {
  // Of the output with the largest error over its bound.
  std::string output = {};  // its name; "" where the operation has one output
  double relative_error = 0;
  double bound = 0;
  std::int64_t not_finite = 0;  // elements never written, NaN or infinite
  // What is beyond the bounds of rounding.h: "row [7, :] is too large by 2.00e-02 of
  // itself, 5.1e-03 allowed"; "" where nothing is.
  std::string beyond_rounding = {};
  // The worst element by them, with its value and its reference; "" where it passed.
  std::string worst_element = {};
  bool is_second_call = false;  // the first was right
  bool is_elsewhere = false;    // in other memory; the calls before were right
  bool is_timed = false;        // of what was timed; the calls before were right
  // What is wrong on the first rank where anything is: "rank 1: wrong result..."; "" where all are
  // right, or there is only one.
  std::string on_ranks = {};
  // Forbidden writes: "stage 'scan' wrote past the end of output 'y'"; "" where there were none.
  std::string damage = {};

  bool passed() const {
    return on_ranks.empty() && damage.empty() && beyond_rounding.empty() && relative_error <= bound;
  }
  // Why it did not pass, in one sentence.
  std::string message() const;
};

// Checks kernels against the reference; those across ranks on each of them, and the result is the
// same on all. The implementations of one operation on one problem share
// the reference, so the last is stored.
class Verifier {
 public:
  // changes_inputs: references are of inputs that were changed by that seed (Workspace::change).
  Verifier(Device& device, std::uint64_t seed, bool changes_inputs = false)
      : device_(device), seed_(seed), changes_inputs_(changes_inputs) {}

  // Calls it twice, each time on freshly filled inputs and poisoned outputs, and a kernel whose
  // program allocates once more in other memory, lest it keep an address. Throws what prepare or
  // launch throws, and ContractError where the operation's functions throw or return what is
  // invalid.
  Verification verify(const Implementation& implementation, const Problem& problem);

  // Checks outputs that calls have left, in the operation's order, on inputs filled by that seed.
  // Throws as verify does.
  Verification verify_timed(const Operation& operation, const Problem& problem,
                            const std::vector<Memory>& outputs);

 private:
  struct Reference {
    std::string operation;
    Problem problem;
    Workspace workspace;
    Expected expected;
  };

  Reference& reference(const Operation& operation, const Problem& problem);
  Ranks& ranks() const { return device_.ranks(); }
  PreparedKernel prepare(const Implementation& implementation, const Problem& problem,
                         const Workspace& workspace);
  // One call, to its end. by_stage: each stage to its end, so that the rank's note names the one
  // that never does.
  void run(const PreparedKernel& kernel, bool by_stage);
  // What all ranks take for the result.
  Verification agreed(Verification mine) const;
  Verification check(const PreparedKernel& kernel, const Reference& expected, bool is_second);
  Verification check_elsewhere(const Implementation& implementation, Reference& expected);
  Verification compare(const Reference& of, const Workspace& workspace) const;
  Verification compare(const Reference& of, const Workspace& workspace, std::size_t output) const;

  Device& device_;
  std::uint64_t seed_;
  bool changes_inputs_;
  std::optional<Reference> last_;
};

}  // namespace fusegate::kernels
