// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import Glibc
import RunLoops
import RunLoopsEvents
import RunLoopsTestSupport
import Testing

/// With the variables of a service, each in a process of its own.
@Suite(.ownThread, .leavesNothing) struct ServiceEnvironmentProcessTests {
    // MARK: Telling

    @Test func `Without a service manager fromEnvironment and watchdogTimer return nil and inherited is empty`() async {
        await #expect(processExitsWith: .success) {
            for name in ["NOTIFY_SOCKET", "WATCHDOG_USEC", "LISTEN_FDS", "LISTEN_PID"] { setVariable(name, nil) }
            let notify = try NotifySocket.fromEnvironment()
            #expect(notify == nil)
            #expect(try NotifySocket.watchdogInterval() == nil)
            #expect(try NotifySocket("/run/systemd/notify").watchdogTimer { _ in } == nil)
            #expect(try ListenDescriptor.inherited() == [])
        }
    }

    @Test func `A message is sent to the address in NOTIFY_SOCKET, and no descriptor stays open`() async {
        await #expect(processExitsWith: .success) {
            await letDispatchOpenItsTimers()
            let manager = ServiceManagerStandIn("@run-loops-\(getpid())")
            setVariable("NOTIFY_SOCKET", manager.path)
            let before = countOpenDescriptors()
            #expect(try NotifySocket.fromEnvironment()?.path == manager.path)
            let notify = try #require(try NotifySocket.fromEnvironment(unsetting: true))
            #expect(getenv("NOTIFY_SOCKET") == nil)
            for _ in 0..<100 { try? notify.send(.ready) }
            #expect(countOpenDescriptors() == before)
            #expect(manager.next() == ["READY=1"])
            setVariable("NOTIFY_SOCKET", "nonsense")
            #expect(throws: ServiceManagerError.environment(variable: "NOTIFY_SOCKET", value: "nonsense")) {
                _ = try NotifySocket.fromEnvironment()
            }
        }
    }

    @Test func `A message is sent to a socket in NOTIFY_SOCKET whose path is not UTF-8`() async {
        await #expect(processExitsWith: .success) {
            let plain = "/tmp/run-loops-notify-\(getpid())"
            let manager = ServiceManagerStandIn(plain)
            let name = plain.utf8CString.dropLast() + [CChar(bitPattern: 0xFF), 0]
            #expect(rename(plain, Array(name)) == 0)
            defer { unlink(Array(name)) }
            setVariable("NOTIFY_SOCKET", bytes: Array(name))
            let notify = try #require(try NotifySocket.fromEnvironment())
            #expect(notify.path == plain + "\u{FFFD}")
            try notify.send(.ready)
            #expect(manager.next() == ["READY=1"])
        }
    }

    @Test func `watchdogInterval and watchdogTimer are nil if WATCHDOG_PID names another process`() async {
        await #expect(processExitsWith: .success) {
            setVariable("WATCHDOG_USEC", "2500000")
            #expect(try NotifySocket.watchdogInterval() == .milliseconds(2_500))
            setVariable("WATCHDOG_PID", "\(getpid())")
            #expect(try NotifySocket.watchdogInterval() == .milliseconds(2_500))
            let notify = try NotifySocket("/notify")
            #expect(try notify.watchdogTimer { _ in } != nil)
            setVariable("WATCHDOG_PID", "\(getppid())")
            #expect(try NotifySocket.watchdogInterval() == nil)
            #expect(try notify.watchdogTimer { _ in } == nil)
            for (variable, value) in [
                ("WATCHDOG_PID", ""), ("WATCHDOG_PID", "-4"), ("WATCHDOG_PID", "me"), ("WATCHDOG_USEC", "0"),
                ("WATCHDOG_USEC", "-1"), ("WATCHDOG_USEC", "5s"), ("WATCHDOG_USEC", "18446744073709551615"),
            ] {
                setVariable(variable, value)
                #expect(throws: ServiceManagerError.environment(variable: variable, value: value)) {
                    _ = try NotifySocket.watchdogInterval()
                }
            }
        }
    }

    // MARK: Socket activation

    @Test func `Sockets passed by the service manager are taken with their names and accept connections`() async {
        await #expect(processExitsWith: .success) {
            try withLoop { loop in
                let directory = TemporaryDirectory()
                let path = directory.path("door")
                placeListeningSocket(path, 100)
                setVariable("LISTEN_PID", "\(getpid())")
                setVariable("LISTEN_FDS", "2")
                setVariable("LISTEN_FDNAMES", "door:store")
                dup2(open("/dev/null", O_RDONLY), 101)
                let all = try ListenDescriptor.inherited(from: 100, unsetting: true)
                #expect(all.map(\.name) == ["door", "store"] && all.map(\.descriptor) == [100, 101])
                #expect(all.allSatisfy { fcntl($0.descriptor, F_GETFD) == FD_CLOEXEC })
                #expect(getenv("LISTEN_FDS") == nil && getenv("LISTEN_PID") == nil && getenv("LISTEN_FDNAMES") == nil)
                #expect(try ListenDescriptor.inherited() == [])
                let accepted = Box(0)
                let listener = try SocketListener(adopting: all[0]) { listener, event in
                    if case .accepted = event { accepted.value += 1 }
                    listener.invalidate()
                }
                #expect(listener.label == "door" && listener.address.path == path)
                add(listener, to: loop)
                let connector = try SocketConnector(to: .unix(path)) { _, _ in }
                add(connector, to: loop)
                #expect(loop.runPlenty() == .finished)
                #expect(accepted.value == 1)
                // The manager's file stays, the descriptor does not.
                #expect(access(path, F_OK) == 0 && fcntl(100, F_GETFD) == -1)
                #expect(throws: RunLoop.SystemCallError(call: "getsockopt", code: ENOTSOCK)) {
                    _ = try SocketListener(adopting: all[1]) { _, _ in }
                }
                #expect(fcntl(101, F_GETFD) == FD_CLOEXEC, "still open")
            }
        }
    }

    @Test func `Sockets passed to another process are not taken`() async {
        await #expect(processExitsWith: .success) {
            setVariable("LISTEN_FDS", "1")
            let withoutProcess = try ListenDescriptor.inherited(unsetting: false)
            #expect(withoutProcess == [])
            setVariable("LISTEN_PID", "\(getppid())")
            #expect(try ListenDescriptor.inherited(unsetting: false) == [])
            #expect(getenv("LISTEN_FDS") != nil)
        }
    }

    @Test func `Malformed LISTEN variables throw an error that names the variable`() async {
        await #expect(processExitsWith: .success) {
            let own = "\(getpid())"
            let cases: [(variables: [String: String], wrong: String)] = [
                (["LISTEN_PID": "x", "LISTEN_FDS": "1"], "LISTEN_PID"),
                (["LISTEN_PID": "0", "LISTEN_FDS": "1"], "LISTEN_PID"),
                (["LISTEN_PID": own, "LISTEN_FDS": "-1"], "LISTEN_FDS"),
                (["LISTEN_PID": own, "LISTEN_FDS": "two"], "LISTEN_FDS"),
                (["LISTEN_PID": own, "LISTEN_FDS": "99999999999"], "LISTEN_FDS"),
                (["LISTEN_PID": own, "LISTEN_FDS": "1", "LISTEN_FDNAMES": "a:b"], "LISTEN_FDNAMES"),
                (["LISTEN_PID": own, "LISTEN_FDS": "2", "LISTEN_FDNAMES": "a"], "LISTEN_FDNAMES"),
            ]
            for (variables, wrong) in cases {
                for name in ["LISTEN_PID", "LISTEN_FDS", "LISTEN_FDNAMES"] { setVariable(name, nil) }
                for (name, value) in variables { setVariable(name, value) }
                #expect(throws: ServiceManagerError.environment(variable: wrong, value: variables[wrong] ?? "")) {
                    _ = try ListenDescriptor.inherited()
                }
                #expect(getenv("LISTEN_FDS") == nil)
            }
            // More than are open.
            setVariable("LISTEN_PID", own)
            setVariable("LISTEN_FDS", "2147482647")
            #expect(throws: ServiceManagerError.system(.init(call: "fcntl", code: EBADF))) {
                _ = try ListenDescriptor.inherited(from: 1000, unsetting: true)
            }
        }
    }
}

/// A Unix socket that listens, with the number `place`.
private func placeListeningSocket(_ path: String, _ place: CInt) {
    let made = rl_socket_create(AF_UNIX)
    var storage = [UInt8](repeating: 0, count: Int(RL_ADDRESS_ROOM))
    var name = path
    let length = name.withUTF8 { rl_address_unix(&storage, $0.baseAddress, $0.count) }
    #expect(rl_socket_listen(made, storage, UInt32(length), 8) == 0)
    // Blocking, and inherited, as from a service manager.
    #expect(dup2(made, place) == place)
    close(made)
    #expect(fcntl(place, F_SETFL, 0) == 0)
}
