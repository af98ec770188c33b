// The four ways in which a run ends.

import RunLoops
import RunLoopsTesting

ManualRunLoop.with { manual in
    let loop = manual.loop
    func run(_ what: String, afterSource: Bool = false) {
        let result = loop.run(in: .default, for: .seconds(10), returnsAfterSource: afterSource)
        print("\(what): \(result) (\(result.rawValue))")
    }

    run("an empty mode")

    var stops = false
    let source = RunLoop.Source { _ in if stops { loop.stop() } }
    loop.add(source, in: .default)
    run("nothing happens for ten seconds")

    loop.performLocally(after: .seconds(1)) { loop.stop() }
    run("stop() in a callout")

    source.signal()
    run("a source, and the run was to return after a source", afterSource: true)

    source.signal()
    run("a source, and the run was not to return")

    loop.performLocally(after: .seconds(1)) {}
    run("a timer is no source", afterSource: true)

    stops = true
    source.signal()
    run("a source that calls stop(), and the run was to return", afterSource: true)

    loop.performLocally(after: .seconds(1)) { source.invalidate() }
    run("the last item leaves")
}
