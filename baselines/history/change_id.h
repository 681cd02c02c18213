// How people and issues name a change point.
#pragma once

#include <string>

#include "baselines/history/change_point.h"

namespace fusegate::baselines {

// By its subject and the night at which it was found, which stay when more nights date it anew.
// 12 hexadecimal digits.
std::string change_id(const ChangePoint& point);

}  // namespace fusegate::baselines
