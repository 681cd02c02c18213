// Merges a sweep's shards once all have finished.
#pragma once

#include <filesystem>

#include "ci/console/console.h"

namespace fusegate::ci {

// Prints what each shard is like, and what to do next. Whether nobody has to do anything: false
// where a shard failed or stopped.
bool print_status(const std::filesystem::path& folder, Console& console);

// As merge_shards(), by the shards of the plan. Throws InputError naming the shards that did not
// finish, and what to do about each; then nothing is written.
void collect_shards(const std::filesystem::path& folder, const std::filesystem::path& out,
                    Console& console);

}  // namespace fusegate::ci
