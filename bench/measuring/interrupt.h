// Ctrl-C and the termination signal. They interrupt nothing: the program asks between two samples
// whether one has come.
#pragma once

namespace fusegate::bench {

// From here on the first signal is remembered; a second one ends the process at once.
void stop_on_signals();
bool interrupted();

}  // namespace fusegate::bench
