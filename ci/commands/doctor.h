// `fusegate doctor`: looks at this machine and says what would spoil measurements.
#pragma once

#include <string>

#include "ci/console/console.h"

namespace fusegate::ci {

struct DoctorRequest {
  std::string program;  // empty: the benchmark program beside this one
};

// 0 where the machine can measure, whatever the warnings; 2 where the benchmark program cannot run.
baselines::ExitCode doctor_command(const DoctorRequest& request, Console& console);

}  // namespace fusegate::ci
