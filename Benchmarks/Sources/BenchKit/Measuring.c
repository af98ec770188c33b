// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Samples, CPU time, memory, and what other threads do.

#define _GNU_SOURCE
#include "BenchKit.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

bk_samples bk_samples_make(int64_t capacity) {
    bk_samples samples = {malloc((size_t) capacity * sizeof(int64_t)), 0, capacity};
    // Touched now, so that no sample pays for a fresh page.
    memset(samples.values, 0, (size_t) capacity * sizeof(int64_t));
    return samples;
}

void bk_samples_clear(bk_samples *samples) { samples->count = 0; }

static int ascending(const void *left, const void *right) {
    int64_t a = *(const int64_t *) left, b = *(const int64_t *) right;
    return (a > b) - (a < b);
}

double bk_quantile(bk_samples *samples, double portion) {
    if (samples->count == 0) return 0;
    qsort(samples->values, (size_t) samples->count, sizeof(int64_t), ascending);
    return (double) samples->values[(int64_t) (portion * (double) (samples->count - 1) + 0.5)];
}

// Repetitions.

enum { most_metrics = 16, most_repetitions = 64 };

static struct metric {
    const char *name;
    double values[most_repetitions];
    int count;
} metrics[most_metrics];

static int64_t first_repetition;

void bk_repeat(const char *name, double value) {
    for (int i = 0; i < most_metrics; i++) {
        if (metrics[i].name == NULL) metrics[i].name = strdup(name);
        if (strcmp(metrics[i].name, name) != 0) continue;
        if (metrics[i].count < most_repetitions) metrics[i].values[metrics[i].count++] = value;
        return;
    }
}

static int ascending_values(const void *left, const void *right) {
    double a = *(const double *) left, b = *(const double *) right;
    return (a > b) - (a < b);
}

void bk_medians(void) {
    for (int i = 0; i < most_metrics && metrics[i].name != NULL; i++) {
        qsort(metrics[i].values, (size_t) metrics[i].count, sizeof(double), ascending_values);
        bk_result(metrics[i].name, metrics[i].values[metrics[i].count / 2]);
    }
}

bool bk_again(int64_t done) {
    int64_t now = bk_now();
    if (done == 0) first_repetition = now;
    int64_t most = bk_number("reps", 3);
    // A peer that takes seconds for one repetition is so far behind that more of them would say nothing new.
    return done < most && (done == 0 || now - first_repetition < 2000000000);
}

int64_t bk_cpu(void) {
    struct rusage usage;
    getrusage(RUSAGE_SELF, &usage);
    return ((int64_t) usage.ru_utime.tv_sec + usage.ru_stime.tv_sec) * 1000000000
        + ((int64_t) usage.ru_utime.tv_usec + usage.ru_stime.tv_usec) * 1000;
}

int64_t bk_resident(void) {
    FILE *file = fopen("/proc/self/smaps_rollup", "r");
    if (file == NULL) bk_fail("smaps_rollup cannot be read");
    char line[256];
    long kilobytes = 0;
    while (fgets(line, sizeof line, file) != NULL) {
        if (sscanf(line, "Anonymous: %ld", &kilobytes) == 1) break;
    }
    fclose(file);
    return (int64_t) kilobytes * 1024;
}

static int64_t cpu_of(clockid_t clock) {
    struct timespec time;
    clock_gettime(clock, &time);
    return (int64_t) time.tv_sec * 1000000000 + time.tv_nsec;
}

// Of the process and not of each thread, so that the time of a thread that ends in between is counted.
bk_others bk_look_at_others(void) {
    struct rusage process, self;
    getrusage(RUSAGE_SELF, &process);
    getrusage(RUSAGE_THREAD, &self);
    return (bk_others){
        process.ru_nvcsw - self.ru_nvcsw,
        cpu_of(CLOCK_PROCESS_CPUTIME_ID) - cpu_of(CLOCK_THREAD_CPUTIME_ID),
    };
}
