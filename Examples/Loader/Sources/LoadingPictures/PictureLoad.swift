// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Loading
import LoopUI
import RunLoops

/// A picture on its way from a server to an image view.
///
/// The view gets it in the modes of the load: with `[.default]` not while the user drags, with `[.common]` also then. Releasing the load
/// cancels it.
@MainActor public final class PictureLoad {
    private let connection: LoadConnection

    /// Starts to load a picture.
    ///
    /// - Parameters:
    ///   - url: The address, of `http` or `https`.
    ///   - view: Shows the picture; it is not kept.
    ///   - modes: The modes in which bytes and the picture are received.
    ///   - loader: The threads that load.
    ///   - decode: Makes the picture of the bytes, on the main thread.
    ///   - completion: Called once, unless the load is cancelled; with a ``Refusal`` if the server has no such file.
    public init(
        _ url: String, into view: ImageView, modes: [RunLoop.Mode] = [.default], loader: LoaderThread,
        decode: @escaping @MainActor ([UInt8]) throws -> Picture,
        completion: @escaping @MainActor (Result<Picture, any Error>) -> Void = { _ in }
    ) {
        let receiver = Receiver { [weak view] result in
            let result = result.flatMap { bytes in Result { try decode(bytes) } }
            if case .success(let picture) = result { view?.picture = picture }
            completion(result)
        }
        connection = LoadConnection(url, modes: modes, loader: loader, delegate: receiver)
        connection.start()
    }

    deinit { connection.cancel() }

    /// The server has answered with a status of an error, such as 404; the bytes are no picture.
    public struct Refusal: Error, Hashable, Sendable {
        /// The status of the response.
        public let status: Int
    }
}

/// Collects the bytes of a picture; the main thread alone uses it.
private final class Receiver: LoadDelegate {
    private var bytes: [UInt8] = []
    private var status = 0
    private let finish: @MainActor (Result<[UInt8], any Error>) -> Void

    init(_ finish: @escaping @MainActor (Result<[UInt8], any Error>) -> Void) { self.finish = finish }

    func connection(_ connection: LoadConnection, didReceive response: LoadResponse) { status = response.status }

    func connection(_ connection: LoadConnection, didReceive bytes: [UInt8]) { self.bytes += bytes }

    func connectionDidFinish(_ connection: LoadConnection) {
        end(status < 400 ? .success(bytes) : .failure(PictureLoad.Refusal(status: status)))
    }

    func connection(_ connection: LoadConnection, didFailWith error: LoadError) { end(.failure(error)) }

    private func end(_ result: Result<[UInt8], any Error>) {
        MainActor.assumeIsolated { [finish] in finish(result) }
    }
}
