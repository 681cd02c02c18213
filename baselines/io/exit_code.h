// What a program that judges ends with.
#pragma once

namespace fusegate::baselines {

enum class ExitCode {
  kNoRegression = 0,
  kRegression = 1,
  kCouldNotJudge = 2,
};

}  // namespace fusegate::baselines
