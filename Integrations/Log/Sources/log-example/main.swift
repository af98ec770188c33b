// A timer that takes longer than a frame, in a log on standard error.
//
//   swift run --package-path Integrations/Log log-example

import Glibc
import Logging
import RunLoops
import RunLoopsLog

LoggingSystem.bootstrap(StreamLogHandler.standardError)
var logger = Logger(label: "loops")
logger.logLevel = .debug

let loop = RunLoop.current
loop.add(RunLoop.Timer(.every(.milliseconds(40)), label: "thumbnails") { _ in usleep(20_000) }, in: .default)

let log = LoopLog(logger, limits: .frame)
log.add(loop)
loop.run(mode: .default, for: .milliseconds(100))
