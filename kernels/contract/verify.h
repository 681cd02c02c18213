// A wrong kernel is never timed: this compares its outputs on fresh inputs with the
// double-precision reference, as a whole and by its worst element, row and tile (rounding.h), and
// finds what it wrote where it must not.
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
  // Of the output that is furthest from its reference, over what it may be.
  std::string output = {};  // its name; "" where the operation has one alone
  double relative_error = 0;
  double bound = 0;
  std::int64_t not_finite = 0;  // elements never written, NaN or infinite
  // What is beyond the bounds of rounding.h: "" where nothing is. Such as "row [7, :] is 2.00e-02
  // too large, 5.1e-03 allowed".
  std::string beyond_rounding = {};
  // The element that is worst by them: its place, its value and its reference. "" where all are
  // exact.
  std::string worst_element = {};
  bool is_second_call = false;  // the first was right
  // What the kernel did to memory that is not its own to write; "" where nothing. Such as "stage
  // 'scan' wrote past the end of output 'y'".
  std::string damage = {};

  bool passed() const {
    return damage.empty() && beyond_rounding.empty() && relative_error <= bound;
  }
  // Why it did not pass, in one sentence.
  std::string complaint() const;
};

// Checks kernels against the reference, and keeps the last reference: the implementations of one
// operation on one problem share it.
class Verifier {
 public:
  Verifier(Device& device, std::uint64_t seed) : device_(device), seed_(seed) {}

  // Calls it twice, each time on inputs as they were filled and with poisoned outputs. Throws what
  // prepare or launch throws, and ContractError where the operation's own functions throw or their
  // results cannot be.
  Verification verify(const Implementation& implementation, const Problem& problem);

 private:
  struct Reference {
    std::string operation;
    Problem problem;
    Workspace workspace;
    Expected expected;
  };

  Reference& reference(const Operation& operation, const Problem& problem);
  Verification compare(const Reference& of) const;
  Verification compare(const Reference& of, std::size_t output) const;

  Device& device_;
  std::uint64_t seed_;
  std::optional<Reference> last_;
};

}  // namespace fusegate::kernels
