// Reads a run from where it lies: a run folder, run files, or a stored baseline.
#pragma once

#include <filesystem>
#include <vector>

#include "baselines/record/run.h"

namespace fusegate::baselines {

enum class Unfinished { kLeftOut, kCounts };

// paths: run folders (every *.json in it but run.json, fusegate's own record of the run) and run
// files; several make one run. A folder's run.json tells blocks and extensions, and a file of
// identities, known by what it holds, names what the run knew of and need not have measured. A
// folder without *.json may hold one folder that has them, or a folder a process. Files are read on
// all cores. A stored baseline file is a run too. What a process measured that did not finish
// counts only where that is asked for; the run names such processes either way. Throws InputError:
// neither a finished invocation nor an identity, unreadable files, invocations whose environments
// differ.
Run load_run(const std::vector<std::filesystem::path>& paths,
             Unfinished unfinished = Unfinished::kLeftOut);

}  // namespace fusegate::baselines
