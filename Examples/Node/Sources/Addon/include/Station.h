// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Functions of Swift's for the add-on. All of them on the thread of the loop, which calls the functions that they are given.

#ifndef STATION_H
#define STATION_H

#include <stdint.h>

// Calls `tick` by a timer of the calling thread's loop, `count` times.
void station_tick(int32_t count, double milliseconds, void (*tick)(void *context, int32_t number), void *context);
// Adds up the numbers to `count` in an async function, and calls `done` on the calling thread's loop.
void station_sum(int64_t count, void (*done)(void *context, double sum), void *context);
// Gives one piece of work to the calling thread's loop: 0 a post without a wake-up, 1 a timer that is due, 2 a task of the main actor.
void station_give(int32_t kind, void (*done)(void *context), void *context);

#endif
