// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// The workloads in the order of WORKLOADS.md, with what each peer does differently.

extension Run {
    static let all: [Run] = waking + timerQueue + firing + descriptors + quiet + start + systemCalls + [instructions]

    /// What the runs of a kind measure.
    static func about(_ kind: String) -> String { kinds[kind] ?? "" }

    private static let kinds = [
        "W1": "two threads, each with a loop of its own, wake each other in turn",
        "W2": "a thread posts a million callbacks to a loop that sleeps",
        "W2b": "a loop posts callbacks to itself, in batches of a thousand",
        "W2bo": "the same, where a callback in Swift is one object: a peer in C posts what it posts in W2b",
        "W3": "a callback asks to be called again in the next turn",
        "W3d": "the same beside an idle descriptor, so that every loop has to look at the kernel",
        "W4": "timers that are far away are added, cancelled and added again, cancelled",
        "W4r": "waiting timers get another date",
        "W4u": "a timer is cancelled and another added, as users write it: each timer is made and freed",
        "W5": "timers that are due within 200 ms, and one more timer 16 ms after the last of them",
        "W5t": "the same with a tolerance of 1 ms, for loops that have one",
        "W6": "a timer repeats each millisecond",
        "W6b": "a chain of timers, each made by the one before",
        "W7": "a callback reads a byte and writes one to a random pipe",
        "W7b": "the chain of libevent's own benchmark",
        "W8": "a loop with nothing to do for an hour",
        "W9": "memory; the figures of this package and of the peers in Swift include a closure of two words",
        "W10": "from the start of a program to its end: a loop is made, and a timer of 1 ms fires",
        "W10s": "the same with the Swift libraries linked in",
        "S": "system calls an operation",
        "I": "instructions an operation",
    ]

    // MARK: Waking

    private static let waking: [Run] =
        [("one", "one CPU"), ("free", "free"), ("each", "two CPUs"), ("spin", "two CPUs, never halted")].map {
            place, title in
            Run(
                "W1", "W1 round trip, \(title)", ["place=\(place)"], quick: ["place=\(place)", "count=2000", "reps=2"],
                [
                    Row(
                        "ns", "", .nanoseconds, plotted: place == "one" || place == "spin",
                        [
                            "dispatch": .otherWork("its two queues may share one thread"),
                            "libuv": .note("spins and yields before it sleeps"),
                            "raw futex": .note("a futex word each, and no loop at all"),
                        ])
                ])
        } + [
            Run("W2", "W2 post", [], quick: ["count=100000"], [Row("ns", "", .nanoseconds, plotted: true)]),
            Run("W2b", "W2b post to itself", [], quick: ["count=200000"], [Row("ns", "", .nanoseconds, plotted: true)]),
            Run(
                "W2b", kind: "W2bo", "W2b of one object", ["object=1"], quick: ["object=1", "count=200000"],
                [Row("ns", "", .nanoseconds, plotted: false)]),
            Run(
                "W3", "W3 turn", [], quick: ["count=100000"],
                [Row("ns", "", .nanoseconds, plotted: true, onlyWithDescriptor)]),
            Run(
                "W3", kind: "W3d", "W3 with a descriptor", ["watched=1"], quick: ["watched=1", "count=100000"],
                [Row("ns", "", .nanoseconds, plotted: true, noLook)]),
        ]

    private static let noLook: [String: Remark] = [
        "NIO": .otherWork("does not look at the kernel between turns"),
        "dispatch": .otherWork("does not look at the kernel between turns"),
    ]

    private static let onlyWithDescriptor = noLook.merging(
        ["ours": .note("without a descriptor in the mode it makes no system call")]) { one, _ in one }

    // MARK: Timers that do not fire

    private static let timerQueue: [Run] =
        [1000, 10_000, 100_000].map { count in
            Run(
                "W4", "W4 \(count.grouped) out,", ["k=\(count)"],
                [
                    Row("add_ns", "add", .nanoseconds, plotted: count != 10_000, w4),
                    Row("churn_ns", "cancel + add", .nanoseconds, plotted: count != 10_000, w4),
                    Row("cancel_ns", "cancel", .nanoseconds, plotted: count == 100_000, w4),
                ]
            ).with { $0.isOnlyFull = count > 10_000 }
        }
        + [10_000, 100_000].map { count in
            Run(
                "W4r", "W4 re-arm \(count.grouped) out", ["k=\(count)"],
                [Row("restart_ns", "", .nanoseconds, plotted: true, restart)]
            ).with { $0.isOnlyFull = count > 10_000 }
        }
        + [10_000, 100_000].map { count in
            Run(
                "W4u", "W4 as written \(count.grouped) out", ["k=\(count)"],
                [Row("churn_ns", "", .nanoseconds, plotted: true, asWritten)]
            ).with { $0.isOnlyFull = count > 10_000 }
        }

