// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc

actor Turnstile {
    private var passages = 0

    func pass() { passages += 1 }
}

/// Tasks that wait for something else again and again.
///
/// The name of each says what it may wait for, which a test compares.
enum Change {
    private static let turnstile = Turnstile()

    static func play(_ count: Int) async {
        await withDiscardingTaskGroup { group in
            for number in 0..<count { group.addTask(name: "worker \(number)") { await work(number) } }
        }
    }

    private static func work(_ number: Int) async {
        var random = SystemRandomNumberGenerator()
        while true {
            switch Int.random(in: 0..<6, using: &random) {
            case 0:
                let target = Task(name: "target \(number)") { await yield(Int.random(in: 0..<4)) }
                await target.value
            case 1:
                await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<Int.random(in: 1...3, using: &random) {
                        group.addTask(name: "member \(number)") { await yield(Int.random(in: 0..<4)) }
                    }
                    await group.waitForAll()
                }
            case 2: await turnstile.pass()
            case 3: try? await Task.sleep(for: .microseconds(100))
            case 4:
                async let half: Void = yield(2)
                await half
            default: await Task.yield()
            }
        }
    }

    private static func yield(_ times: Int) async {
        for _ in 0..<times { await Task.yield() }
    }
}
