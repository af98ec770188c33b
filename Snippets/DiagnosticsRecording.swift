// What a loop does, recorded and looked at.

import RunLoops
import RunLoopsDiagnostics

let loop = RunLoop.current
loop.add(RunLoop.Timer(.every(.milliseconds(5)), label: "tick") { _ in }, in: .default)

// snippet.RECORD
let recording = RunLoop.Recording()
recording.add(loop)
loop.run(in: .default, for: .milliseconds(50))
recording.stop()

let trace = recording.trace()
try trace.write(to: "trace.html")
let report = try RunLoop.Trace.Report(json: trace.chromeJSON())
print(report.summary().joined(separator: "\n"))
for finding in report.findings() { print(finding.text) }
// snippet.end
