// Ctrl-C and the termination signal. The program checks for them between two samples.
#pragma once

#include <csignal>

namespace fusegate::bench {

inline volatile std::sig_atomic_t signalled = 0;
inline bool interrupted() { return signalled != 0; }

// The first signal is remembered; a second one ends the process.
inline void stop_on_signals() {
  struct sigaction action {};
  action.sa_handler = [](int) { signalled = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

}  // namespace fusegate::bench
