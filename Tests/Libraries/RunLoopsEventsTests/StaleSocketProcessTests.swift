// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import Glibc
import RunLoops
import RunLoopsEvents
import RunLoopsTestSupport
import Testing

/// The file of a Unix socket whose process has been killed, and files that look like it.
@Suite(
    .ownThread, .leavesNothing,
    .disabled(if: Sanitizer.isAny, "a sanitizer copies its locks, and calls a leak what a child inherits"))
struct StaleSocketProcessTests {
    @Test func `A listener takes over the socket file of a killed process and accepts connections there`() async {
        await #expect(processExitsWith: .success) {
            let directory = TemporaryDirectory()
            let address = try RunLoop.SocketAddress.unix(directory.path("socket"))
            for _ in 0..<5 {
                let owner = Starter(address)
                precondition(owner.outcome() == 0)
                precondition(reach(address) == 0)
                owner.kill()
                precondition(reach(address) == ECONNREFUSED, "the file is left, and nobody listens")
            }
            let listener = try SocketListener.sendable(on: address) { _, _ in }
            precondition(reach(address) == 0)
            listener.invalidate()
            precondition(reach(address) == ENOENT)
        }
    }

    @Test func `If several processes listen on one path at once, one succeeds, with or without a stale socket file`()
        async
    {
        await #expect(processExitsWith: .success) {
            let directory = TemporaryDirectory()
            let address = try RunLoop.SocketAddress.unix(directory.path("socket"))
            // After the first round, the one who won the round before was killed.
            for round in 0..<(isThorough ? 500 : 50) {
                let gate = DescriptorPair.pipe()
                let starters = (0..<6).map { _ in Starter(address, after: gate) }
                gate.closeFirst()
                gate.closeSecond()
                let outcomes = starters.map { $0.outcome() }
                precondition(outcomes.filter { $0 == 0 }.count == 1, "round \(round): \(outcomes)")
                precondition(outcomes.allSatisfy { $0 == 0 || $0 == EADDRINUSE }, "round \(round): \(outcomes)")
                precondition(reach(address) == 0, "round \(round): the winner was pushed out")
                for starter in starters { starter.kill() }
            }
        }
    }

    @Test func `A live listener is not replaced, even if its backlog is full or only a child holds its socket`() async {
        await #expect(processExitsWith: .success) {
            let directory = TemporaryDirectory()
            let address = try RunLoop.SocketAddress.unix(directory.path("socket"))
            let first = try SocketListener.sendable(on: address, backlog: 1) { _, _ in }
            let waiting = (0..<4).map { _ in connected(to: address) }
            precondition(waiting.last?.result == -EAGAIN)
            for _ in 0..<20 { precondition(refusal(address) == EADDRINUSE) }
            for client in waiting { close(client.descriptor) }
            first.invalidate()
            // The process that made it is killed; its child has the socket.
            let owner = Starter(address, withChild: true)
            precondition(owner.outcome() == 0)
            owner.kill()
            precondition(refusal(address) == EADDRINUSE && reach(address) == 0)
            owner.endChild()
            while reach(address) != ECONNREFUSED { usleep(1000) }
            precondition(refusal(address) == nil)
        }
    }

    @Test func `A listener refuses a path with a file that is not a socket, and leaves the file`() throws {
        let directory = TemporaryDirectory()
        directory.write("file", "text")
        directory.makeDirectory("directory")
        precondition(symlink("file", directory.path("link")) == 0)
        for name in ["file", "directory", "link"] {
            let address = try RunLoop.SocketAddress.unix(directory.path(name))
            #expect(throws: RunLoop.SystemCallError(call: "bind", code: ENOTSOCK)) {
                try SocketListener.sendable(on: address) { _, _ in }
            }
            #expect(access(directory.path(name), F_OK) == 0)
        }
    }

    @Test(.enabled(if: geteuid() == 0, "only root gives files away"))
    func `The stale socket file of another user is refused and not removed`() throws {
        let directory = TemporaryDirectory()
        let path = directory.path("socket")
        let address = try RunLoop.SocketAddress.unix(path)
        leaveStale(address)
        precondition(chown(path, 65534, 65534) == 0)
        #expect(throws: RunLoop.SystemCallError(call: "bind", code: EPERM)) {
            try SocketListener.sendable(on: address) { _, _ in }
        }
        #expect(reach(address) == ECONNREFUSED)
    }

    @Test func `A stale socket file is not taken over while the directory's lock is held`() throws {
        let directory = TemporaryDirectory()
        let address = try RunLoop.SocketAddress.unix(directory.path("socket"))
        leaveStale(address)
        let lock = rl_lock_directory_of(directory.path("x"))
        precondition(lock >= 0)
        #expect(refusal(address) == EADDRINUSE)
        rl_unlock_directory(lock)
        #expect(refusal(address) == nil)
    }
}

