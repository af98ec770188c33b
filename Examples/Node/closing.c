// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// A host that closes the library with dlclose() while threads of Dispatch's are in it: the process goes on.
//
//     closing FOLDER/libstation.so

#include <dlfcn.h>
#include <pthread.h>
#include <stdio.h>
#include <unistd.h>

static double result;

static void has_added(void *context, double sum) {
    (void)context;
    result = sum;
}

static void *use(void *path) {
    void *library = dlopen(path, RTLD_LAZY);
    if (!library) return puts(dlerror()), NULL;
    void *(*current)(void) = (void *(*)(void))dlsym(library, "runloops_current");
    int (*run)(void *, const char *, unsigned) = (int (*)(void *, const char *, unsigned))dlsym(library, "runloops_run_ready");
    void (*sum)(long, void (*)(void *, double), void *) = (void (*)(long, void (*)(void *, double), void *))dlsym(library, "station_sum");
    sum(10, has_added, NULL);
    while (result == 0) {
        run(current(), NULL, 0);
        usleep(1000);
    }
    dlclose(library);
    return NULL;
}

int main(int count, char **arguments) {
    if (count != 2) return 2;
    pthread_t thread;
    pthread_create(&thread, NULL, use, arguments[1]);
    pthread_join(thread, NULL);
    // The C library removes what a thread has kept when something else is closed.
    void *other = dlopen("libz.so.1", RTLD_LAZY);
    if (other) dlclose(other);
    // Dispatch's threads end after five seconds without work.
    sleep(7);
    printf("closed: the process goes on, %.0f\n", result);
    return result == 55 ? 0 : 1;
}
