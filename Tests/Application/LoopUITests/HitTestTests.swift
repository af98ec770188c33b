// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import LoopUITesting
import RunLoops
import Testing

/// Which view a touch hits.
@MainActor @Suite struct HitTestTests {
    /// A window of 80 × 24 with a view at (10, 5), 20 × 10, and a view inside it at (2, 2), 4 × 4.
    private func withViews(_ body: (TestApplication, View, View, View) throws -> Void) throws {
        try TestApplication.with { app in
            let root = View()
            let outer = View(frame: Rect(10, 5, 20, 10))
            let inner = View(frame: Rect(2, 2, 4, 4))
            root.addSubview(outer)
            outer.addSubview(inner)
            app.show(root)
            try body(app, root, outer, inner)
        }
    }

    @Test func `The deepest view that contains the point is hit`() throws {
        try withViews { _, root, outer, inner in
            #expect(root.hitTest(Point(13, 8), with: nil) === inner)
            #expect(root.hitTest(Point(11, 6), with: nil) === outer)
            #expect(root.hitTest(Point(5, 5), with: nil) === root)
            #expect(root.hitTest(Point(80, 5), with: nil) == nil)
            // The right and the lower edge are outside.
            #expect(root.hitTest(Point(16, 8), with: nil) === outer)
            #expect(root.hitTest(Point(15.99, 10.99), with: nil) === inner)
        }
    }

    @Test func `The frontmost of two views at the same place is hit`() throws {
        try withViews { _, root, outer, inner in
            let front = View(frame: outer.frame)
            root.addSubview(front)
            #expect(root.hitTest(Point(13, 8), with: nil) === front)
            root.insertSubview(outer, at: 1)
            #expect(root.hitTest(Point(13, 8), with: nil) === inner)
        }
    }

    @Test func `The hit test skips a hidden view and its subviews`() throws {
        try withViews { _, root, outer, inner in
            outer.isHidden = true
            #expect(root.hitTest(Point(13, 8), with: nil) === root)
            outer.isHidden = false
            inner.isHidden = true
            #expect(root.hitTest(Point(13, 8), with: nil) === outer)
        }
    }

    @Test func `The hit test skips a view with an alpha below 0.01`() throws {
        try withViews { _, root, outer, inner in
            inner.alpha = 0.01
            #expect(root.hitTest(Point(13, 8), with: nil) === inner)
            inner.alpha = 0.009
            #expect(root.hitTest(Point(13, 8), with: nil) === outer)
            outer.alpha = 0
            #expect(root.hitTest(Point(13, 8), with: nil) === root)
        }
    }

    @Test func `The hit test skips a view without user interaction and its subviews`() throws {
        try withViews { _, root, outer, inner in
            outer.isUserInteractionEnabled = false
            #expect(root.hitTest(Point(13, 8), with: nil) === root)
        }
    }

    @Test func `A part of a view outside its superview's bounds is not hit`() throws {
        try withViews { _, root, outer, inner in
            inner.frame = Rect(18, 2, 10, 4)
            #expect(root.hitTest(Point(29, 8), with: nil) === inner)
            // Drawn, since the superview does not clip, and yet not to be touched.
            #expect(root.hitTest(Point(31, 8), with: nil) === root)
        }
    }

    @Test func `An override of point(inside:) decides the hit test`() throws {
        final class Ring: View {
            override func point(inside point: Point, with event: Event?) -> Bool {
                bounds.contains(point) && point.distance(to: bounds.center) > 2
            }
        }
        try withViews { _, root, _, _ in
            let ring = Ring(frame: Rect(40, 0, 10, 10))
            root.addSubview(ring)
            #expect(root.hitTest(Point(45, 5), with: nil) === root)
            #expect(root.hitTest(Point(41, 5), with: nil) === ring)
        }
    }

    @Test func `Scrolled content is hit at its shown position`() throws {
        try withViews { _, root, outer, inner in
            outer.bounds.origin = Point(2, 2)
            #expect(root.hitTest(Point(10, 5), with: nil) === inner)
            #expect(inner.convert(Point(10, 5), from: nil) == Point(0, 0))
        }
    }

    @Test func `A touch keeps its view and its recognisers until its end`() throws {
        try TestApplication.with { app in
            let log = Log()
            let root = ProbeView(log, "root")
            let left = ProbeView(log, "left", frame: Rect(0, 0, 40, 24))
            let right = ProbeView(log, "right", frame: Rect(40, 0, 40, 24))
            root.addSubview(left)
            root.addSubview(right)
            app.show(root)
            var identities: Set<Touch> = []
            left.whenTouched = { identities.insert($0) }
            app.down(30)
            let late = ProbeRecognizer()
            late.touchLog = log
            left.addGestureRecognizer(late)
            app.move(60)
            app.up(70)
            #expect(log.take() == ["left began", "left moved", "left ended"])
            #expect(identities.count == 1)
            app.tap(at: Point(60, 5))
            #expect(log.take() == ["right began", "right ended"])
        }
    }

    @Test func `A touch outside every window is delivered to no view`() throws {
        try withProbe { app, view, log in
            app.down(200)
            app.move(5)
            app.up(5)
            #expect(log.take() == [])
        }
    }

    @Test func `The frontmost window that contains the point gets the touch`() throws {
        try withProbe { app, view, log in
            let front = ProbeView(log, "front")
            let window = app.show(front)
            app.tap(at: Point(3, 3))
            #expect(log.take() == ["front began", "front ended"])
            window.isHidden = true
            app.tap(at: Point(3, 3))
            #expect(log.take() == ["view began", "view ended"])
            window.isHidden = false
            window.frame = Rect(10, 0, 10, 10)
            app.tap(at: Point(3, 3))
            app.tap(at: Point(13, 3))
            #expect(log.take() == ["view began", "view ended", "front began", "front ended"])
        }
    }
}
