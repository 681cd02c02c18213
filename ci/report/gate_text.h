// The gate's result for a terminal: the headline, then the rows that matter.
#pragma once

#include <string>

#include "ci/report/report.h"

namespace fusegate::ci {

std::string gate_text(const Report& report);

}  // namespace fusegate::ci
