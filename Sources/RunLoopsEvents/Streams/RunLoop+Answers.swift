// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop {
    /// Answers each line of an input with a line of an output, in order, as fast as the other side reads.
    ///
    /// For commands by standard input or by a socket: one call a connection. While the other side does not read its answers,
    /// nothing is read from it, so that a client that only asks costs one buffer. At the end of the input, and after a line
    /// that is too long, the answers to the lines before are written, and the output is finished. When nobody reads answers
    /// any more, nothing is read either.
    ///
    /// - Parameters:
    ///   - input: What to read. No other code should read from it.
    ///   - output: Where to write; may be the same file.
    ///   - limit: How many bytes a line may have.
    ///   - label: The name in descriptions and tools; where the call stands, if `nil`.
    ///   - mode: The mode in which lines are answered; `.common` for all common modes.
    ///   - fileID: Where the call stands.
    ///   - line: Where the call stands.
    ///   - answer: Called with a line, on the loop's thread; returns what to write, without the line feed at the end.
    /// - Returns: The writer, with which the program can write more. ``OutputWriter/finish()`` ends the dialogue in good order,
    ///   and the end of the other side ends it too.
    /// - Throws: What adding an event source throws.
    ///
    /// - Precondition: called on the loop's own thread.
    /// - Complexity: O(n) in the bytes.
    @discardableResult
    public func answerLines(
        of input: File, on output: File, limit: Int = 65536, label: String? = nil, in mode: Mode = .common,
        fileID: StaticString = #fileID, line: UInt = #line, _ answer: @escaping (String) -> String
    ) throws(SystemCallError) -> OutputWriter {
        weak var reader: InputReader<String>?
        let writer = OutputWriter(output, label: label, fileID: fileID, line: line) { _, event in
            switch event {
            case .drained: reader?.isReadingPaused = false
            case .finished, .failed: reader?.invalidate()
            }
        }
        let made = InputReader(input, as: .lines(limit: limit), label: label, fileID: fileID, line: line) {
            reader, event in
            switch event {
            case .received(let lines):
                reader.isReadingPaused = !writer.write(lines.map { answer($0) + "\n" }.joined().utf8)
            case .ended, .failed: writer.finish()
            }
        }
        reader = made
        try add(writer, in: mode)
        do throws(SystemCallError) {
            try add(made, in: mode)
        } catch {
            writer.invalidate()
            throw error
        }
        return writer
    }
}
