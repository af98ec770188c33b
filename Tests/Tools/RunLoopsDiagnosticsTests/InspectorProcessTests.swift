// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import CRunLoopsKernel
import Glibc
import RunLoops
import RunLoopsSystem
import RunLoopsTestSupport
import Testing

@testable import RunLoopsDiagnostics

/// What was built beside the tests.
private let builtFolder = BuiltPrograms.folder(with: "runloop", "RunLoopsDiagnosticsPrograms")

private let asNobody = "setpriv --reuid=65534 --regid=65534 --clear-groups"

/// Whether the tests may become another user, and that user can run the built programs.
private let canBeNobody: Bool = {
    guard geteuid() == 0, let builtFolder else { return false }
    return system("\(asNobody) '\(builtFolder)/runloop' --help >/dev/null 2>&1") == 0
}()

@Suite("Inspecting another process", .ownThread, .enabled(if: builtFolder != nil))
struct InspectorProcessTests {
    private let folder = InspectorFolder()

    /// What a shell's commands print, errors too, and their status; `$tool` is the tool, `$program` the program to look
    /// into.
    private func shell(_ commands: String) throws -> (text: String, status: CInt) {
        let built = builtFolder ?? ""
        // A path may have spaces: what variables hold is not split into words.
        let text = """
            IFS=
            export XDG_RUNTIME_DIR='\(folder.path)' tool='\(built)/runloop' program='\(built)/RunLoopsDiagnosticsPrograms'
            cd '\(folder.path)'
            {
            \(commands)
            } 2>&1
            """
        let stream = try #require(popen(text, "re"))
        var bytes: [UInt8] = []
        while case let byte = fgetc(stream), byte != EOF { bytes.append(UInt8(truncatingIfNeeded: byte)) }
        return (String(decoding: bytes, as: UTF8.self), pclose(stream) >> 8 & 0xFF)
    }

    /// What commands print while the program plays a scene; `$pid` is its number.
    private func during(
        _ scene: String, environment: String = "RUNLOOP_INSPECT=1", _ commands: String
    ) throws -> String {
        try shell(
            """
            rm -f input output
            mkfifo input output
            \(environment) "$program" \(scene) <input >output &
            pid=$!
            exec 3>input 4<output
            read ready <&4
            \(commands)
            exec 3>&-
            wait $pid
            """
        ).text
    }

    @Test func `a timer in Foundation's main loop that is never run is found without linking Foundation`() throws {
        let said = try shell("$program foundation").text
        #expect(said == "[]\n[\"foundationLoopNotRun\"]\n[]\n")
    }

    @Test func `ps and dump show a process whose main loop hangs`() throws {
        let said = try during("hang", "$tool ps; $tool dump $pid; echo status $?")
        #expect(said.contains("RunLoopsDiagnosticsPrograms"))
        #expect(said.contains("in timer the one that hangs for"))
        #expect(said.contains("made at RunLoopsDiagnosticsPrograms/Program.swift:"))
        #expect(said.contains("<RunLoop of main thread"))
        #expect(said.contains("status 0"))
    }

    @Test func `a process continues after doctor has inspected it`() throws {
        let said = try during("idle", "$tool doctor --json --for 300ms $pid; kill -0 $pid && echo it goes on")
        #expect(said.contains("\"findings\""))
        #expect(said.contains("it goes on"))
    }

    @Test(.disabled(if: Sanitizer.isAny, "a sanitizer takes the report of a crash, which reads stacks, for a fault"))
    func `the crash report of an inspected program has no complaint about the inspector's thread`() throws {
        let backtrace = "SWIFT_BACKTRACE=enable=yes,color=no,interactive=no,symbolicate=off"
        let said = try shell("RUNLOOP_INSPECT=1 \(backtrace) timeout 300 $program end trap").text
        #expect(said.contains("asked for"))
        #expect(said.contains("Program crashed"))
        #expect(!said.contains("failed to suspend"), "\(said.prefix(1000))")
    }