// MARK: -

/// A forked process that tries to listen, says how it went and waits to be killed.
private final class Starter {
    private let process: ForkedChild
    private let answer: DescriptorPair
    /// A child of the process ends when this process closes its end.
    private let life: DescriptorPair

    init(_ address: RunLoop.SocketAddress, after gate: DescriptorPair? = nil, withChild: Bool = false) {
        let (answer, life) = (DescriptorPair.pipe(), DescriptorPair.pipe())
        (self.answer, self.life) = (answer, life)
        process = ForkedChild {
            life.closeSecond()
            if let gate {
                gate.closeSecond()
                _ = rl_wait_readable(gate.first, 300_000)
            }
            var code: CInt = 0
            var listener: SocketListener?
            do throws(RunLoop.SystemCallError) {
                listener = try SocketListener.sendable(on: address) { _, _ in }
            } catch {
                code = error.code
            }
            if withChild {
                _ = ForkedChild {
                    _ = rl_wait_readable(life.first, 300_000)
                    return true
                }
            }
            _ = rl_write(answer.second, &code, 4)
            return withExtendedLifetime(listener) { while true { pause() } }
        }
    }

    /// 0 if the process listens; otherwise why not.
    func outcome() -> CInt {
        precondition(rl_wait_readable(answer.first, 300_000) == 1)
        var code: CInt = -1
        let count = rl_read(answer.first, &code, 4)
        precondition(count == 4)
        return code
    }

    func kill() {
        Glibc.kill(process.process, SIGKILL)
        precondition(process.end() == .signalled(SIGKILL))
        answer.closeFirst()
        answer.closeSecond()
        life.closeFirst()
    }

    func endChild() { life.closeSecond() }
}

/// The address as the kernel has it.
private func withBytes(of address: RunLoop.SocketAddress, _ body: (UnsafeRawPointer, UInt32) -> CInt) -> CInt {
    var storage = [UInt8](repeating: 0, count: Int(RL_ADDRESS_ROOM))
    var path = address.description
    let length = path.withUTF8 { rl_address_unix(&storage, $0.baseAddress, $0.count) }
    return storage.withUnsafeBytes { body($0.baseAddress!, UInt32(length)) }
}

private func connected(to address: RunLoop.SocketAddress) -> (descriptor: CInt, result: CInt) {
    let client = rl_socket_create(AF_UNIX)
    return (client, withBytes(of: address) { rl_socket_connect(client, $0, $1) })
}

/// 0 if somebody listens; otherwise the error.
private func reach(_ address: RunLoop.SocketAddress) -> CInt {
    let client = connected(to: address)
    close(client.descriptor)
    return -client.result
}

/// Why a listener is refused; `nil` if it is not.
private func refusal(_ address: RunLoop.SocketAddress) -> CInt? {
    do throws(RunLoop.SystemCallError) {
        try SocketListener.sendable(on: address) { _, _ in }.invalidate()
        return nil
    } catch {
        return error.code
    }
}

/// As a killed process leaves it.
private func leaveStale(_ address: RunLoop.SocketAddress) {
    let socket = rl_socket_create(AF_UNIX)
    let result = withBytes(of: address) { rl_socket_listen(socket, $0, $1, 1) }
    precondition(result == 0)
    close(socket)
}
