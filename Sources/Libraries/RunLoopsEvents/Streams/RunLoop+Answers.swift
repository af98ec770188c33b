// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

public import RunLoops

extension RunLoop {
    /// Answers each line of an input with a line of an output, in order, as fast as the other side reads.
    ///
    /// For commands on standard input or on a socket, with one call for each connection. While the other side does not
    /// read its answers, nothing is read from it, so that a client that only sends costs one buffer. At the end of the
    /// input, and after a line that is too long, the answers to the lines before are written, and the output is
    /// finished. When the answers can no longer be written, reading stops too.
    ///
    /// While `answer` runs, no other line of this input is answered, not even by a run of the loop that is nested in it: such
    /// lines wait for their turn.
    ///
    /// - Parameters:
    ///   - input: What to read. No other code should read from it.
    ///   - output: Where to write; may be the same file.
    ///   - limit: How many bytes a line may have.
    ///   - label: The name in descriptions and tools; the place of the call, if `nil`.
    ///   - mode: The mode in which lines are answered; `.common` for all common modes.
    ///   - fileID: The place of the call.
    ///   - line: The place of the call.
    ///   - answer: Called with a line, on the loop's thread; returns what to write, without the line feed at the end.
    /// - Returns: The writer, with which the program can write more. ``OutputWriter/finish()`` ends the dialogue in good order,
    ///   and the end of the other side ends it too.
    /// - Throws: What adding an event source throws.
    ///
    /// - Precondition: called on the loop's own thread; the loop has no other reader of the same descriptor.
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
        let dialogue = Dialogue(writer, answer)
        let made = InputReader(input, as: .lines(limit: limit), label: label, fileID: fileID, line: line) {
            reader, event in
            switch event {
            case .received(let lines): dialogue.take(lines, from: reader)
            case .ended, .failed: dialogue.end()
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

    /// Listens on an address, and answers the lines of each connection as
    /// ``answerLines(of:on:limit:label:in:fileID:line:_:)`` does.
    ///
    /// For the commands of a service that has a socket of its own. When the process is out of descriptors or memory,
    /// connections wait, and the listener tries again after a second.
    ///
    /// - Parameters:
    ///   - address: Where to listen; a stale file of a Unix socket is taken over, as ``SocketListener`` says.
    ///   - limit: How many bytes a line may have. A connection with a longer line is ended.
    ///   - label: The name of the listener and of its connections in descriptions and tools; the place of the call, if
    ///     `nil`.
    ///   - mode: The mode in which connections are accepted and lines answered; `.common` for all common modes.
    ///   - fileID: The place of the call.
    ///   - line: The place of the call.
    ///   - refusal: Called with what the system refused: to accept a connection, or to serve one, which is then closed.
    ///   - answer: Called with a line, on the loop's thread; returns what to write, without the line feed at the end.
    /// - Returns: The listener. ``EventSource/invalidate()`` stops accepting connections and removes the file of a Unix
    ///   socket; existing connections continue. A program that ends without it leaves the file, and its next start
    ///   takes the file over.
    /// - Throws: What ``SocketListener/init(on:backlog:label:fileID:line:handler:)`` throws, and what adding a source throws.
    ///
    /// - Precondition: called on the loop's own thread.
    @discardableResult
    public func answerLines(
        at address: SocketAddress, limit: Int = 65536, label: String? = nil, in mode: Mode = .common,
        fileID: StaticString = #fileID, line: UInt = #line, onRefusal refusal: @escaping (SystemCallError) -> Void,
        _ answer: @escaping (String) -> String
    ) throws(SystemCallError) -> SocketListener {
        let serve = connections(limit, label, mode, fileID, line, refusal, answer)
        let listener = try SocketListener(on: address, label: label, fileID: fileID, line: line, handler: serve)
        try add(listener, in: mode)
        return listener
    }

    /// Answers the lines of each connection to a socket that the service manager has opened.
    ///
    /// The parameters are those of
    /// ``answerLines(at:limit:label:in:fileID:line:onRefusal:_:)-(RunLoop.SocketAddress,_,_,_,_,_,_,_)``.
    ///
    /// - Throws: What ``SocketListener/init(adopting:label:fileID:line:handler:)`` throws, and what adding a source throws.
    @discardableResult
    public func answerLines(
        at socket: ListenDescriptor, limit: Int = 65536, label: String? = nil, in mode: Mode = .common,
        fileID: StaticString = #fileID, line: UInt = #line, onRefusal refusal: @escaping (SystemCallError) -> Void,
        _ answer: @escaping (String) -> String
    ) throws(SystemCallError) -> SocketListener {
        let serve = connections(limit, label ?? socket.name, mode, fileID, line, refusal, answer)
        let listener = try SocketListener(adopting: socket, label: label, fileID: fileID, line: line, handler: serve)
        try add(listener, in: mode)
        return listener
    }

    private func connections(
        _ limit: Int, _ label: String?, _ mode: Mode, _ fileID: StaticString, _ line: UInt,
        _ refusal: @escaping (SystemCallError) -> Void, _ answer: @escaping (String) -> String
    ) -> (SocketListener, SocketListener.Event) -> Void {
        connections(in: mode, refusal) { [unowned self] (socket) throws(SystemCallError) in
            try answerLines(
                of: File(socket), on: File(socket), limit: limit, label: label, in: mode, fileID: fileID, line: line,
                answer)
        }
    }

    /// What a listener does with its connections: serves each, and tries again a second after a refusal.
    func connections(
        in mode: Mode, _ refusal: @escaping (SystemCallError) -> Void,
        _ serve: @escaping (Socket) throws(SystemCallError) -> Void
    ) -> (SocketListener, SocketListener.Event) -> Void {
        { [unowned self] listener, event in
            switch event {
            case .accepted(let socket):
                do throws(SystemCallError) { try serve(socket) } catch { refusal(error) }
            case .refused(let error):
                refusal(error)
                performLocally(after: .seconds(1), in: mode) { [weak listener] in listener?.resume() }
            }
        }
    }
}

/// The lines of one input that wait for their answers.
///
/// Belongs to the loop's thread. Lines wait here and not in a call: a run that is nested in the program's closure may read more
/// lines, or the end of the input, before the present line is answered.
private final class Dialogue {
    private let writer: OutputWriter
    private let answer: (String) -> String
    private var waiting: [String] = []
    private var isAnswering = false
    private var hasEnded = false

    init(_ writer: OutputWriter, _ answer: @escaping (String) -> String) {
        self.writer = writer
        self.answer = answer
    }

    /// Answers the lines, unless this is called by a run that is nested in an answer.
    func take(_ lines: [String], from reader: InputReader<String>) {
        waiting += lines
        if isAnswering {
            reader.isReadingPaused = true
            return
        }
        isAnswering = true
        var takesMore = true
        while !waiting.isEmpty {
            let lines = waiting
            waiting = []
            takesMore = writer.write(lines.map { answer($0) + "\n" }.joined().utf8)
        }
        isAnswering = false
        reader.isReadingPaused = !takesMore
        if hasEnded { writer.finish() }
    }

    /// Finishes the output after the answers to the lines before the end.
    func end() {
        hasEnded = true
        if !isAnswering { writer.finish() }
    }
}
