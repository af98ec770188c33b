// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Dispatch
import Foundation
import RunLoopsDispatch

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// URLSession calls back on a queue of its own: a server of this program answers it.
@MainActor
func serveSession() throws {
    let server = try OneAnswerServer(body: "answered")
    try runUntilDone { done in
        let url = try URL(string: "http://127.0.0.1:\(server.port)/").unwrapped("a URL")
        URLSession.shared.dataTask(with: url) { data, response, error in
            let status = (response as? HTTPURLResponse)?.statusCode ?? 0
            print(
                "session:", status, data.map { String(decoding: $0, as: UTF8.self) } ?? "\(String(describing: error))")
            done()
        }.resume()
    }
}

/// Process watches its child from a thread of its own.
@MainActor
func waitForProcess() throws {
    try runUntilDone { done in
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/bin/sh")
        process.arguments = ["-c", "exit 7"]
        process.terminationHandler = { process in
            print("process:", process.terminationStatus)
            done()
        }
        try process.run()
    }
}

/// Process.waitUntilExit() serves Foundation's loop, and not this one.
@MainActor
func waitUntilProcessExits() throws {
    let (theirs, ours) = (Flag(), Flag())
    let foundations = Foundation.Timer.scheduledTimer(withTimeInterval: 0.001, repeats: true) { _ in theirs.isSet = true
    }
    let timer = Timer.scheduledTimer(withTimeInterval: 0.001, repeats: true) { _ in ours.isSet = true }
    let process = Process()
    process.executableURL = URL(fileURLWithPath: "/bin/sh")
    process.arguments = ["-c", "sleep 0.1; exit 7"]
    try process.run()
    process.waitUntilExit()
    print("exit:", process.terminationStatus, "in Foundation's loop:", theirs.isSet, "in this loop:", ours.isSet)
    foundations.invalidate()
    timer.invalidate()
}

/// A stream tells its delegate in Foundation's loop alone; it can be read and written without any.
@MainActor
func readStream() throws {
    final class Delegate: NSObject, StreamDelegate, @unchecked Sendable {
        let isTold = Flag()
        func stream(_ aStream: Stream, handle eventCode: Stream.Event) { isTold.isSet = true }
    }
    let stream = InputStream(data: Data("bytes".utf8))
    let delegate = Delegate()
    stream.delegate = delegate
    stream.schedule(in: Foundation.RunLoop.main, forMode: Foundation.RunLoop.Mode.default)
    stream.open()
    RunLoop.main.run(until: Date(timeIntervalSinceNow: 0.05))
    print("in this loop alone:", delegate.isTold.isSet)
    var bytes = [UInt8](repeating: 0, count: 16)
    let count = stream.read(&bytes, maxLength: bytes.count)
    print("stream:", String(decoding: bytes.prefix(count), as: UTF8.self))
    stream.close()
}

/// The handlers of FileHandle run on a queue.
@MainActor
func readPipe() throws {
    let pipe = Pipe()
    try runUntilDone { done in
        pipe.fileHandleForReading.readabilityHandler = { handle in
            print("file handle:", String(decoding: handle.availableData, as: UTF8.self))
            handle.readabilityHandler = nil
            done()
        }
        try pipe.fileHandleForWriting.write(contentsOf: Data("bytes".utf8))
    }
}

/// The main queue, the main actor and the main operation queue are this loop's own work.
@MainActor
func runMainQueue() {
    let count = Flag()
    runUntilDone { done in
        DispatchQueue.main.async {
            Task { @MainActor in
                OperationQueue.main.addOperation {
                    print("main queue, main actor, operation queue:", Thread.isMainThread)
                    count.isSet = true
                    done()
                }
            }
        }
    }
    precondition(count.isSet)
}

/// Foundation's own timers wait for Foundation's own loop: they fire where that is the host of this one.
@MainActor
func runFoundationsTimers() throws {
    let (theirs, ours) = (Flag(), Flag())
    let timer = Foundation.Timer.scheduledTimer(withTimeInterval: 0.001, repeats: true) { _ in theirs.isSet = true }
    RunLoop.main.run(until: Date(timeIntervalSinceNow: 0.1))
    print("in this loop alone:", theirs.isSet)

    let guest = try MainQueueGuest()
    Timer.scheduledTimer(withTimeInterval: 0.001, repeats: true) { _ in ours.isSet = true }
    while !theirs.isSet || !ours.isSet {
        _ = Foundation.RunLoop.main.run(mode: .default, before: Date(timeIntervalSinceNow: 0.01))
    }
    print("in Foundation's loop:", theirs.isSet, ours.isSet)
    guest.invalidate()
    timer.invalidate()
}

/// A thread that runs Foundation's loop serves what knows that loop alone, and passes results on.
@MainActor
func runFoundationsThread() {
    runUntilDone { done in
        Thread.detachNewThread {
            let timer = Foundation.Timer(timeInterval: 0.001, repeats: false) { _ in
                print("timer on Foundation's thread:", !Thread.isMainThread)
                done()
            }
            Foundation.RunLoop.current.add(timer, forMode: .default)
            Foundation.RunLoop.current.run()
        }
    }
}

/// Accepts one connection on a thread of its own, and answers whatever it asks.
struct OneAnswerServer {
    let port: UInt16

    init(body: String) throws {
        let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
        var address = sockaddr_in()
        address.sin_family = sa_family_t(AF_INET)
        address.sin_addr = in_addr(s_addr: INADDR_LOOPBACK.bigEndian)
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        let result = withUnsafeMutablePointer(to: &address) { pointer in
            pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) { pointer in
                bind(listener, pointer, size) + listen(listener, 1) + getsockname(listener, pointer, &size)
            }
        }
        guard result == 0 else { throw Missing(what: "a listening socket") }
        port = UInt16(bigEndian: address.sin_port)
        Thread.detachNewThread {
            let connection = FileHandle(fileDescriptor: accept(listener, nil, nil), closeOnDealloc: true)
            _ = connection.availableData
            let head = "HTTP/1.1 200 OK\r\nContent-Length: \(body.utf8.count)\r\nConnection: close\r\n\r\n"
            try? connection.write(contentsOf: Data((head + body).utf8))
        }
    }
}

struct Missing: Error { let what: String }

extension Optional {
    func unwrapped(_ what: String) throws -> Wrapped {
        guard let self else { throw Missing(what: what) }
        return self
    }
}
