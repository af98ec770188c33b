// An hour of timers in no time.

import RunLoops
import RunLoopsTesting

// snippet.TICKER
/// The code under test, which does not know of the test.
final class Ticker {
    private(set) var ticks = 0

    init(every interval: Duration) {
        let timer = RunLoop.Timer(.every(interval), label: "ticker") { [weak self] _ in self?.ticks += 1 }
        RunLoop.current.add(timer, in: .default)
    }
}
// snippet.end

// snippet.TEST
ManualRunLoop.with { manual in
    let ticker = Ticker(every: .seconds(60))
    manual.advance(by: .seconds(3600))
    precondition(ticker.ticks == 60)
}
// snippet.end

// snippet.TRACE
ManualRunLoop.with { manual in
    let recorder = RunLoop.TraceRecorder(manual.loop)
    let ticker = Ticker(every: .seconds(60))
    manual.advance(by: .seconds(60))
    print(recorder.text)
    print("\(ticker.ticks) tick, \(manual.sleeps) sleep")
}
// snippet.end
