// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import RunLoops
import RunLoopsEvents

/// A server on this machine, in the same loop as curl: `/1000` is a thousand bytes, and `/never` is not answered.
final class Server {
    private let listener: SocketListener

    var address: String { "http://127.0.0.1:\(listener.address.port ?? 0)" }

    init() throws {
        listener = try SocketListener(on: .loopback()) { _, event in
            guard case .accepted(let socket) = event else { return }
            do { try Server.serve(socket) } catch { print("refused: \(error)") }
        }
        try RunLoop.current.add(listener, in: .default)
    }

    deinit { listener.invalidate() }

    private static func serve(_ socket: RunLoop.Socket) throws {
        var text: [UInt8] = []
        let stream = SocketStream(socket) { stream, event in
            if case .ended = event { stream.finish() }
            guard case .received(let bytes) = event else { return }
            text += bytes
            guard text.suffix(4).elementsEqual("\r\n\r\n".utf8) else { return }
            answer(String(decoding: text, as: UTF8.self), stream)
            text = []
        }
        try RunLoop.current.add(stream, in: .default)
    }

    private static func answer(_ request: String, _ stream: SocketStream) {
        // GET /1000 HTTP/1.1
        let path = request.split(separator: " ").dropFirst().first ?? ""
        guard let count = Int(path.dropFirst()) else { return }
        stream.write("HTTP/1.1 200 OK\r\nContent-Length: \(count)\r\n\r\n".utf8)
        stream.write(repeatElement(UInt8(ascii: "x"), count: count))
    }
}