    @Test func `top --plain prints lines`() throws {
        let said = try during("idle", "$tool top --plain --every 50ms --for 500ms $pid </dev/null; echo status $?")
        #expect(said.contains("asleep for"))
        #expect(said.contains("status 0"))
    }

    @Test func `a process continues after trace has recorded it`() throws {
        let said = try during(
            "idle", "$tool trace --for 100ms -o live.json $pid; echo status $?; kill -0 $pid && echo alive")
        #expect(said.contains("Page: live.html   Perfetto: live.json"))
        #expect(said.contains("status 0") && said.contains("alive"))
    }

    @Test(.disabled(if: Sanitizer.isThread, "ThreadSanitizer has a thread of its own, which the clock wakes"))
    func `no thread of an inspected process is woken after the inspection ended`() throws {
        // How often each thread has slept: what ends with the looking may come in the first second, and what wakes a thread
        // by the clock does so in each.
        let said = try during(
            "idle",
            """
            $tool trace --for 100ms -o live.json $pid >/dev/null
            $tool top --plain --every 50ms --for 200ms $pid </dev/null >/dev/null
            $tool trace --for 600s -o dead.json $pid >/dev/null & sleep 0.2; kill -9 $!; wait $!
            $tool dump $pid >/dev/null
            count() { cat /proc/$pid/task/*/status | grep ^voluntary; }
            for i in 1 2 3; do
                before=$(count); sleep 1.5; after=$(count)
                if [ "$before" = "$after" ]; then echo at rest; break; fi
                echo "$before" then "$after"
            done
            """)
        #expect(said.contains("at rest"), "\(said)")
    }

    @Test func `a process without RUNLOOP_INSPECT is not inspected`() throws {
        let said = try during("idle", environment: "", "$tool ps | grep -c $pid; $tool dump $pid; echo status $?")
        #expect(said.hasPrefix("0\n"))
        #expect(said.contains("cannot be looked into: it must be this user's") && said.contains("status 1"))
    }

    @Test func `the socket is removed when the process ends, or by the next command if the process was killed`() throws
    {
        let count = "ls run-loop-inspect | wc -l"
        let killed = try during("idle", "\(count); kill -9 $pid; wait $pid; \(count); $tool ps >/dev/null; \(count)")
        #expect(killed.split(separator: "\n").map { $0.trimming(" ") }.filter { $0.count == 1 } == ["1", "1", "0"])
        let ended = try during("idle", "exec 3>&-; wait $pid; \(count)")
        #expect(ended.trimming(" \n") == "0")
    }

    @Test func `ps shows a stopped process as stopped and does not wait for it`() throws {
        let said = try during("idle", "kill -STOP $pid; $tool ps; kill -CONT $pid; $tool ps")
        #expect(said.contains("stopped"))
        #expect(said.contains("asleep for"))
    }

    @Test(.enabled(if: canBeNobody, "Only root can become somebody else, who must be able to run what was built."))
    func `another user is refused by the directory, the tool and the process`() throws {
        let said = try during(
            "hang",
            """
            name=$(ls run-loop-inspect)
            echo tool: $(\(asNobody) $tool dump $pid 2>&1)
            echo closed: $(\(asNobody) $program knock $PWD/run-loop-inspect/$name)
            chmod 755 . run-loop-inspect; chmod 666 run-loop-inspect/$name
            echo tool: $(\(asNobody) $tool dump $pid 2>&1)
            echo open: $(\(asNobody) $program knock $PWD/run-loop-inspect/$name)
            chmod 700 . run-loop-inspect
            $tool ps
            """)
        let lines = said.split(separator: "\n")

        #expect(lines.count { $0.hasPrefix("tool: Error: process") && $0.contains("must be this user's") } == 2)
        #expect(said.contains("closed: connect: Permission denied"))
        #expect(said.contains("only user 0 may look into this process"))
        #expect(said.contains("in timer the one that hangs for"))
    }

    /// How many sockets and directories the process has open.
    private static func countSockets() -> Int {
        (CInt(0)..<256).count { number in
            var status = stat()
            guard fstat(number, &status) == 0 else { return false }
            return status.st_mode & S_IFMT == S_IFSOCK || status.st_mode & S_IFMT == S_IFDIR
        }
    }

