// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// Code for Apple's systems that the compiler refuses. Under each comment with a name stands a use of it: the table of names
// takes its sentences from what the compiler says of these lines.

import FoundationRunLoop

struct Selector {}

func timers(_ target: NSObject, _ selector: Selector, _ loop: RunLoop) {
    // Timer.init(timeInterval:target:selector:userInfo:repeats:)
    _ = Timer(timeInterval: 1, target: target, selector: selector, userInfo: nil, repeats: false)
    // Timer.init(fireAt:interval:target:selector:userInfo:repeats:)
    _ = Timer(fireAt: Date(), interval: 1, target: target, selector: selector, userInfo: nil, repeats: false)
    // Timer.scheduledTimer(timeInterval:target:selector:userInfo:repeats:)
    _ = Timer.scheduledTimer(timeInterval: 1, target: target, selector: selector, userInfo: nil, repeats: false)
    // Timer.publish(every:tolerance:on:in:options:)
    _ = Timer.publish(every: 1, on: loop, in: .default).autoconnect().sink { _ in }
}

func loops(_ loop: RunLoop, _ target: NSObject, _ selector: Selector) {
    // RunLoop.perform(_:target:argument:order:modes:)
    loop.perform(selector, target: target, argument: nil, order: 0, modes: [.default])
    // RunLoop.cancelPerform(_:target:argument:)
    loop.cancelPerform(selector, target: target, argument: nil)
    // RunLoop.cancelPerformSelectors(withTarget:)
    loop.cancelPerformSelectors(withTarget: target)
    // RunLoop.configureAsServer()
    loop.configureAsServer()
    // RunLoop.schedule(options:_:)
    loop.schedule {}
    // RunLoop.schedule(after:tolerance:options:_:)
    loop.schedule(after: Date()) {}
}

func performs(_ target: NSObject, _ selector: Selector) {
    // NSObject.perform(_:with:afterDelay:)
    target.perform(selector, with: nil, afterDelay: 1)
    // NSObject.perform(_:with:afterDelay:inModes:)
    target.perform(selector, with: nil, afterDelay: 1, inModes: [.common])
    // NSObject.perform(_:on:with:waitUntilDone:)
    target.perform(selector, on: Thread.current, with: nil, waitUntilDone: true)
    // NSObject.perform(_:on:with:waitUntilDone:modes:)
    target.perform(selector, on: Thread.current, with: nil, waitUntilDone: true, modes: nil)
    // NSObject.performSelector(onMainThread:with:waitUntilDone:)
    target.performSelector(onMainThread: selector, with: nil, waitUntilDone: true)
    // NSObject.performSelector(onMainThread:with:waitUntilDone:modes:)
    target.performSelector(onMainThread: selector, with: nil, waitUntilDone: true, modes: nil)
    // NSObject.performSelector(inBackground:with:)
    target.performSelector(inBackground: selector, with: nil)
    // NSObject.cancelPreviousPerformRequests(withTarget:)
    NSObject.cancelPreviousPerformRequests(withTarget: target)
    // NSObject.cancelPreviousPerformRequests(withTarget:selector:object:)
    NSObject.cancelPreviousPerformRequests(withTarget: target, selector: selector, object: nil)
}

func foundationsOwnLoop(_ stream: Stream, _ handle: FileHandle, _ loop: RunLoop) {
    // Stream.schedule(in:forMode:)
    stream.schedule(in: loop, forMode: RunLoop.Mode.default)
    // Stream.remove(from:forMode:)
    stream.remove(from: loop, forMode: RunLoop.Mode.default)
    // FileHandle.readInBackgroundAndNotify(forModes:)
    handle.readInBackgroundAndNotify(forModes: [RunLoop.Mode.default])
    // FileHandle.readToEndOfFileInBackgroundAndNotify(forModes:)
    handle.readToEndOfFileInBackgroundAndNotify(forModes: [RunLoop.Mode.default])
    // FileHandle.acceptConnectionInBackgroundAndNotify(forModes:)
    handle.acceptConnectionInBackgroundAndNotify(forModes: [RunLoop.Mode.default])
    // FileHandle.waitForDataInBackgroundAndNotify(forModes:)
    handle.waitForDataInBackgroundAndNotify(forModes: [RunLoop.Mode.default])
}

// NSMachPort
func port(_: NSMachPort) {}
// MessagePortNameServer
func messageServer(_: MessagePortNameServer) {}
// SocketPortNameServer
func socketServer(_: SocketPortNameServer) {}
// PortNameServer
func server(_: PortNameServer) {}

func others(_ target: NSObject, _ selector: Selector) {
    // CADisplayLink
    _ = CADisplayLink.self
    // Thread.init(target:selector:object:)
    _ = Thread(target: target, selector: selector, object: nil)
    // Thread.detachNewThreadSelector(_:toTarget:with:)
    Thread.detachNewThreadSelector(selector, toTarget: target, with: nil)
}
