// What the machine did between two runs leaves the contrasts of the code: by what benchmarks of
// identical code show, or else by how cards differ, or by what most similar benchmarks did.
#pragma once

#include "baselines/comparing/quantity_rows.h"

namespace fusegate::baselines {

// By the first that applies:
//  1. eight benchmarks of identical code or more: their shift leaves the others' effects, and its
//     error and their scatter add to the noise (null_distribution.h); on another card less what the
//     stored cards predict of it (card_factors.h);
//  2. another card: what cards differ by adds to the noise (card_variances.h, card_differences.h);
//  3. side by side, or where the machine is what is asked: nothing;
//  4. two sessions: what most benchmarks of a kind did may be the machine (common_movement.h).
// Whether benchmarks of identical code showed what the machine did.
bool take_machine_out(QuantityRows& suite, const Circumstances& circumstances, const Rule& rule);

}  // namespace fusegate::baselines
