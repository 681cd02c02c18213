// Ranks from one program: the process that a user starts is the first, and starts the others, each
// as itself, with the environment that torchrun gives (RANK, WORLD_SIZE, LOCAL_RANK, MASTER_ADDR,
// MASTER_PORT), so that a file that calls torch.distributed.init_process_group works as it is.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "bench/ranks/ranks_in_processes.h"

namespace fusegate::bench {

// Whether this process was started as another rank. That is known before anything is printed.
bool is_other_rank();

// command: the path of the executable and its arguments, which start this program again; not needed
// by a program that was started as another rank. Where count is one, a rank alone. Throws
// std::runtime_error where processes cannot be started.
std::shared_ptr<kernels::Ranks> start_ranks(int count, const std::vector<std::string>& command);

// Before another program takes this process's place, or it ends at once: ends the others.
void end_other_ranks() noexcept;

}  // namespace fusegate::bench
