// A file of statements, held against what was measured. series.json beside this has those of
// "Profiling in PyTorch, part 2: from nn.Linear to a fused MLP"
// (huggingface.co/blog/torch-mlp-fusion, 2026-06-11), and what is asked of the same kernels beyond
// them.
//
//   {"source": what the statements are of, in a sentence or two of Markdown,
//    "card": that they were published for,
//    "problem": the series', as benchmarks' names end,
//    "confidence": of every interval,
//    "smallest_effect": by which a time differs at least that is faster or slower,
//    "kernels": {NAME: pattern, ...},     // kernels.h
//    "claims": [{"id", "statement", "findings": [...],
//                "published": text, or {"of", "over"} for the ratio of two published figures,
//                "beyond": true where it was not stated there,
//                "one_suffices": true where one yes is enough}, ...]}
//
// A finding is a question, and by what it is answered; "beside": true, and it decides nothing.
//
//   {"question", "of": expression, "over": expression, "is": rule, "to": expression, "by": number}
//     faster, slower, not faster   the ratio differs from "to" (by default 1) by more than the
//                                  smallest effect, its whole interval and in time and cycles
//                                  both: what shows in one alone is the clock
//     below, above, within         the ratio's whole interval is; within "to" by its part "by"
//   {"question", "of": expression, "is": "equal" or "more", "to": expression, by default 0}
//     of counts and bytes, which have no interval
//   {"question", "kernels": "trace:NAME" or "RUN:BENCHMARK", "only" or "but": a pattern's name,
//    "are": [pattern, ...] or "same_as": another trace or benchmark, "quiet": true to show none}
//     in every step of the trace, or every process's profiled call
//
// Expressions are those of figures.h. A benchmark that is named without a problem is asked about at
// every problem that all of them were measured at, and all must agree; "some": true, and one is
// enough. "at" is "series" for its problem alone, or "fewest rows" or "most rows" of them;
// "rows_below" leaves out larger ones. "each": "RUN:OPERATION" makes a finding for each
// implementation of it, whose name takes the place of <each>.
#pragma once

#include <string>
#include <vector>

#include "baselines/io/json_field.h"
#include "ci/claims/claim.h"
#include "ci/claims/input.h"

namespace fusegate::ci {

struct CheckedClaims {
  std::string source;
  std::string card;
  double confidence = 0;
  double smallest_effect = 0;
  std::vector<Claim> claims{};
};

// All of them, whatever the input lacks: what cannot be told says what is missing. Throws
// InputError naming the field that is no statement.
CheckedClaims check_claims(const baselines::JsonField& file, const ClaimsInput& input);

}  // namespace fusegate::ci
