// Ctrl-C and the termination signal. The program checks for them between two samples.
#pragma once

#include <csignal>

namespace fusegate::bench {

inline volatile std::sig_atomic_t signalled = 0;
// Of several ranks, all must see the signal at the same point: as the first last said.
inline bool is_agreed_on = false, is_agreed_interrupt = false;

inline bool signalled_here() { return signalled != 0; }
inline bool interrupted() { return is_agreed_on ? is_agreed_interrupt : signalled_here(); }
inline void set_agreed_interrupt(bool is_interrupted) {
  is_agreed_on = true;
  is_agreed_interrupt = is_interrupted;
}

// The first signal is remembered; a second one ends the process.
inline void stop_on_signals() {
  struct sigaction action {};
  action.sa_handler = [](int) { signalled = 1; };
  action.sa_flags = static_cast<int>(SA_RESETHAND);
  sigaction(SIGINT, &action, nullptr);
  sigaction(SIGTERM, &action, nullptr);
}

}  // namespace fusegate::bench
