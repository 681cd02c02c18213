// A cluster of blocks of one SM each, as kernels see it: shared memory, barriers, asynchronous
// copies and products, and a fiber per thread. What the hardware leaves open is random by seed
// (which thread is next, when a copy is done); products are done no earlier than they are waited
// for.
//
// Undefined behaviour is a Fault: shared memory that is not the block's, a copy or a product of
// bytes not yet there or not fenced, more arrivals at a barrier than it expects, a block that ends
// while others write to it, and a deadlock.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <functional>
#include <map>
#include <memory>
#include <span>
#include <stdexcept>
#include <type_traits>
#include <vector>

#include "tests/emulation/fibers.h"

namespace fusegate::kernels::emulation {

class Fault : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

inline constexpr int kWarp = 32, kWarpgroup = 128;
// Of a block's dynamic shared memory: a multiple of 16 only, which is all that CUDA guarantees.
inline constexpr std::uint32_t kSharedBase = 1040;

// A tensor map (tensor_map.cc): a row-major matrix of elements of so many bytes, and its boxes.
// swizzle: the address bits from 4 on that are mixed with those from 7 on. Of two matrices in turn,
// eight rows each (make_pair_map), rows counts both's, and second_bytes is how far the second lies
// behind. stride: elements from a row to the next.
struct BoxMap {
  std::byte* data;
  std::int64_t rows, cols, stride;
  std::int32_t box_rows, box_cols;
  std::uint32_t swizzle;
  std::int32_t element;
  std::int64_t second_bytes;

  std::byte* at(std::int64_t row, std::int64_t column) const {
    if (second_bytes == 0) return data + (row * stride + column) * element;
    const std::int64_t of_one = row / 16 * 8 + row % 8;
    return data + (of_one * stride + column) * element + row / 8 % 2 * second_bytes;
  }
  std::size_t bytes() const {
    return std::size_t(box_rows) * std::size_t(box_cols) * std::size_t(element);
  }
};

// One thread's part of a wgmma of 64 x columns x 32 bytes: its sums, and the operands' descriptors.
// widen: the element of so many bytes there. has_plain_b: b lies as [k, columns].
struct Product {
  float* sums = nullptr;
  int columns = 0;
  std::uint64_t a = 0, b = 0;
  bool adds = false;
  float (*widen)(std::uint16_t bits) = nullptr;
  int element = 2;
  bool has_plain_b = false;

  bool is_same_as(const Product& o) const {
    return columns == o.columns && a == o.a && b == o.b && adds == o.adds && widen == o.widen &&
           has_plain_b == o.has_plain_b;
  }
};

class Cluster {
 public:
  Cluster(int blocks, int threads, std::size_t shared_bytes, unsigned seed);

  // kernel() in every thread. first: number of the cluster's first block in its row of the grid.
  void run(int first, int row, int row_blocks, const std::function<void()>& kernel);
  // The blocks are those of several GPUs' grids, in clusters of so many, all at work at one time:
  // program(gpu) runs in every thread and may call several kernels, with end_kernel() behind each.
  void run_gpus(int gpus, int cluster, const std::function<void(int gpu)>& program);
  // Until all of the GPU's grid is here.
  void end_kernel();
  // The running one.
  static Cluster& here() { return *here_; }

  // ---- of the running thread
  int thread() const { return fibers_.current() % threads_; }
  int rank() const { return number() % blocks_of_cluster_; }
  int threads() const { return threads_; }  // of a block
  int block_x() const { return first_ + number() % blocks_of_gpu_; }
  int block_y() const { return row_; }
  int grid_x() const { return row_blocks_; }

  // ---- flags in memory that other GPUs write: at a random time, and until has() holds.
  void set_flag(std::function<void()> set);
  void wait_for_flag(const std::function<bool()>& has);

  // ---- shared memory. Copies see threads' writes only after fence().
  void read(std::uint32_t from, void* to, std::size_t bytes);
  void write(std::uint32_t to, const void* from, std::size_t bytes);
  void fence();

  // ---- barriers of a block in shared memory. Copies and other blocks may use them once the thread
  // that initialised them has fenced them.
  void init_barrier(std::uint32_t barrier, int arrivals);
  void fence_barriers();
  void arrive(std::uint32_t barrier, int rank);
  void expect(std::uint32_t barrier, int bytes);
  void wait(std::uint32_t barrier, std::uint32_t parity);

  // ---- all of a warp, of so many threads, of the cluster
  template <typename Value>
  std::array<Value, kWarp> exchange(const Value& value);
  void named_sync(int barrier, int threads, bool waits);
  void block_sync() { named_sync(0, threads_, true); }
  void cluster_arrive();
  void cluster_wait();

  // ---- asynchronous. ranks: a bit per block to write.
  void load(const BoxMap& map, std::uint32_t to, std::uint32_t barrier, int column, int row,
            unsigned ranks);
  void store(const BoxMap& map, std::uint32_t from, int column, int row);
  // By the thread itself, at once.
  void store(void* to, const void* from, std::size_t bytes);
  void commit_stores();
  void wait_stores(int pending = 0);  // for all but so many groups
  // 16 bytes or as many zeros, at the latest when the thread waits for their group.
  void copy_16(std::uint32_t to, const void* from, bool inside);
  void commit_copies() { self().copies.emplace_back(); }
  void wait_copies(std::size_t pending);
  // To another block's shared memory; the bytes count at its barrier.
  template <typename Value>
  void send(std::uint32_t to, int rank, const Value& value, std::uint32_t barrier);
  void multiply(const Product& product);
  void commit_products();
  void wait_products(std::size_t pending);

