// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Log
// A timer that takes longer than a frame, and a timer that hangs, in a log on standard error.
//
//   swift run --traits Log RunLoopsLogPrograms

import Glibc
import Logging
import RunLoops
import RunLoopsDiagnostics
import RunLoopsLog

LoggingSystem.bootstrap(StreamLogHandler.standardError)
var logger = Logger(label: "loops")
logger.logLevel = .debug

let loop = RunLoop.current
loop.add(RunLoop.Timer(.every(.milliseconds(40)), label: "thumbnails") { _ in usleep(20_000) }, in: .default)

let log = LoopLog(logger, limits: .frame)
log.add(loop)
let watch = try RunLoop.HangWatch { log.log($0) }
try watch.add(loop)
loop.add(RunLoop.Timer(.after(.milliseconds(50)), label: "save") { _ in usleep(400_000) }, in: .default)
loop.run(in: .default, for: .milliseconds(600))
#else
fatalError("Built without the trait Log: swift run --traits Log RunLoopsLogPrograms")
#endif
