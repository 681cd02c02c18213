// What a benchmark program is built from, for the run file. A source that CMake generates registers
// it (fusegate_add_benchmark); without it, nothing is recorded.
#pragma once

#include <string>

namespace fusegate::bench {

struct ProgramOrigin {
  std::string commit{};  // of the program's repository
  bool dirty = false;    // it had changes that were not committed
  std::string toolchain{};
};

class OriginRegistration {
 public:
  explicit OriginRegistration(ProgramOrigin origin);
};

const ProgramOrigin& program_origin();

// Of fusegate itself, such as "1.0.0".
std::string library_version();

}  // namespace fusegate::bench
