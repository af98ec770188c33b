// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import Loading
import LoadingPictures
import LoopUI
import LoopUITesting
import RunLoops
import Serving
import Testing

/// Pictures that come from a server, in an application whose time is the test's; the threads that load have real time.
@MainActor @Suite(.serialized, .timeLimit(.minutes(10))) struct PictureLoadTests {
    /// Four times the first byte: a grey pixel.
    private static func pixel(_ bytes: [UInt8]) -> Picture {
        Picture(width: 1, height: 1, bytes: [bytes.first ?? 0, bytes.first ?? 0, bytes.first ?? 0, 255])
    }

    private func withView(_ body: (TestApplication, ImageView, Server, LoaderThread) throws -> Void) throws {
        let (server, loader) = (try Server(), try LoaderThread())
        defer {
            loader.stop()
            server.stop()
        }
        try TestApplication.with(size: Size(20, 5)) { app in
            let view = ImageView()
            app.show(view)
            try body(app, view, server, loader)
        }
    }

    /// Runs the loop until something is true, however long the other threads take.
    private func wait(_ app: TestApplication, until isTrue: () -> Bool) { while !isTrue() { app.settle() } }

    @Test func `A picture in the default mode waits for the end of a drag and one in the common modes does not`() throws
    {
        try withView { app, view, server, loader in
            let other = ImageView()
            app.application.modes.push(.tracking)
            let load = PictureLoad(server.url(of: "waits"), into: view, loader: loader, decode: Self.pixel)
            var isShown = false
            // Asked for later, by the same threads: the other picture is there by now, if it can be.
            let second = PictureLoad(
                server.url(of: "does not wait"), into: other, modes: [.common], loader: loader, decode: Self.pixel
            ) { _ in isShown = true }
            wait(app) { isShown }
            #expect(other.picture == Self.pixel(Server.contents(of: "does not wait")))
            app.advance(by: .seconds(60))
            #expect(view.picture == nil)
            app.application.modes.pop(.tracking)
            wait(app) { view.picture != nil }
            #expect(view.picture == Self.pixel(Server.contents(of: "waits")))
            withExtendedLifetime((load, second)) {}
        }
    }

    @Test func `A released load shows nothing, and an error of the decoder is received`() throws {
        try withView { app, view, server, loader in
            struct Refused: Error {}
            var load: PictureLoad? = PictureLoad(server.url(of: "x"), into: view, loader: loader, decode: Self.pixel) {
                _ in Issue.record("a released load ended")
            }
            #expect(load != nil)
            load = nil
            var failure: (any Error)?
            let refused = PictureLoad(
                server.url(of: "y"), into: view, loader: loader, decode: { _ in throw Refused() },
                completion: { result in if case .failure(let error) = result { failure = error } })
            wait(app) { failure != nil }
            #expect(failure is Refused && view.picture == nil)
            failure = nil
            let missing = PictureLoad(
                server.url(of: "status/404/z"), into: view, loader: loader, decode: Self.pixel,
                completion: { result in if case .failure(let error) = result { failure = error } })
            wait(app) { failure != nil }
            #expect((failure as? PictureLoad.Refusal)?.status == 404 && view.picture == nil)
            withExtendedLifetime(missing) {}
            withExtendedLifetime(refused) {}
        }
    }
}
