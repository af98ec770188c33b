// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop {
    /// Answers each line of an input with a line of an output, in order, when the program has the answer.
    ///
    /// Like ``answerLines(of:on:limit:label:in:fileID:line:_:)``, for answers that take time: of a child, another process, a task.
    /// The closure returns at once, and the program calls ``LineAnswer/send(_:)`` later, on any thread:
    ///
    /// ```swift
    /// try loop.answerLines(of: .standardInput, on: .standardOutput, later: { line, answer in
    ///     loop.performLocally(after: .seconds(1)) { answer.send("\(line)!") }
    /// })
    /// ```
    ///
    /// The closure is called with the next lines before the first has its answer. The answers are written in the order of the lines. A
    /// client that goes meanwhile loses its answers, and no other: ``LineAnswer/isWanted`` is `false` then.
    ///
    /// - Parameters:
    ///   - input: What to read. No other code should read from it.
    ///   - output: Where to write; may be the same file.
    ///   - limit: How many bytes a line may have.
    ///   - maxUnanswered: How many lines may wait for their answers, or for those of the lines before. Beyond it nothing is read.
    ///     With 1 a line waits until the line before it has its answer. Zero or less counts as 1.
    ///   - label: The name in descriptions and tools; the place of the call, if `nil`.
    ///   - mode: The mode in which lines are read; `.common` for all common modes.
    ///   - fileID: The place of the call.
    ///   - line: The place of the call.
    ///   - ask: Called with a line and its answer, on the loop's thread.
    /// - Returns: The writer. ``OutputWriter/finish()`` ends the dialogue in good order: answers that were not sent are dropped.
    /// - Throws: What adding an event source throws.
    ///
    /// - Precondition: called on the loop's own thread; the loop has no other reader of the same descriptor.
    /// - Complexity: O(n) in the bytes.
    @discardableResult
    public func answerLines(
        of input: File, on output: File, limit: Int = 65536, maxUnanswered: Int = 64, label: String? = nil,
        in mode: Mode = .common, fileID: StaticString = #fileID, line: UInt = #line,
        later ask: @escaping (String, LineAnswer) -> Void
    ) throws(SystemCallError) -> OutputWriter {
        let dialogue = LaterDialogue(self, mode, maxUnanswered, ask)
        let writer = OutputWriter(output, label: label, fileID: fileID, line: line) { _, event in
            switch event {
            case .drained: dialogue.drained()
            case .finished, .failed: dialogue.outputEnds()
            }
        }
        let reader = InputReader(input, as: .lines(limit: limit), label: label, fileID: fileID, line: line) {
            _, event in
            switch event {
            case .received(let lines): dialogue.take(lines)
            case .ended, .failed: dialogue.inputEnds()
            }
        }
        dialogue.reader = reader
        dialogue.begin(with: writer)
        try add(writer, in: mode)
        do throws(SystemCallError) {
            try add(reader, in: mode)
        } catch {
            writer.invalidate()
            throw error
        }
        return writer
    }

    /// Listens on an address, and answers the lines of each connection when the program has the answers.
    ///
    /// The parameters are those of ``answerLines(of:on:limit:maxUnanswered:label:in:fileID:line:later:)`` and of
    /// ``answerLines(at:limit:label:in:fileID:line:onRefusal:_:)-(RunLoop.SocketAddress,_,_,_,_,_,_,_)``.
    ///
    /// - Throws: What ``SocketListener/init(on:backlog:label:fileID:line:handler:)`` throws, and what adding a source throws.
    ///
    /// - Precondition: called on the loop's own thread.
    @discardableResult
    public func answerLines(
        at address: SocketAddress, limit: Int = 65536, maxUnanswered: Int = 64, label: String? = nil,
        in mode: Mode = .common, fileID: StaticString = #fileID, line: UInt = #line,
        onRefusal refusal: @escaping (SystemCallError) -> Void, later ask: @escaping (String, LineAnswer) -> Void
    ) throws(SystemCallError) -> SocketListener {
        let serve = laterConnections(limit, maxUnanswered, label, mode, fileID, line, refusal, ask)
        let listener = try SocketListener(on: address, label: label, fileID: fileID, line: line, handler: serve)
        try add(listener, in: mode)
        return listener
    }

    /// Answers the lines of each connection to a socket that the service manager has opened, when the program has the answers.
    ///
    /// The parameters are those of
    /// ``answerLines(at:limit:maxUnanswered:label:in:fileID:line:onRefusal:later:)-(RunLoop.SocketAddress,_,_,_,_,_,_,_,_)``.
    ///
    /// - Throws: What ``SocketListener/init(adopting:label:fileID:line:handler:)`` throws, and what adding a source throws.
    ///
    /// - Precondition: called on the loop's own thread.
    @discardableResult
    public func answerLines(
        at socket: ListenDescriptor, limit: Int = 65536, maxUnanswered: Int = 64, label: String? = nil,
        in mode: Mode = .common, fileID: StaticString = #fileID, line: UInt = #line,
        onRefusal refusal: @escaping (SystemCallError) -> Void, later ask: @escaping (String, LineAnswer) -> Void
    ) throws(SystemCallError) -> SocketListener {
        let serve = laterConnections(limit, maxUnanswered, label ?? socket.name, mode, fileID, line, refusal, ask)
        let listener = try SocketListener(adopting: socket, label: label, fileID: fileID, line: line, handler: serve)
        try add(listener, in: mode)
        return listener
    }

    private func laterConnections(
        _ limit: Int, _ maxUnanswered: Int, _ label: String?, _ mode: Mode, _ fileID: StaticString, _ line: UInt,
        _ refusal: @escaping (SystemCallError) -> Void, _ ask: @escaping (String, LineAnswer) -> Void
    ) -> (SocketListener, SocketListener.Event) -> Void {
        connections(in: mode, refusal) { [unowned self] (socket) throws(SystemCallError) in
            try answerLines(
                of: File(socket), on: File(socket), limit: limit, maxUnanswered: maxUnanswered, label: label, in: mode,
                fileID: fileID, line: line, later: ask)
        }
    }
}
