// Reads a run: a run folder, run files, or a stored baseline.
#pragma once

#include <filesystem>
#include <vector>

#include "baselines/record/baseline.h"
#include "baselines/record/run.h"

namespace fusegate::baselines {

enum class Unfinished { kLeftOut, kCounts };

// paths: run folders and run files; several make one run. Of a folder, every *.json is read:
// run.json is fusegate's own record of the run (run_blocks.h), and a file of identities, known by
// its contents, names benchmarks that the run need not have measured. A folder without *.json may
// hold one folder with run files, or a folder per process. Files are read on
// all cores. A stored baseline is a run too. Processes that did not finish count only with
// Unfinished::kCounts; the run names them either way. Throws InputError: neither a finished process
// nor an identity, unreadable files, processes whose environments differ, copies of one process.
Run load_run(const std::vector<std::filesystem::path>& paths,
             Unfinished unfinished = Unfinished::kLeftOut);

// The same; a stored baseline comes with who accepted it and its anchor.
LoadedBaseline load_run_or_baseline(const std::vector<std::filesystem::path>& paths,
                                    Unfinished unfinished = Unfinished::kLeftOut);

}  // namespace fusegate::baselines