  void wait_for_previous_kernel() { block().may_write = true; }
  bool may_write() { return block().may_write; }

 private:
  static constexpr std::size_t kExchanged = 64;  // bytes a thread gives at most

  struct Barrier {
    int arrivals = 0, missing = 0;
    std::int64_t bytes = 0;  // still expected
    unsigned phase = 0;
    int made_by = 0;  // thread
    bool is_fenced = false;
    Queue waiting;
  };
  struct Meeting {
    int expected = 0, arrived = 0;
    Queue waiting;
  };
  struct Range {
    std::uint32_t from = 0;
    std::size_t bytes = 0;
  };
  struct Block {
    std::vector<std::byte> shared;
    std::vector<int> unfenced;  // by 16 bytes: who wrote it, plus one
    std::vector<Range> coming;  // by copies
    std::map<std::uint32_t, Barrier> barriers;
    std::array<Meeting, 16> named;
    bool has_started = false, may_write = false;
    int running = 0;  // threads
  };
  struct Store {
    BoxMap map;
    std::uint32_t from = 0;
    int column = 0, row = 0;
    int group = 0;  // the thread's n-th, from one on; none yet
    bool is_done = false;
  };
  struct Copy {
    std::uint32_t to = 0;
    std::array<std::byte, 16> bytes{};
    bool is_done = false;
  };
  struct Thread {
    std::vector<std::uint32_t> written;  // since its last fence, by 16 bytes
    // By group; the last is open.
    std::vector<std::vector<std::shared_ptr<Copy>>> copies{1};
    std::vector<std::shared_ptr<Store>> stores;
    int store_groups = 0;
    std::vector<Product> open;
    std::vector<std::vector<Product>> groups;
    unsigned cluster_phase = 0;
    bool has_arrived = false;  // at the cluster's barrier
    std::size_t exchanges = 0;
  };
  struct Warp {
    Meeting meeting;
    // Alternating: before one is written again, all have met at the other.
    std::array<std::array<std::array<std::byte, kExchanged>, kWarp>, 2> values{};
  };

  struct ClusterBarrier {
    unsigned phase = 0;
    int arrived = 0;
    Queue waiting;
  };

  int number() const { return fibers_.current() / threads_; }  // of the block among all
  int first_of_cluster() const { return number() - rank(); }
  ClusterBarrier& cluster_barrier() {
    return cluster_barriers_[static_cast<std::size_t>(number() / blocks_of_cluster_)];
  }
  Block& block() { return blocks_[static_cast<std::size_t>(number())]; }
  Block& block_at(int rank);
  Thread& self() { return states_[static_cast<std::size_t>(fibers_.current())]; }
  static std::byte* at(Block& block, std::uint32_t address, std::size_t bytes);
  static Barrier& barrier_at(Block& block, std::uint32_t address);
  static Barrier& fenced_barrier_at(Block& block, std::uint32_t address);
  void turn_if_complete(Barrier& barrier);
  void come(Block& block, const Range& range, std::function<void()> copy, std::uint32_t barrier);
  void end_thread();
  void turn_cluster_if_complete();
  static void load_into(Block& block, const BoxMap& map, std::uint32_t to, int column, int row);
  static void run_store(Block& block, Store& store);
  static void run_copy(Block& block, Copy& copy);
  void run_group(int first_thread);
  static void run_product(Block& block, const std::vector<Product*>& of_threads);
  static float element_at(Block& block, const Product& product, std::uint32_t address);
  // The bytes of a wgmma's operands.
  static std::vector<Range> ranges_of(const Product& product);
  void meet(Meeting& meeting, int count, const char* what, const std::function<void()>& last);

  static Cluster* here_;
  int threads_;
  std::size_t shared_bytes_;
  int first_ = 0, row_ = 0, row_blocks_ = 0;
  int blocks_of_gpu_, blocks_of_cluster_;
  std::vector<Meeting> gpus_;
  Queue flag_waiting_;
  Fibers fibers_;
  std::vector<Block> blocks_;
  std::vector<Thread> states_;
  std::vector<Warp> warps_;
  std::vector<Meeting> warpgroups_;
  std::vector<ClusterBarrier> cluster_barriers_;
};

template <typename Value>
std::array<Value, kWarp> Cluster::exchange(const Value& value) {
  static_assert(std::is_trivially_copyable_v<Value> && sizeof(Value) <= kExchanged);
  Warp& warp = warps_[static_cast<std::size_t>(fibers_.current() / kWarp)];
  auto& values = warp.values[self().exchanges++ % 2];
  std::memcpy(&values[static_cast<std::size_t>(thread() % kWarp)], &value, sizeof(value));
  meet(warp.meeting, kWarp, "its warp", [] {});
  std::array<Value, kWarp> all{};
  for (std::size_t i = 0; i < kWarp; ++i) std::memcpy(&all[i], &values[i], sizeof(Value));
  return all;
}

template <typename Value>
void Cluster::send(std::uint32_t to, int rank, const Value& value, std::uint32_t barrier) {
  Block& block = block_at(rank);
  std::byte* const there = at(block, to, sizeof(value));
  come(
      block, {to, sizeof(value)}, [=] { std::memcpy(there, &value, sizeof(value)); }, barrier);
}

}  // namespace fusegate::kernels::emulation
