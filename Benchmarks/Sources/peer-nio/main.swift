// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// SwiftNIO's event loop. A descriptor is a channel, which reads by itself.

import BenchKit
import NIOCore
import NIOPosix
import Workloads

final class Channels: Peer, @unchecked Sendable {
    enum Timer {
        case once(Scheduled<Void>)
        case repeated(RepeatedTask)
    }

    static let readsItself = true

    let group: MultiThreadedEventLoopGroup
    let loop: any EventLoop

    init(cpu: Int32?) {
        group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        loop = group.next()
        guard let cpu else { return }
        let ready = Gate()
        loop.execute {
            bk_pin_thread(cpu)
            ready.open()
        }
        ready.wait()
    }

    static func start() {
        let group = MultiThreadedEventLoopGroup(numberOfThreads: 1)
        do {
            try group.next().scheduleTask(in: .milliseconds(1)) {}.futureResult.wait()
        } catch {
            fatalError("\(error)")
        }
    }

    func enter(_ body: @escaping @Sendable () -> Void) { loop.execute(body) }

    func makeWake(_ body: some Callback) -> @Sendable () -> Void { { body() } }
    func send(_ wake: @escaping @Sendable () -> Void) { loop.execute(wake) }

    func post(_ body: some Callback) { loop.execute { body() } }
    func postHere(isLast: Bool, _ body: some Callback) { loop.execute { body() } }

    func makeAgain(_ body: some Callback) -> @Sendable () -> Void { { body() } }
    func ask(_ again: @escaping @Sendable () -> Void) { loop.execute(again) }

    func timer(in delay: Int64, _ body: some Callback) -> Timer {
        .once(loop.scheduleTask(in: .nanoseconds(delay)) { body() })
    }
    func timer(at due: Int64, tolerance: Int64, _ body: some Callback) -> Timer {
        .once(loop.scheduleTask(deadline: .uptimeNanoseconds(UInt64(due))) { body() })
    }
    func timer(every interval: Int64, _ body: some Callback) -> Timer {
        .repeated(
            loop.scheduleRepeatedTask(initialDelay: .nanoseconds(interval), delay: .nanoseconds(interval)) { _ in body()
            })
    }
    func cancel(_ timer: Timer) {
        switch timer {
        case .once(let scheduled): scheduled.cancel()
        case .repeated(let task): task.cancel()
        }
    }
    func restart(_ timer: Timer, in delay: Int64) { bk_skip("cannot give a scheduled task another date") }

    func watch(_ descriptor: Int32, _ body: some Callback) -> EventLoopFuture<any Channel> {
        NIOPipeBootstrap(group: loop)
            .channelInitializer { channel in
                channel.eventLoop.makeCompletedFuture {
                    try channel.pipeline.syncOperations.addHandler(Reader { body() })
                }
            }
            .takingOwnershipOfDescriptor(input: descriptor)
    }
}

/// Calls a closure once for each byte.
final class Reader: ChannelInboundHandler {
    typealias InboundIn = ByteBuffer

    private let body: @Sendable () -> Void

    init(_ body: @escaping @Sendable () -> Void) { self.body = body }

    func channelRead(context: ChannelHandlerContext, data: NIOAny) {
        for _ in 0..<unwrapInboundIn(data).readableBytes { body() }
    }
}

runWorkload(Channels.self)
