// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// The results that several workloads and languages report alike.

#include "BenchKit.h"

void bk_report_late(bk_samples *late) {
    bk_result("late_min_us", bk_quantile(late, 0) / 1e3);
    bk_result("late_p50_us", bk_quantile(late, 0.5) / 1e3);
    bk_result("late_p99_us", bk_quantile(late, 0.99) / 1e3);
    bk_result("late_max_us", bk_quantile(late, 1) / 1e3);
}

void bk_report_repeat(bk_samples *errors, int64_t start, int64_t last, int64_t fires, int64_t cpu) {
    const int64_t interval = 1000000;
    bk_result("fires", (double) fires);
    bk_result("points", (double) ((last - start) / interval));
    bk_result("error_p50_us", bk_quantile(errors, 0.5) / 1e3);
    bk_result("error_p99_us", bk_quantile(errors, 0.99) / 1e3);
    // How far the last fire is from the grid point it belongs to: small only if no fire shifts the next.
    bk_result("drift_us", (double) ((last - start) % interval) / 1e3);
    bk_result("cpu_ms", (double) cpu / 1e6);
    bk_result("cpu_ns", (double) cpu / (double) fires);
}

void bk_report_idle(void) {
    // The threads settle first.
    bk_sleep(200000000);
    bk_others before = bk_look_at_others();
    bk_sleep(bk_number("ms", 5000) * 1000000);
    bk_others after = bk_look_at_others();
    // The two clocks are not read at the same instant: below a microsecond is nothing.
    int64_t cpu = after.cpu - before.cpu;
    bk_result("wakeups", (double) (after.switches - before.switches));
    bk_result("cpu_us", cpu < 1000 ? 0 : (double) cpu / 1e3);
}
