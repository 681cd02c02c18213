// A stored baseline of few processes reports no regression: nothing fresh can be added to stored
// figures, which the gate asks for where there are few (baselines/comparing/rule.h).
#pragma once

#include <string>
#include <vector>

#include "baselines/comparing/verdict.h"
#include "baselines/record/run.h"

namespace fusegate::ci {

// How many processes the card with the fewest has; none for a run without benchmarks.
int fewest_processes_of_a_card(const baselines::Run& run);

// "The baseline has 2 processes on each card; at least 4 are needed to report a regression. Record
// it again: fusegate run ...". Empty where each card has enough of them.
std::string few_processes_text(const baselines::Run& baseline);
// The same of the processes that were compared with a candidate: of its card, or of all cards.
std::string few_processes_text(const baselines::Run& baseline,
                               const std::vector<baselines::Verdict>& verdicts);

// How to record it again: "Record it again: fusegate run --suite pr ... && fusegate accept RUN
// --reason TEXT".
std::string renewal_text(const baselines::Run& baseline);

}  // namespace fusegate::ci
