// The one exception for input that cannot be used: a file, a field in it, and what is wrong there.
// Programs catch it in main, print what() and exit with kCouldNotJudge. The message is one printable
// line (printable.h), and of what is long the middle is left out.
#pragma once

#include <stdexcept>
#include <string>
#include <string_view>

namespace fusegate::baselines {

// What a program that judges ends with.
enum class ExitCode {
  kNoRegression = 0,
  kRegression = 1,
  kCouldNotJudge = 2,
};

class InputError : public std::runtime_error {
 public:
  // source: the file, folder or flag. field: a path such as "benchmarks[3].real_time"; may be
  // empty.
  InputError(std::string_view source, std::string_view field, std::string_view problem);
};

}  // namespace fusegate::baselines
