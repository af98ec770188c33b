// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

internal import CRunLoopsTestingHangs

/// The body of a test, retained.
///
/// A scope gets the body of its test as a closure that must not escape. The body of a test that hangs remains under way after
/// its scope has returned, so that its captured values must be retained.
struct KeptBody: Sendable {
    typealias Body = @Sendable () async throws -> Void

    private let body: Body

    /// - Precondition: the closure has its captured values on the heap, as Swift Testing makes it.
    init(_ body: Body) {
        var words = words(of: body)
        if let object = UnsafePointer<UnsafePointer<UInt>>(bitPattern: words.context) {
            // SAFETY: the first word of captured values on the heap is their metadata, whose first word is its kind.
            precondition(
                object.pointee.pointee == Self.kind,
                "The body of a test cannot be kept: this version of Swift Testing has its values on a stack. Do not use "
                    + "reportsHang.")
        }
        // SAFETY: a closure is two words. The copy retains the captured values, which are on the heap.
        self = withUnsafeBytes(of: &words) { $0.load(as: Self.self) }
    }

    /// The kind of the metadata of values that a closure has captured.
    private static let kind: UInt = 0x400

    func call() async throws { try await body() }
}

// In CRunLoopsTestingHangs.
@_silgen_name("rl_closure_words")
private func words(of body: KeptBody.Body) -> (code: UInt, context: UInt)
