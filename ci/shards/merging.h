// Joins the run folders of a plan's shards into one run, as if one machine had measured them all.
//
// A process of the merged run has the benchmarks of one shard, and its run file names its card. A
// control has the processes of every shard. Blocks stay apart, so that what was measured side by
// side in a shard is compared as such; the merged sessions of base and head are the same.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "baselines/record/run.h"

namespace fusegate::ci {

struct MergedRun {
  std::filesystem::path folder{};
  std::size_t shards = 0;
  std::size_t processes = 0;
  std::size_t benchmarks = 0;
  std::size_t cards = 0;
};

// "run: 104 benchmarks of 2 shards, 10 processes on 2 cards"
std::string merged_text(const MergedRun& run);

// shards: run folders, or the folders of a duet or a replay, whose base, base_again and head become
// a run each. Run files are linked where the file system allows it and else copied: they are never
// changed after they are written. Everything is checked before anything is written.
//
// Throws InputError naming the shard: one that is missing, given twice, of another plan, of another
// commit or environment, or that did not finish; a benchmark that is planned and was not measured,
// and one that was and is planned elsewhere.
std::vector<MergedRun> merge_shards(const std::vector<std::filesystem::path>& shards,
                                    const std::filesystem::path& out);

}  // namespace fusegate::ci
