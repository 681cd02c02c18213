// The ranks of a program that several processes run. The others give the first what they have,
// and it gives all of them what there is.
#pragma once

#include <sys/types.h>

#include <atomic>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "baselines/io/file_descriptor.h"
#include "bench/ranks/notes.h"
#include "kernels/contract/ranks.h"

namespace fusegate::bench {

// Another rank, as the first sees it.
struct OtherRank {
  baselines::FileDescriptor socket;
  pid_t pid = 0;
};

class RanksInProcesses : public kernels::Ranks {
 public:
  // The first, and the others in order.
  RanksInProcesses(std::vector<OtherRank> others, std::shared_ptr<Notes> notes);
  // One of the others, with a socket to the first.
  RanksInProcesses(int rank, int count, baselines::FileDescriptor first,
                   std::shared_ptr<Notes> notes);
  // The first ends the others and waits for them.
  ~RanksInProcesses() override;

  int rank() const override { return rank_; }
  int count() const override { return count_; }
  std::vector<std::string> gather(std::string_view what, std::string mine) override {
    return gather_among(count_, what, std::move(mine));
  }
  std::shared_ptr<Ranks> first_ranks(int count) override;
  // Of the first so many ranks, which must all call it.
  std::vector<std::string> gather_among(int count, std::string_view what, std::string mine);
  void note(std::string_view doing) override { notes_->write(rank_, doing); }
  std::string whereabouts() const override;
  std::span<std::uint32_t> shared_numbers() override { return notes_->numbers(); }
  // Of the first: kills the others and waits for them. Before another program takes its place, also
  // from another thread: one that waits for them stays where it is, lest it record their end.
  void end() noexcept;

 private:
  std::vector<std::string> gather_as_first(std::size_t others, std::string_view what,
                                           std::string mine);
  std::string how_it_ended(std::size_t other);

  int rank_ = 0, count_ = 1;
  std::atomic<bool> is_ending_ = false;
  std::vector<OtherRank> others_;    // of the first
  baselines::FileDescriptor first_;  // of the others
  std::shared_ptr<Notes> notes_;
  std::map<int, std::shared_ptr<Ranks>> first_ranks_;  // by count; kernels keep references
};

}  // namespace fusegate::bench
