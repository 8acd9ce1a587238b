// Threads that take tasks from one counter. Nothing lives longer than the call, so a fork in between is harmless.
#pragma once
#include <chrono>
#include <concepts>
#include <cstddef>
#include <functional>
#include <stdexcept>
#include <utility>

namespace baytree {

// Thrown where the user asked to stop; nothing of the work is kept.
struct Interrupted : std::runtime_error {
  Interrupted() : std::runtime_error("interrupted") {}
};

class Workers {
 public:
  // `is_stopped` is asked on the calling thread only, every few milliseconds of work.
  Workers(int threads, std::function<bool()> is_stopped)
      : threads_(threads < 1 ? 1 : threads), is_stopped_(std::move(is_stopped)) {}

  int size() const { return threads_; }

  // Calls task(i, worker) for every i in [0, tasks); the order over threads is free, so tasks must not share state.
  template <std::invocable<size_t, int> Task> void run(size_t tasks, const Task& task) {
    run(tasks, {&task, [](const void* it, size_t i, int worker) { (*static_cast<const Task*>(it))(i, worker); }});
  }

  // Asks whether the user wants to stop, at most every 20 ms; only on the calling thread.
  void poll();

 private:
  // A task, whatever its type: threads, locks and failures are compiled once, not for each of the hundred tasks of the core.
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
