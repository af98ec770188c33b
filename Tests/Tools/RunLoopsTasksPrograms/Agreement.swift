// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Glibc
import Synchronization

/// Tasks that say in a file what they are about to wait for, before they wait.
///
/// The file has four words for each worker: a number that changes with each wait, the kind of the wait, and the id of the
/// task that is waited for. A test compares it with what it reads from outside.
enum Agreement {
    /// The numbers are in the test as well.
    enum Kind: UInt64 { case none, task, group, continuation, sleep, child, actor }

    static let wordsOfWorker = 4

    private static let turnstile = Turnstile()
    private static let parked = Guarded<[CheckedContinuation<Void, Never>]>([])

    static func play(_ count: Int, _ path: String) async {
        let file = open(path, O_RDWR | O_CLOEXEC)
        let size = count * wordsOfWorker * 8
        guard file >= 0, let memory = mmap(nil, size, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0), memory != MAP_FAILED
        else {
            print("the file cannot be mapped: \(path)")
            exit(66)
        }
        let address = UInt(bitPattern: memory)
        startResuming()
        await withDiscardingTaskGroup { group in
            for number in 0..<count {
                group.addTask(name: "worker \(number)") {
                    await work(number, address + UInt(number * wordsOfWorker * 8))
                }
            }
        }
    }

    /// Has another thread resume the continuations from time to time.
    private static func startResuming() {
        var thread = pthread_t()
        pthread_create(
            &thread, nil,
            { _ in
                while true {
                    usleep(useconds_t.random(in: 0..<300_000))
                    Agreement.resumeAll()
                }
            }, nil)
    }

    private static func resumeAll() {
        let ready = parked.withLock { parked in
            let ready = parked
            parked = []
            return ready
        }
        for one in ready { one.resume() }
    }

    private static func work(_ number: Int, _ address: UInt) async {
        // SAFETY: the worker's words in the file that is mapped until the process ends.
        nonisolated(unsafe) let words =
            UnsafeMutablePointer<Atomic<UInt64>>(bitPattern: address).unsafelyUnwrapped
        func say(_ kind: Kind, _ task: UInt64 = 0) {
            words[0].wrappingAdd(1, ordering: .sequentiallyConsistent)
            words[1].store(kind.rawValue, ordering: .sequentiallyConsistent)
            words[2].store(task, ordering: .sequentiallyConsistent)
            words[0].wrappingAdd(1, ordering: .sequentiallyConsistent)
        }
        while true {
            switch Int.random(in: 0..<7) {
            case 0:
                let target = Task(name: "target \(number)") { await rest() }
                say(.task, identifier(of: target))
                await target.value
            case 1:
                say(.group)
                await withTaskGroup(of: Void.self) { group in
                    for _ in 0..<Int.random(in: 1...3) {
                        group.addTask(name: "member \(number)") { await rest() }
                    }
                    await group.waitForAll()
                }
            case 2:
                say(.continuation)
                await withCheckedContinuation { one in parked.withLock { $0.append(one) } }
            case 3:
                say(.sleep)
                try? await Task.sleep(for: pause())
            case 4:
                say(.child)
                async let half: Void = rest()
                await half
            case 5:
                say(.actor)
                await turnstile.pass()
            default:
                say(.none)
                await Task.yield()
            }
            say(.none)
        }
    }

    private static func rest() async {
        if Bool.random() {
            for _ in 0..<Int.random(in: 0..<4) { await Task.yield() }
        } else {
            try? await Task.sleep(for: pause())
        }
    }

    /// Short ones are over before a snapshot is, long ones last for one.
    private static func pause() -> Duration {
        .microseconds(Int.random(in: 0..<(Bool.random() ? 1000 : 1_000_000)))
    }

    private static func identifier(of task: Task<Void, Never>) -> UInt64 {
        // A task is a reference to the runtime's object, which is its job too.
        taskIdentifier(unsafeBitCast(task, to: UnsafeRawPointer.self))
    }
}

@_silgen_name("swift_task_getJobTaskId")
private func taskIdentifier(_ job: UnsafeRawPointer) -> UInt64
