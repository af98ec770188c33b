// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// A program to look into: the first argument says which scene is played. Each scene says "ready" when it can be looked
// at, and ends with its input.

import CRunLoopsKernel
import Glibc
import RunLoops
import RunLoopsDiagnostics
import RunLoopsKit

@main struct Program {
    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        switch arguments.first ?? "" {
        case "hang": try hang()
        case "idle": try idle()
        // The loop is never run, as when `run()` at the end of main was forgotten.
        case "forget": RunLoop.current.add(RunLoop.Timer(.every(.seconds(1)), label: "never") { _ in }, in: .default)
        case "knot": try knot()
        case "block": try block()
        case "work": try work(arguments.dropFirst().first.flatMap { Int($0) })
        case "end": Ending.play(arguments.dropFirst().first ?? "")
        case "knock": knock(arguments.dropFirst().first ?? "")
        case "foundation": try foundation()
        case let scene where Cost.scenes.contains(scene):
            let words = arguments.dropFirst()
            let times = words.first.flatMap { Int($0) } ?? 1
            try Cost.measure(scene, times: times, inspected: words.dropFirst().first ?? "off")
        case let other:
            print("there is no scene \(other)")
            exit(64)
        }
    }

    static func ready() {
        print("ready")
        fflush(nil)
    }

    /// Says "ready" when the main thread sleeps in its loop, and not on its way there: a signal that stops the process then finds
    /// the loop asleep.
    static func readyInSleep() {
        _ = rl_thread_start_detached(
            { _ in
                while !RunLoop.main.isWaiting || Program.mainThreadState() != "S" { usleep(1000) }
                Program.ready()
                return nil
            }, nil)
    }

    /// The letter of /proc/PID/stat, behind the program's name.
    private static func mainThreadState() -> Character? {
        guard let file = fopen("/proc/self/stat", "re") else { return nil }
        defer { fclose(file) }
        var line = [UInt8](repeating: 0, count: 256)
        let count = fread(&line, 1, line.count, file)
        return String(decoding: line[..<count], as: UTF8.self).split(separator: ")").last?.first { $0 != " " }
    }

    /// Until the input's end; the thread stays in this call.
    static func waitForEnd() {
        var byte: UInt8 = 0
        while read(STDIN_FILENO, &byte, 1) > 0 {}
    }

    /// The main loop hangs in a timer's callout.
    static func hang() throws {
        let timer = RunLoop.Timer(.after(.zero), label: "the one that hangs") { _ in
            ready()
            waitForEnd()
            RunLoop.current.stop()
        }
        RunLoop.main.add(timer, in: .default)
        RunLoop.main.run(in: .default, until: nil)
    }

    private static let tasks = Guarded<[Task<Void, Never>]>([])

    /// Two tasks wait for each other while the main loop has nothing to do.
    static func knot() throws {
        for number in 0...1 {
            let task = Task.detached(name: "knot \(number)") {
                while true {
                    let other = tasks.withLock { $0.count == 2 ? $0[1 - number] : nil }
                    if let other { return await other.value }
                    await Task.yield()
                }
            }
            tasks.withLock { $0.append(task) }
        }
        try idle()
    }

    /// A task waits for the main actor, while a block of the main loop waits until the input ends.
    static func block() throws {
        Task.detached(name: "painter") { await MainActor.run {} }
        RunLoop.main.perform { waitForEnd() }
        ready()
        RunLoop.main.run(in: .default, for: .seconds(1))
    }

    /// The main loop has nothing to do until the input ends.
    static func idle() throws {
        let input = RunLoop.DescriptorSource(STDIN_FILENO, label: "input") { _, _ in
            waitForEnd()
            RunLoop.current.stop()
        }
        try RunLoop.main.add(input, in: .default)
        readyInSleep()
        RunLoop.main.run(in: .default, until: nil)
    }

    /// Two loops with a timer each, of which one signals a source; for so many milliseconds, or until the input ends.
    ///
    /// The source is in the loop of the timer: on a busy machine a thread may rest between a signal to another loop and
    /// the wake-up, and the doctor says so.
    static func work(_ milliseconds: Int?) throws {
        let clock = RunLoop.Timer(.every(.milliseconds(20)), tolerance: .milliseconds(5), label: "clock") { _ in }
        RunLoop.main.add(clock, in: .default)
        let thread = try RunLoopThread(name: "errands")
        thread.post {
            let errand = RunLoop.Source(label: "errand") { _ in }
            let timer = RunLoop.Timer(.every(.milliseconds(50)), tolerance: .milliseconds(10), label: "send") { _ in
                errand.signal()
            }
            RunLoop.current.add(errand, in: .default)
            RunLoop.current.add(timer, in: .default)
        }
        if let milliseconds {
            RunLoop.main.run(in: .default, for: .milliseconds(milliseconds))
        } else {
            try idle()
        }
        thread.stop()
        thread.join()
    }

    /// A timer waits in Foundation's main loop; what the doctor finds before, meanwhile, and after that loop has run.
    ///
    /// Foundation is loaded, not linked: so it is for the doctor, too.
    static func foundation() throws {
        guard dlopen("libFoundation.so", RTLD_NOW | RTLD_GLOBAL) != nil else { return print("no Foundation") }
        typealias Run = @convention(c) (OpaquePointer?, Double, UInt8) -> Int32
        let mode = dlsym(nil, "kCFRunLoopDefaultMode")?.load(as: OpaquePointer?.self)
        try printFindings()
        let timer = addFoundationTimer(after: -5)
        try printFindings()
        _ = function("CFRunLoopRunInMode", Run.self)(mode, 1, 1)
        function("CFRelease", (@convention(c) (OpaquePointer?) -> Void).self)(timer)
        try printFindings()
    }

    private static func function<Function>(_ name: String, _: Function.Type) -> Function {
        unsafeBitCast(dlsym(nil, name), to: Function.self)
    }

    /// A timer in the default mode of Foundation's main loop.
    private static func addFoundationTimer(after seconds: Double) -> OpaquePointer? {
        typealias Fired = @convention(c) (OpaquePointer?, UnsafeMutableRawPointer?) -> Void
        typealias Create =
            @convention(c) (OpaquePointer?, Double, Double, UInt, Int, Fired, OpaquePointer?) -> OpaquePointer?
        typealias Add = @convention(c) (OpaquePointer?, OpaquePointer?, OpaquePointer?) -> Void
        let mode = dlsym(nil, "kCFRunLoopDefaultMode")?.load(as: OpaquePointer?.self)
        let now = function("CFAbsoluteTimeGetCurrent", (@convention(c) () -> Double).self)()
        let main = function("CFRunLoopGetMain", (@convention(c) () -> OpaquePointer?).self)()
        let timer = function("CFRunLoopTimerCreate", Create.self)(nil, now + seconds, 0, 0, 0, { _, _ in }, nil)
        function("CFRunLoopAddTimer", Add.self)(main, timer, mode)
        return timer
    }

    private static func printFindings() throws {
        let report = try RunLoop.Trace.Report(json: RunLoop.Recording().trace().chromeJSON())
        print(report.findings().map { "\($0.kind)" })
    }

    /// Connects to a socket by its path, asks, and says what it hears.
    static func knock(_ path: String) {
        let socket = rl_inspect_socket()
        let result = rl_port_connect(socket, path, 0)
        if result < 0 { return print("connect: \(String(cString: strerror(-result)))") }
        let request = Array("runloop-inspect/3 dump\n".utf8)
        _ = rl_inspect_send(socket, request, request.count)
        var space = [UInt8](repeating: 0, count: 4096)
        _ = rl_port_wait(socket, Int16(POLLIN), .max)
        let got = rl_inspect_receive(socket, &space, space.count)
        print(String(decoding: space.prefix(max(0, Int(got))), as: UTF8.self))
    }
}
