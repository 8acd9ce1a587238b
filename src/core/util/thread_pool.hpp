// Parallel for loop: threads take task numbers from one shared counter. The threads end with the call, so a fork
// between calls is safe.
#pragma once
#include <chrono>
#include <concepts>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <utility>

namespace baytree {

// Thrown when the user interrupts; partial results are discarded.
struct Interrupted : std::runtime_error {
  Interrupted() : std::runtime_error("interrupted") {}
};

class Workers {
 public:
  // `is_stopped` is called on the calling thread only, every few milliseconds.
  Workers(int threads, std::function<bool()> is_stopped)
      : threads_(threads < 1 ? 1 : threads), is_stopped_(std::move(is_stopped)) {}

  int size() const { return threads_; }

  // Calls task(i, worker) for every i in [0, tasks), in any order and on any thread, so tasks must not share state.
  template <std::invocable<size_t, int> Task> void run(size_t tasks, const Task& task) {
    run(tasks, {&task, [](const void* it, size_t i, int worker) { (*static_cast<const Task*>(it))(i, worker); }});
  }

  // Checks for an interrupt, at most every 20 ms and only on the calling thread.
  void poll();

 private:
  // Type-erased task: locking and error handling are compiled once, not for each task type.
  struct AnyTask {
    const void* it;
    void (*call)(const void* it, size_t i, int worker);
  };
  void run(size_t tasks, AnyTask task);

  int threads_;
  std::function<bool()> is_stopped_;
  std::chrono::steady_clock::time_point asked_ = std::chrono::steady_clock::now();
};

}  // namespace baytree
