// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Scenes with a host in C. Each returns NULL, or a sentence about what was wrong; each runs on a thread that has no host yet.

#ifndef C_HOST_SCENES_H
#define C_HOST_SCENES_H

#ifdef __cplusplus
extern "C" {
#endif

// Posts from another thread are served on the loop's thread, in order, and each context is released once.
const char *scene_posts_of_another_thread(void);
// runloops_perform() of a callback of the host's is served before the host waits.
const char *scene_post_of_a_callback(void);
// A wake-up makes the descriptor readable, and one run makes it silent.
const char *scene_wake_up(void);
// A stop in a callout is the result of the run; a stop between two runs does nothing.
const char *scene_stop(void);
// A post in a mode is served in this mode alone, and in common modes by a mode that is marked as common.
const char *scene_modes(void);
// A thread ends with a post that was not served: the context is released, and a retained loop does nothing afterwards.
const char *scene_end_of_a_thread(void);
// Frames: a run without a descriptor serves what was posted.
const char *scene_frames(void);
// The main loop's and the current loop's pointers are one each, and the version is the header's.
const char *scene_identity(void);

// Waits and runs until `*isDone` is set; NULL, or a sentence if that does not happen. For work of Swift's.
const char *scene_run_until(const int *isDone);

// Calls against the rules: none returns. `number` chooses the call.
void scene_misuse(int number);
// Asks for the descriptor, and returns what the library returned.
int scene_poll_descriptor(void);

// The same header in C++: the version that C++ sees.
unsigned scene_version_in_cpp(void);

#ifdef __cplusplus
}
#endif

#endif
