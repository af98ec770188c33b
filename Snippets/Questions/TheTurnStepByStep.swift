// What an observer sees of a run until it sleeps for the first time, by what there is to do.

import RunLoops
import RunLoopsTesting

func observe(_ what: String, _ prepare: (RunLoop) -> Void) {
    ManualRunLoop.with { manual in
        let loop = manual.loop
        // Something to wait for: a run in an empty mode would end at once.
        loop.add(RunLoop.Timer(.after(.seconds(1))) { _ in loop.stop() }, in: .default)
        var points: [String] = []
        let observer = RunLoop.Observer(.all) { observer, activity in
            points.append("\(activity)")
            if activity == .beforeWaiting { observer.invalidate() }
        }
        loop.add(observer, in: .default)
        prepare(loop)
        loop.run()
        print("\(what):\n    \(points.joined(separator: " "))")
    }
}

observe("nothing to do") { _ in }
observe("a block") { loop in loop.performLocally {} }
observe("a signalled source") { loop in
    let source = RunLoop.Source { _ in }
    loop.add(source, in: .default)
    source.signal()
}
observe("a source that signals itself twice more") { loop in
    var left = 2
    let source = RunLoop.Source { source in
        if left > 0 { source.signal() }
        left -= 1
    }
    loop.add(source, in: .default)
    source.signal()
}
