// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

#if os(Linux) && !EXPORTS_ORIGINALS
internal import CCoreFoundationRunLoop
internal import CoreFoundation
internal import RunLoops

/// The Swift object behind a source of version 1: a file descriptor that wakes the loop.
final class PortFace: SourceFace, @unchecked Sendable {
    private let context: RLRunLoopSourceContext1
    private let info: Info
    /// The loop's source, made at the first use; the program need not have a descriptor before.
    private let source = Guarded<RunLoop.DescriptorSource?>(nil)

    init(order: CFIndex, _ given: RLRunLoopSourceContext1) {
        let info = Info(given.info, retain: given.retain, release: given.release)
        var context = given
        context.info = info.pointer
        self.context = context
        self.info = info
        let instance = RLKind.source.makeInstance()
        super.init(instance, Holds(instance), order: order)
    }

    private var descriptorSource: RunLoop.DescriptorSource {
        if let known = source.withLock({ $0 }) { return known }
        // Not with the lock held: the program's function may ask for anything.
        let made = makeSource(context.getPort(info.pointer))
        return source.withLock {
            let first = $0 ?? made
            $0 = first
            return first
        }
    }

    private func makeSource(_ descriptor: CInt) -> RunLoop.DescriptorSource {
        guard descriptor >= 0 else {
            fatalError(
                """
                The getPort function of a CFRunLoopSource returned \(descriptor), which is no file descriptor. Check the \
                result of the call that opened it.
                """)
        }
        let end = HoldsEnd(holds)
        let info = info
        let perform = context.perform
        return .sendable(descriptor) { _, _ in
            if let reply = perform?(nil, 0, nil, info.pointer) { Self.send(reply, to: descriptor) }
            withExtendedLifetime(end) {}
        }
    }

    /// Writes a reply to the descriptor and releases it, as Core Foundation sends a message and frees it.
    ///
    /// Waits until the reply is written, but at most five seconds without progress. A descriptor that takes no more
    /// replies is ignored, as in Core Foundation.
    private static func send(_ reply: UnsafeMutableRawPointer, to descriptor: CInt) {
        let object = Unmanaged<AnyObject>.fromOpaque(reply).takeUnretainedValue()
        guard CFGetTypeID(object) == CFDataGetTypeID() else {
            fatalError(
                """
                The perform function of a CFRunLoopSource returned \(CFString.describe(object)) as its reply. Return a \
                CFData that the caller owns, which the loop writes to the source's descriptor, or NULL.
                """)
        }
        // SAFETY: the object is a CFData, as its type identifier says, and the loop owns it from here on.
        let data = Unmanaged<CFData>.fromOpaque(reply).takeRetainedValue()
        _ = rl_send_reply(descriptor, CFDataGetBytePtr(data), CFDataGetLength(data))
    }

    override var native: RunLoop.Item { descriptorSource }
    override var callout: UnsafeRawPointer? { Self.address(context.perform) }

    override var beginning: RLRunLoopSourceContext {
        RLRunLoopSourceContext(
            version: context.version, info: context.info, retain: context.retain, release: context.release,
            copyDescription: context.copyDescription, equal: context.equal, hash: context.hash, schedule: nil,
            cancel: nil, perform: nil)
    }

    override func add(to loop: LoopFace, _ mode: RunLoop.Mode) {
        add(descriptorSource, to: loop) {
            do {
                return try $0.add(descriptorSource, in: mode)
            } catch {
                fatalError(
                    """
                    CFRunLoopAddSource: the system refused to watch descriptor \(descriptorSource.descriptor): \(error). \
                    Add the source while its descriptor is open; raise RLIMIT_NOFILE if there are too many.
                    """)
            }
        }
    }

    override func copyContext(to pointer: UnsafeMutableRawPointer) {
        pointer.assumingMemoryBound(to: RLRunLoopSourceContext1.self).pointee = context
    }
}
#endif
