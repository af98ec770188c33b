// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop.Trace {
    /// The trace as JSON that Chrome's tracing page and Perfetto open.
    ///
    /// Threads are tracks; runs, turns, sleeps and callouts are slices that nest; each wake-up is a flow from its
    /// waker. What was still under way when the trace was taken ends with the trace.
    /// - Complexity: O(n) in the events.
    public func chromeJSON() -> String { ChromeTrace.text(self) }

    /// The same in no more bytes than `limit`: of a trace that would be longer, the oldest events count as lost.
    ///
    /// Of a hundred bytes each, as many events as are begun with fill half of an inspector's longest answer.
    func chromeJSON(atMost limit: Int) -> String? {
        var most = max(1, limit / 256 / max(1, loops.count))
        var trace = self
        while most > 0 {
            for index in trace.loops.indices {
                let surplus = max(0, trace.loops[index].events.count - most)
                trace.loops[index].events.removeFirst(surplus)
                trace.loops[index].lost += surplus
            }
            let text = ChromeTrace.text(trace)
            if text.utf8.count <= limit { return text }
            for index in trace.loops.indices { trace.loops[index].pages = trace.loops[index].pages.suffix(1) }
            most /= 4
        }
        return nil
    }

    /// The trace as a page for any browser, which needs nothing else.
    ///
    /// - Complexity: O(n) in the events.
    public func page() -> String { TracePage.text(program: program, json: chromeJSON()) }

    /// Writes the page, if the file's name ends in `.html`, otherwise the JSON.
    ///
    /// A regular file that is there is replaced when the new file is whole. A symbolic link to a regular file is
    /// replaced itself.
    ///
    /// - Parameter file: Its path.
    /// - Throws: what the system refused; `EEXIST` or `EISDIR` where something other than a regular file is there.
    public func write(to file: String) throws(RunLoop.SystemCallError) {
        try FileReplacement.write(file.hasSuffix(".html") ? page() : chromeJSON(), to: file)
    }
}
