// A baseline that grows by a card at a time: the processes that are stored already, beside those of
// a run on another card.
#pragma once

#include <string>
#include <vector>

#include "baselines/record/run.h"

namespace fusegate::baselines {

// Gives the run the stored processes of benchmarks whose code is identical, but for those of cards
// on which it measured the benchmark anew. One that it did not measure, since its code is
// identical, gets all that is stored of it. Returns the names of measured benchmarks whose code is
// another or unknown: they have the run's processes alone. Throws InputError where the environments
// or protocols differ.
std::vector<std::string> add_stored_cards(const Run& stored, Run& run);

}  // namespace fusegate::baselines
