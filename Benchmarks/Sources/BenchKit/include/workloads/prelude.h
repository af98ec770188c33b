// What every C peer needs, in one line.

#include "BenchKit.h"
#include "workloads/c-program.h"

#include <pthread.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>
