// Ctrl-C and the termination signal. The program checks for them between two samples.
#pragma once

namespace fusegate::bench {

// The first signal is remembered; a second one ends the process.
void stop_on_signals();
bool interrupted();

}  // namespace fusegate::bench
