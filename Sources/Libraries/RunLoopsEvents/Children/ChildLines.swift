// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import RunLoops

/// The lines of a child's two streams, in the order in which they were read.
///
/// Pure: knows nothing of descriptors and closures.
struct ChildLines {
    typealias Line = (stream: ChildCompletion.Stream, text: String)

    /// The beginnings of lines.
    private var begun: [ChildCompletion.Stream: LineSplitter]
    private var waiting: [Line] = []
    /// The place of the next line that waits.
    private var place = 0

    /// - Parameter limit: How many bytes a line may have.
    init(limit: Int) {
        begun = [.output: LineSplitter(limit: limit), .error: LineSplitter(limit: limit)]
    }

    /// Keeps the lines that end in these bytes, and the beginning of the line after them.
    ///
    /// - Throws: `lineTooLong` for the first line that has more bytes than the limit; the lines before it are kept, and
    ///   nothing of the line itself.
    mutating func take(_ bytes: [UInt8], from stream: ChildCompletion.Stream) throws(RunLoop.InputError) {
        // Not copied for the call; without it, after an error.
        guard var splitter = begun.removeValue(forKey: stream) else { return }
        try bytes.withUnsafeBufferPointer { (bytes) throws(RunLoop.InputError) in
            try splitter.split(UnsafeRawBufferPointer(bytes)) { line in
                waiting.append((stream, String(decoding: line, as: UTF8.self)))
            }
        }
        begun[stream] = splitter
    }

    /// Keeps the lines that have begun: there are no more bytes.
    mutating func end() {
        for stream in [ChildCompletion.Stream.output, .error] {
            guard var splitter = begun.removeValue(forKey: stream) else { continue }
            // Fails for a line that is too long by half of an end.
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
