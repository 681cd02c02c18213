// How many ranks measure a suite.
#pragma once

#include "bench/plan/options.h"
#include "bench/plan/suite.h"

namespace fusegate::bench {

// As the options say, else the most that the suite's axis "ranks" names and there are devices for;
// 1 where it names none.
int rank_count(const Options& options, const Suite& suite);

}  // namespace fusegate::bench
