// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if Metrics
// A loop with a timer, and what it reports after a tenth of a second.
//
//   swift run --traits Metrics RunLoopsMetricsPrograms

import CoreMetrics
import MetricsTestKit
import RunLoops
import RunLoopsMetrics

// A backend that keeps what it is given; a real one is swift-prometheus or swift-otel.
let backend = TestMetrics()
MetricsSystem.bootstrap(backend)

let loop = RunLoop.current
loop.add(RunLoop.Timer(.every(.milliseconds(10)), label: "tick") { _ in }, in: .default)

let metrics = LoopMetrics(every: .seconds(10))
metrics.add(loop)
loop.run(in: .default, for: .milliseconds(100))
metrics.report()
print(backend)
#else
fatalError("Built without the trait Metrics: swift run --traits Metrics RunLoopsMetricsPrograms")
#endif
