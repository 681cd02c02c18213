// Why a verdict is what it is.
#pragma once

#include <string>

#include "baselines/comparing/rule.h"
#include "baselines/comparing/verdict.h"

namespace fusegate::ci {

// One sentence without a full stop. rule: the one that it was judged by.
std::string reason_text(const baselines::Verdict& verdict, const baselines::Rule& rule);

// Of effects where the clock moved: whether cycles say so and time at equal clock does not, as
// nothing told by how much time goes with the clock.
bool cycles_tell_better(double time, double equal_clock, double cycles);

}  // namespace fusegate::ci
