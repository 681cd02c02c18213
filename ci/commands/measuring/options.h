// The flags that several commands have which measure.
#pragma once

#include "ci/commands/measuring/commands.h"
#include "ci/commands/reading/command_line.h"

namespace fusegate::ci {

// How commits are built, and what runs, for every command that measures commits.
void add_commit_builds(CLI::App& app, BuildRequest& build);
// --processes and --max-processes, with what these say of themselves.
void add_processes(CLI::App& app, ProcessCounts& processes, const std::string& description);
void add_max_processes(CLI::App& app, ProcessCounts& processes, const std::string& description);
void add_budget(CLI::App& app, MeasuringOptions& measuring, const std::string& more = "");
// A budget by which is planned what is measured; behind add_budget().
void add_gpu_budget(CLI::App& app, MeasuringOptions& measuring);
// The suite and the limits of what measures; returns the suite's option.
CLI::Option* add_protocol(CLI::App& app, MeasuringOptions& measuring, ProcessCounts& processes);
void add_gpus(CLI::App& app, MeasuringOptions& measuring);
void add_only(CLI::App& app, OnlyBenchmarks& only);
// A flag for what becomes of processes that the folder already holds.
void add_earlier(CLI::App& app, const std::string& name, Earlier earlier,
                 MeasuringOptions& measuring, const std::string& description);
// What run and duet measure by.
void add_measuring(CLI::App& app, MeasuringOptions& measuring, ProcessCounts& processes);
void add_aa_history(CLI::App& app, std::optional<std::filesystem::path>& history);
// What duet and replay share.
void add_duet_options(CLI::App& app, DuetRequest& request);

}  // namespace fusegate::ci
