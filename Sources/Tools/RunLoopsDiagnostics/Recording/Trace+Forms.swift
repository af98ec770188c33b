// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops
internal import RunLoopsSystem

extension RunLoop.Trace {
    /// The trace as JSON that Chrome's tracing page and Perfetto open.
    ///
    /// Threads are tracks; runs, turns, sleeps and callouts are nested slices; each wake-up is a flow from the thread
    /// that requested it. A slice that had not ended when the trace was taken ends with the trace.
    ///
    /// - Complexity: O(n) in the events.
    public func chromeJSON() -> String { ChromeTrace.text(self) }

    /// Returns the trace as JSON of at most `limit` bytes, without the oldest events if the trace is longer; `nil` if
    /// even a few events are too long.
    ///
    /// The first attempt has so many events that they fill about half of an inspector's longest answer, at about a
    /// hundred bytes each.
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

    /// The trace as one self-contained HTML page for any browser.
    ///
    /// - Complexity: O(n) in the events.
    public func page() -> String { TracePage.text(program: program, json: chromeJSON()) }

    /// Writes the trace to a file: as an HTML page if the file's name ends in `.html`, otherwise as JSON.
    ///
    /// An existing regular file is replaced when the new file is complete. If the name is a symbolic link to a regular
    /// file, the link is replaced, and the file that it leads to stays unchanged.
    ///
    /// - Parameter file: The path of the file.
    /// - Throws: The error of the system; `EEXIST` or `EISDIR` if something other than a regular file has the name.
    public func write(to file: String) throws(RunLoop.SystemCallError) {
        try write(to: SystemText(file, for: "open"))
    }

    /// As the other, for a path that need not be UTF-8.
    func write(to file: SystemText) throws(RunLoop.SystemCallError) {
        let isPage = file.bytes.suffix(5).elementsEqual(".html".utf8)
        try FileReplacement.write(isPage ? page() : chromeJSON(), to: file)
    }
}
