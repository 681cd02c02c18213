// The processes that measure one benchmark together, with a device each: ranks 0, 1 and so on. All
// run the same engine in step. What one of them alone knows (a time, a failure) is exchanged before
// anybody decides by it, so that all decide alike. Most programs are one process: rank 0 of 1.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <stdexcept>
#include <string>
#include <string_view>
#include <vector>

namespace fusegate::kernels {

// A rank has ended, is at another point than the others, or failed. The text is the same on every
// rank and names the rank.
class RankError : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

// What ends the name of an exchange at the end of `together`.
inline constexpr std::string_view kHasEnded = " has ended";

class Ranks {
 public:
  virtual ~Ranks() = default;
  virtual int rank() const { return 0; }
  virtual int count() const { return 1; }
  // Waits for all, and returns what each gave, by rank. what: for what it is, such as "nccl id";
  // the same on all ranks. Throws RankError. On the host: tens of microseconds.
  virtual std::vector<std::string> gather(std::string_view what, std::string mine);
  // The first so many of them, of which this one must be one. It must outlive what it returns.
  virtual std::shared_ptr<Ranks> first_ranks(int /*count*/) { return std::make_shared<Ranks>(); }
  // What this rank is about to do, or why it failed, for the message of a time-out; not exchanged.
  virtual void note(std::string_view /*doing*/) {}
  // The last notes of all: "rank 0: stage 'all_reduce'; rank 1: a batch". "" where there is one.
  virtual std::string whereabouts() const { return ""; }

  // Memory that all share, page-aligned and zero at first: kNumbersApart numbers a rank. Empty
  // where there is one rank.
  virtual std::span<std::uint32_t> shared_numbers() { return {}; }
  static constexpr std::size_t kNumbersApart = 128;

  bool is_first() const { return rank() == 0; }
  bool are_several() const { return count() > 1; }
  void wait(std::string_view what) { gather(what, {}); }
  bool all(std::string_view what, bool mine);
  double largest(std::string_view what, double mine);  // NaN where one is
  double sum(std::string_view what, double mine);
  std::uint64_t first(std::string_view what, std::uint64_t mine);  // rank 0's
  // The first text that is not empty, as "rank 1: text"; "" where all are empty.
  std::string any(std::string_view what, const std::string& mine);
  // Runs it on all ranks. Where it throws on one, all throw RankError. Nests. One rank alone throws
  // what it throws.
  void together(std::string_view what, const std::function<void()>& run);
};

}  // namespace fusegate::kernels