    private static let restart: [String: Remark] = [
        "libev": .note("uses ev_timer_again, which suits a repeating timer; counts from a clock it reads once a turn"),
        "libuv": .note("counts from a clock it reads once a turn, in milliseconds"),
        "libevent": .note("reads a coarse clock"),
    ]

    private static let asWritten: [String: Remark] = [
        "ours": .note("takes its lightest way"),
        "raw": .note("calls malloc and free for each timer, as with libev; with libevent, event_new and event_free"),
        "libuv": .note("calls uv_close, whose callback frees the timer; makes a turn for each hundred timers"),
        "GLib": .note("its timer is an object anyway, as with NIO, dispatch and CFRunLoop"),
    ]

    private static let w4: [String: Remark] = [
        "ours": .note("each timer is an object that is made and freed, as with GLib, NIO, dispatch and CFRunLoop"),
        "raw": .note("uses memory that the caller has ready, as libuv, libev and libevent do"),
        "libev": .note("counts from a clock it reads once a turn"),
        "libuv": .note("counts from a clock it reads once a turn, in milliseconds"),
        "libevent": .note("reads a coarse clock"),
    ]

    // MARK: Timers that fire

    private static let firing: [Run] =
        [10_000, 100_000].flatMap { count in
            let tolerant = ["k=\(count)", "tolerance=1000000"]
            let runs = [
                Run(
                    "W5", "W5 \(count.grouped),", ["k=\(count)"], quick: ["k=\(count)", "reps=1"],
                    [Row("cpu_ns", "CPU a timer", .nanoseconds, plotted: true, exact)]
                        + late(plotsMedian: false, exact) + [
                            Row("after_us", "one timer 16 ms after, late", .microseconds, plotted: true, exact)
                        ]),
                Run(
                    "W5", kind: "W5t", "W5 \(count.grouped), 1 ms tolerance,", tolerant, quick: tolerant + ["reps=1"],
                    [
                        Row("cpu_ns", "CPU a timer", .nanoseconds, plotted: true, noTolerance),
                        Row("late_min_us", "earliest", .microseconds).onlyShown,
                        Row("late_p99_us", "late p99", .microseconds).onlyShown,
                    ]),
            ]
            return runs.map { $0.with { $0.isOnlyFull = count > 10_000 } }
        } + [
            Run(
                "W6", "W6 1 ms repeat,", ["ms=3000"], quick: ["ms=300"],
                [
                    Row("fires", "fires", .count), Row("points", "grid points", .count).onlyShown,
                    Row("error_p50_us", "interval error p50", .microseconds, plotted: true),
                    Row("error_p99_us", "interval error p99", .microseconds),
                    Row("drift_us", "after the grid at the end", .microseconds).onlyShown,
                    Row("cpu_ns", "CPU a fire", .nanoseconds, plotted: true, coarse),
                ]),
            Run(
                "W6b", "W6b chain,", ["count=1500"], quick: ["count=200"],
                [Row("cpu_ns", "CPU a fire", .nanoseconds, coarse)] + late(plotsMedian: true, coarse)),
        ]

    private static let coarse: [String: Remark] = {
        var remarks = Dictionary(
            uniqueKeysWithValues: ["libuv", "libev", "libevent", "GLib"].map {
                ($0, Remark.otherWork("waits in whole milliseconds"))
            })
        remarks["raw"] = .note("with the timer slack of 50 µs that a thread is born with")
        remarks["raw slack"] = .note("with a timer slack of 1 ns")
        return remarks
    }()

    /// Where timers are due so close to each other that slack makes batches of them.
    private static let exact = coarse.merging(
        ["raw": .otherWork("fires in batches, late by the timer slack of 50 µs that a thread is born with")]
    ) { _, one in one }

    private static let noTolerance: [String: Remark] = {
        var remarks = Dictionary(
            uniqueKeysWithValues: ["raw ms", "libuv", "libev", "libevent", "GLib"].map {
                ($0, Remark.note("waits in whole milliseconds anyway"))
            })
        remarks["NIO"] = .note("has no tolerance")
        remarks["CFRunLoop"] = .note("its tolerance does nothing on Linux")
        return remarks
    }()

    private static func late(plotsMedian: Bool, _ remarks: [String: Remark]) -> [Row] {
        [
            Row("late_min_us", "earliest", .microseconds, remarks).onlyShown,
            Row("late_p50_us", "late p50", .microseconds, plotted: plotsMedian, remarks),
            Row("late_p99_us", "late p99", .microseconds, plotted: true, remarks),
            Row("late_max_us", "late max", .microseconds, remarks),
        ]
    }

