// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// The lines of a child's two streams, in the order in which they were read.
///
/// Pure: knows nothing of descriptors and closures.
struct ChildLines {
    typealias Line = (stream: ChildCompletion.Stream, text: String)

    /// The bytes of each stream after its last line end.
    private var begun: [ChildCompletion.Stream: LineSplitter]
    private var waiting: [Line] = []
    /// The place of the next line that waits.
    private var place = 0

    /// - Parameter limit: How many bytes a line may have.
    init(limit: Int) {
        begun = [.output: LineSplitter(limit: limit), .error: LineSplitter(limit: limit)]
    }

    /// Appends the lines that end in these bytes, and keeps the bytes after the last line end.
    ///
    /// - Throws: `lineTooLong` for the first line with more bytes than the limit. The lines before it are kept; the
    ///   line itself is dropped.
    mutating func take(_ bytes: [UInt8], from stream: ChildCompletion.Stream) throws(RunLoop.InputError) {
        // Taken out of the table, so that appending does not copy its bytes; after an error the stream has no splitter.
        guard var splitter = begun.removeValue(forKey: stream) else { return }
        try bytes.withUnsafeBufferPointer { (bytes) throws(RunLoop.InputError) in
            try splitter.split(UnsafeRawBufferPointer(bytes)) { line in
                waiting.append((stream, String(decoding: line, as: UTF8.self)))
            }
        }
        begun[stream] = splitter
    }

    /// Ends both streams: the bytes after the last line end become the last line of their stream.
    mutating func end() {
        for stream in [ChildCompletion.Stream.output, .error] {
            guard var splitter = begun.removeValue(forKey: stream) else { continue }
            // Throws if the line is at its limit and a CR follows, which was kept in case an LF came.
            try? splitter.end { line in waiting.append((stream, String(decoding: line, as: UTF8.self))) }
        }
    }

    /// Removes and returns the next line; `nil` if there is none.
    mutating func next() -> Line? {
        guard place < waiting.count else {
            (waiting, place) = ([], 0)
            return nil
        }
        defer { place += 1 }
        return waiting[place]
    }
}
