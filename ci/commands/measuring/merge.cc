#include "ci/commands/measuring/options.h"
#include "ci/shards/merging.h"

namespace fusegate::ci {

void add_merge(CommandLine& line) {
  auto [app, request] = line.add("merge", "Join the runs of a plan's shards into one run",
                                 "fusegate merge shard-1 shard-2 --out run", merge_command);
  app.add_option("SHARD", request.shards,
                 "Folders that run, duet or replay measured with --plan and --shard; all of them")
      ->type_name("FOLDER")
      ->required();
  app.add_option("--out", request.out,
                 "Folder for the run; for base, base_again and head where the shards have them")
      ->type_name("FOLDER")
      ->required();
}

baselines::ExitCode merge_command(const MergeRequest& request, Console& console) {
  for (const MergedRun& run : merge_shards(request.shards, request.out)) {
    console.out.print("{}\n", merged_text(run));
  }
  return baselines::ExitCode::kNoRegression;
}

}  // namespace fusegate::ci
