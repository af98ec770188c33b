// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// A program to look into: the first argument says which scene is played. Each scene says "ready" when it can be looked
// at, and ends with its input.

import CLinuxKernel
import Glibc
import RunLoops
import RunLoopsDiagnostics

@main struct Program {
    static func main() throws {
        let arguments = CommandLine.arguments.dropFirst()
        switch arguments.first ?? "" {
        case "hang": try hang()
        case "idle": try idle()
        case "knock": knock(arguments.dropFirst().first ?? "")
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
        RunLoop.main.run(mode: .default, until: nil)
    }

    /// The main loop has nothing to do until the input ends.
    static func idle() throws {
        let input = RunLoop.DescriptorSource(STDIN_FILENO, label: "input") { _, _ in
            waitForEnd()
            RunLoop.current.stop()
        }
        try RunLoop.main.add(input, in: .default)
        RunLoop.main.perform { ready() }
        RunLoop.main.run(mode: .default, until: nil)
    }

    /// Connects to a socket by its path, asks, and says what it hears.
    static func knock(_ path: String) {
        let socket = rl_inspect_socket()
        let result = rl_port_connect(socket, path, 0)
        if result < 0 { return print("connect: \(String(cString: strerror(-result)))") }
        let request = Array("runloop-inspect/2 dump\n".utf8)
        _ = rl_inspect_send(socket, request, request.count)
        var space = [UInt8](repeating: 0, count: 4096)
        _ = rl_port_wait(socket, Int16(POLLIN), .max)
        let got = rl_inspect_receive(socket, &space, space.count)
        print(String(decoding: space.prefix(max(0, Int(got))), as: UTF8.self))
    }
}
