// Why a verdict is what it is.
#pragma once

#include <string>

#include "baselines/comparing/rule.h"
#include "baselines/comparing/verdict.h"

namespace fusegate::ci {

// One sentence without a full stop. rule: the one that it was judged by.
std::string reason_text(const baselines::Verdict& verdict, const baselines::Rule& rule);

}  // namespace fusegate::ci
