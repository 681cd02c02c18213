// The claims as a Markdown page for docs/: the same text for the same input.
#pragma once

#include <string>
#include <vector>

#include "ci/claims/check.h"

namespace fusegate::ci {

// "14 hold, 3 do not hold, 1 cannot be told"
std::string claims_headline(const std::vector<Claim>& claims);

// command: the line that made it. notes: what a reader must know of the two runs, in sentences.
std::string claims_page(const CheckedClaims& checked, const ClaimsInput& input,
                        const std::string& command, const std::vector<std::string>& notes);

}  // namespace fusegate::ci
