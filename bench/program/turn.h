// Programs that load together and measure in turn: what a process does before it uses the device.
#pragma once

namespace fusegate::bench {

// Seconds from the start of this process to the first call: what it takes to load. 0: unknown.
double load_s();

// Where `fusegate` has several programs load together (baselines::kTurnVariable), says that this
// one is ready, or that it uses a GPU already, and returns once it is this one's turn. Else at
// once. Throws std::runtime_error where no turn comes.
void await_turn();

}  // namespace fusegate::bench