    // Swift Testing before 6.3 takes no value into an exit test.
    #if compiler(>=6.3)
    @Test func `a forked child serves no client and keeps no socket open`() async {
        await #expect(processExitsWith: .exitCode(7)) { [path = folder.path as String] in
            let folder = InspectorFolder(of: path)
            setVariable("XDG_RUNTIME_DIR", folder.path)
            let before = Self.countSockets()
            try RunLoop.Inspector.start()
            guard RunLoop.Inspector.isStarted, let client = InspectorClient.find(getpid()) else { exit(1) }
            _ = try client.dump(within: plenty)
            let child = fork()
            if child == 0 {
                // The C library's lock on the heap is free: the fork took it. exit() runs what is to remove the name.
                if RunLoop.Inspector.isStarted { exit(1) }
                if Self.countSockets() != before { exit(2) }
                // The thread sanitizer cannot follow threads that are made after a fork.
                if !Sanitizer.isThread {
                    try RunLoop.Inspector.start()
                    guard let own = InspectorClient.find(getpid()) else { exit(4) }
                    _ = try own.dump(within: plenty)
                }
                // What only a thread of the parent's holds is a leak to the address sanitizer, which looks at exit.
                if Sanitizer.isAddress {
                    RunLoop.Inspector.stop()
                    _exit(3)
                }
                exit(3)
            }
            var status: CInt = 0
            waitpid(child, &status, 0)
            _ = try client.dump(within: plenty)
            RunLoop.Inspector.stop()
            if countEntries(folder.path + "/run-loop-inspect") != 2 { exit(4) }
            exit(status == 3 << 8 ? 7 : 5)
        }
    }

    @Test func `thousands of misbehaving clients leave no descriptor open and do not block a loop`() async {
        await #expect(processExitsWith: .exitCode(7)) { [path = folder.path as String] in
            await letDispatchOpenItsTimers()
            let inspector = try TestInspector(in: InspectorFolder(of: path))
            let thread = InspectedThread(inspector)
            thread.turn()
            let before = countOpenDescriptors()
            var random = SeededRandom(5)
            for index in 0..<(isFull ? 50_000 : 3000) {
                let client = try? inspector.connectRaw()
                switch index % 4 {
                case 0: break
                case 1: client?.send("runloop-inspect/3 dump\n")
                case 2: client?.send("runloop-inspect/3 statistics\n")
                default: client?.send((0..<64).map { _ in UInt8.random(in: 0...255, using: &random) })
                }
                if index.isMultiple(of: 100) { thread.turn() }
            }
            // The clients are gone when nobody follows and their descriptors are closed.
            waitUntil { inspector.server.loops.followerCount == 0 && countOpenDescriptors() == before }
            thread.turn()
            thread.end()
            exit(7)
        }
    }

    @Test func `a process without free descriptors is not kept awake by a connecting client`() async {
        await #expect(processExitsWith: .exitCode(7)) { [path = folder.path as String] in
            let inspector = try TestInspector(in: InspectorFolder(of: path))
            let knocking = (0..<4).map { _ in PrivateDescriptor(adopting: rl_inspect_socket()) }
            var all: [CInt] = []
            while case let number = open("/dev/null", O_RDONLY | O_CLOEXEC), number >= 0 { all.append(number) }
            let path = "\(inspector.folder.directory)/\(inspector.server.name)"
            for socket in knocking {
                _ = rl_port_connect(socket.number, path, 0)
                // Accepted with the number in reserve, and closed.
                if RawClient(socket).readToEnd() != "" { exit(1) }
            }
            for number in all { close(number) }
            _ = try inspector.connect().dump(within: plenty)
            exit(7)
        }
    }
    #endif
}

extension StringProtocol {
    /// Without the given characters at both ends.
    fileprivate func trimming(_ characters: String) -> String {
        var rest = Substring(self)
        while let first = rest.first, characters.contains(first) { rest.removeFirst() }
        while let last = rest.last, characters.contains(last) { rest.removeLast() }
        return String(rest)
    }
}