    // MARK: Descriptors

    private static let descriptors: [Run] =
        [100, 1000].map { count in
            Run(
                "W7", "W7 \(count.grouped) descriptors", ["n=\(count)"],
                quick: ["n=\(count)", "count=20000", "reps=1"],
                [Row("ns", "", .nanoseconds, plotted: true)])
        } + [
            Run(
                "W7b", "W7b chain of 1,000", ["n=1000"], quick: ["n=1000", "count=30000", "reps=1"],
                [Row("ns", "", .nanoseconds, plotted: true, ["NIO": .note("reads all bytes of a pipe at once")])])
        ]

    // MARK: Quiet loops

    private static let quiet: [Run] = [
        Run(
            "W8", "W8 idle,", ["ms=5000"], quick: ["ms=500"],
            [Row("wakeups", "wake-ups", .count), Row("cpu_us", "CPU", .microseconds)]),
        Run("W9", "W9 a timer", ["of=timers"], [Row("bytes", "", .bytes)]),
        Run("W9", "W9 a timer, the lightest way,", ["of=delays"], [Row("bytes", "", .bytes)]),
        Run("W9", "W9 a descriptor", ["of=descriptors"], [Row("bytes", "", .bytes)]),
    ].map { $0.with { $0.isOnce = true } }

    private static let start: [Run] = [false, true].map { isStatic in
        let isC = Dictionary(
            uniqueKeysWithValues: ["raw", "libuv", "libev", "libevent", "GLib"].map {
                ($0, Remark.otherWork("a C program, without the Swift runtime"))
            })
        let empty: [String: Remark] = ["empty Swift": .otherWork("does not wait for the millisecond")]
        let remarks = isC.merging(empty) { one, _ in one }
        return Run(
            "W10", kind: isStatic ? "W10s" : "W10", "W10 start\(isStatic ? ", static" : ""),", [],
            [
                Row("wall_ms", "wall", .milliseconds, plotted: true, remarks),
                Row("rss_mb", "memory", .megabytes, remarks), Row("files_mb", "files", .megabytes, remarks),
            ]
        ).with {
            $0.means = .start(isStatic: isStatic)
            $0.isOnce = true
            if isStatic { $0.among = ["ours", "empty Swift", "empty Swift + 1 ms", "Foundation"] }
        }
    }

    // MARK: System calls

    private static let systemCalls: [Run] = [
        ("W1", "S wake-up round trip", ["place=one"], "count", 500, 2500, Set<String>()),
        (
            "W3", "S turn with a descriptor", ["watched=1"], "count", 500, 5500,
            ["raw edge", "raw futex", "raw slack", "raw timerfd"]
        ),
        (
            "W7", "S descriptor event", ["n=100"], "count", 500, 2500,
            ["raw edge", "raw futex", "raw slack", "raw timerfd"]
        ),
        ("W6", "S 1 ms timer", [], "ms", 100, 400, ["raw edge", "raw futex"]),
    ].map { workload, title, arguments, argument, short, long, without in
        let remarks = workload == "W3" ? noLook : [:]
        return Run(workload, kind: "S", title, arguments + ["reps=1"], [Row("calls", "", .count, remarks)]).with {
            $0.means = .systemCalls(argument: argument, short: short, long: long)
            $0.isOnce = true
            $0.among = Set(Peer.all.map(\.name)).subtracting(without)
            if workload == "W1" { $0.among?.subtract(["raw slack", "raw timerfd"]) }
        }
    }

    // MARK: Instructions

    static let instructions = Run(
        "instructions", kind: "I", "instructions of", [],
        [
            ("fire", "a timer's fire"), ("light", "the same by the lightest way"),
            ("cancel", "a timer made and cancelled"),
            ("delay", "the same by the lightest way"),
            ("restart", "a timer given another date"), ("turn", "a turn with one signalled source"),
            ("event", "a descriptor's event"), ("block", "a block posted to itself"),
        ].map { Row($0, $1, .count) }
    ).with {
        $0.means = .instructions
        $0.isOnce = true
        $0.among = [Peer.ours.name]
    }
}

extension Int {
    /// With commas between thousands.
    var grouped: String {
        var digits = String(magnitude)
        var place = digits.count - 3
        while place > 0 {
            digits.insert(",", at: digits.index(digits.startIndex, offsetBy: place))
            place -= 3
        }
        return self < 0 ? "-" + digits : digits
    }
}
