// Ctrl-C and similar signals, to be asked for. While an object lives, SIGINT, SIGTERM and SIGHUP do
// not reach this thread and those it starts, but are collected here. So a measurement can end in
// order: the child first, then the record.
#pragma once

#include <signal.h>

#include "baselines/io/file_descriptor.h"

namespace fusegate::ci {

class Interrupts {
 public:
  Interrupts();
  // Gives the signals back as they were; ones that nobody took are dropped, since they have had
  // their effect.
  ~Interrupts();
  Interrupts(const Interrupts&) = delete;  // the mask is the thread's: there is one
  Interrupts& operator=(const Interrupts&) = delete;

  // Readable while a signal waits: for poll().
  int fd() const { return signals_.get(); }
  // The next signal that waits, 0 for none. Does not block.
  int take() const;

 private:
  sigset_t old_mask_;
  baselines::FileDescriptor signals_;
};

}  // namespace fusegate::ci
