// A name for a text that stays the same on every machine and in every version, unlike std::hash.
#pragma once

#include <string>
#include <string_view>

namespace fusegate::baselines {

// 12 hexadecimal digits: the upper 48 bits of FNV-1a of 64 bits
// (http://www.isthe.com/chongo/tech/comp/fnv/). Of 10,000 texts two share it once in six million.
std::string short_hash(std::string_view text);

}  // namespace fusegate::baselines
