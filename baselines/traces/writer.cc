#include "baselines/traces/writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <limits>
#include <map>
#include <numeric>
#include <set>
#include <unordered_map>
#include <utility>

namespace fusegate::baselines {
namespace {

using nlohmann::ordered_json;

// Names come from other programs: what is no UTF-8 there must not cost the file.
std::string json_text(const ordered_json& value) {
  return value.dump(-1, ' ', false, ordered_json::error_handler_t::replace);
}

std::string microseconds(std::int64_t ns) {
  const char* sign = ns < 0 ? "-" : "";
  const std::uint64_t magnitude = ns < 0 ? -static_cast<std::uint64_t>(ns) : ns;
  return fmt::format("{}{}.{:03}", sign, magnitude / 1000, magnitude % 1000);
}

// As viewers want them: in order of time, what encloses before what it encloses.
std::vector<const TraceEvent*> sorted_events(const Trace& trace) {
  std::vector<const TraceEvent*> events;
  for (const TraceEvent& event : trace.events) events.push_back(&event);
  std::ranges::stable_sort(events, [](const TraceEvent* a, const TraceEvent* b) {
    return std::pair(a->start_ns, -a->duration_ns) < std::pair(b->start_ns, -b->duration_ns);
  });
  return events;
}

class TraceText {
 public:
  explicit TraceText(const Trace& trace) : trace_(trace), events_(sorted_events(trace)) {
    for (const TraceTrack& track : trace.tracks) threads_.insert(track.thread);
    for (const TraceEvent* event : events_) {
      if (is_call(event->category) && event->correlation != 0) {
        calls_.emplace(event->correlation, event);  // keeps the first, which is the outermost
      }
    }
  }

  std::string take() {
    text_ = "{\"schemaVersion\": 1, \"displayTimeUnit\": \"ns\", ";
    if (!trace_.about.is_null()) add("\"fusegate\": {}, ", json_text(trace_.about));
    text_ += "\"traceEvents\": [";
    for (std::size_t i = 0; i < trace_.tracks.size(); ++i) add_track_names(trace_.tracks[i], i);
    for (const TraceEvent* event : events_) add_event(*event);
    for (const TraceCounter& counter : trace_.counters) {
      add_line(R"("ph": "C", "name": {}, "pid": {}, "ts": {}, "args": {{"value": {}}})",
               json_text(counter.name), counter.process, microseconds(counter.at_ns),
               json_text(counter.value));
    }
    text_ += "\n]}\n";
    return std::move(text_);
  }

 private:
  struct Lane {
    std::int64_t thread = 0;
    std::int64_t end_ns = 0;
  };

  template <typename... Values>
  void add(fmt::format_string<Values...> format, Values&&... values) {
    fmt::format_to(std::back_inserter(text_), format, std::forward<Values>(values)...);
  }
  template <typename... Values>
  void add_line(fmt::format_string<Values...> format, Values&&... values) {
    text_ += first_line_ ? "\n{" : ",\n{";
    first_line_ = false;
    add(format, std::forward<Values>(values)...);
    text_ += '}';
  }

  void add_name(std::string_view what, const TraceTrack& track, std::int64_t thread,
                const std::string& name) {
    if (name.empty()) return;
    add_line(R"("ph": "M", "name": "{}", "pid": {}, "tid": {}, "args": {{"name": {}}})", what,
             track.process, thread, json_text(name));
  }

  void add_track_names(const TraceTrack& track, std::size_t position) {
    add_name("process_name", track, track.thread, track.process_name);
    add_name("thread_name", track, track.thread, track.thread_name);
    add_line(R"("ph": "M", "name": "process_sort_index", "pid": {}, "tid": {}, )"
             R"("args": {{"sort_index": {}}})",
             track.process, track.thread, position);
  }

  // The thread id to write for work on a stream: the stream's own, where its lane is free by then.
  std::int64_t lane_of(const TraceEvent& event) {
    const TraceTrack& track = trace_.tracks.at(event.track);
    std::vector<Lane>& lanes = lanes_[event.track];
    if (lanes.empty()) lanes.push_back({track.thread, event.start_ns});
    auto lane =
        std::ranges::find_if(lanes, [&](const Lane& l) { return l.end_ns <= event.start_ns; });
    if (lane == lanes.end()) lane = lanes.insert(lane, {add_lane(track), event.start_ns});
    lane->end_ns = event.end_ns();
    return lane->thread;
  }

  std::int64_t add_lane(const TraceTrack& track) {
    std::int64_t thread = *threads_.rbegin();
    do {
      thread = thread == std::numeric_limits<std::int64_t>::max() ? 0 : thread + 1;
    } while (!threads_.insert(thread).second);
    const std::string stream =
        track.thread_name.empty() ? fmt::format("stream {}", track.thread) : track.thread_name;
    add_name("thread_name", track, thread, stream + ", overlapping");
    return thread;
  }

  void add_event(const TraceEvent& event) {
    const TraceTrack& track = trace_.tracks.at(event.track);
    const bool on_gpu = is_gpu_work(event.category);
    const std::int64_t thread = on_gpu ? lane_of(event) : track.thread;
    add_line(R"("ph": "X", "cat": "{}", "name": {}, "pid": {}, "tid": {}, "ts": {}, "dur": {}, )"
             R"("args": {})",
             category_name(event.category), json_text(event.name), track.process, thread,
             microseconds(event.start_ns), microseconds(event.duration_ns),
             json_text(arguments(event, track)));
    if (on_gpu) add_arrow(event, track.process, thread);
  }

  static ordered_json arguments(const TraceEvent& event, const TraceTrack& track) {
    ordered_json args = ordered_json::object();
    if (event.external_id != 0) args["External id"] = event.external_id;
    if (event.correlation != 0) args["correlation"] = event.correlation;
    if (is_gpu_work(event.category)) {
      args["device"] = track.process;
      args["stream"] = track.thread;
    }
    if (event.bytes) args["bytes"] = *event.bytes;
    if (event.launch) {
      args["grid"] = event.launch->grid;
      args["block"] = event.launch->block;
      args["registers per thread"] = event.launch->registers_per_thread;
      args["shared memory"] = event.launch->shared_bytes;
    }
    return args;
  }

  // An id for each arrow: a graph's one launch has arrows to many kernels, and viewers end an id
  // with its first head.
  void add_arrow(const TraceEvent& work, std::int64_t process, std::int64_t thread) {
    const auto call = calls_.find(work.correlation);
    if (call == calls_.end()) return;
    const TraceTrack& host = trace_.tracks.at(call->second->track);
    ++arrows_;
    add_line(R"("ph": "s", "cat": "ac2g", "name": "ac2g", "id": {}, "pid": {}, "tid": {}, )"
             R"("ts": {})",
             arrows_, host.process, host.thread, microseconds(call->second->start_ns));
    add_line(R"("ph": "f", "bp": "e", "cat": "ac2g", "name": "ac2g", "id": {}, "pid": {}, )"
             R"("tid": {}, "ts": {})",
             arrows_, process, thread, microseconds(work.start_ns));
  }

  const Trace& trace_;
  std::vector<const TraceEvent*> events_;
  std::unordered_map<std::int64_t, const TraceEvent*> calls_;  // by correlation
  std::map<std::size_t, std::vector<Lane>> lanes_;             // by track
  std::set<std::int64_t> threads_;                             // ids that are taken
  std::string text_;
  std::size_t arrows_ = 0;
  bool first_line_ = true;
};

}  // namespace

std::string trace_text(const Trace& trace) { return TraceText(trace).take(); }

}  // namespace fusegate::baselines
