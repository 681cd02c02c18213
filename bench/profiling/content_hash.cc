#include "bench/profiling/content_hash.h"

#include <fmt/format.h>

namespace fusegate::bench {

std::string ContentHash::hex() const { return fmt::format("{:016x}", hash_); }

}  // namespace fusegate::bench
