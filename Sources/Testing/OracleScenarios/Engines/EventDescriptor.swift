// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import Glibc

/// An eventfd, the only kind of descriptor that both loops accept for a descriptor source.
///
/// Swift's Glibc module leaves `<sys/eventfd.h>` out, so that the function is looked up by name.
package final class EventDescriptor: Sendable {
    package let descriptor: CInt

    private typealias Make = @convention(c) (CUnsignedInt, CInt) -> CInt

    private static let make: Make = {
        guard let symbol = dlsym(nil, "eventfd") else { preconditionFailure("the C library has no eventfd") }
        // SAFETY: int eventfd(unsigned int initval, int flags), as eventfd(2) declares it.
        return unsafeBitCast(symbol, to: Make.self)
    }()

    package init() {
        // EFD_NONBLOCK and EFD_CLOEXEC are these two by definition.
        descriptor = Self.make(0, O_NONBLOCK | O_CLOEXEC)
        precondition(descriptor >= 0, "no eventfd for a descriptor source: errno \(errno)")
    }

    deinit {
        close(descriptor)
    }

    package func write() {
        var one: UInt64 = 1
        _ = Glibc.write(descriptor, &one, 8)
    }

    package func read() {
        var value: UInt64 = 0
        _ = Glibc.read(descriptor, &value, 8)
    }
}
