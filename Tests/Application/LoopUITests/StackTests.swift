// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import LoopUITesting
import Testing

/// A view that wants a size.
@MainActor private final class Box: View {
    var wanted: Size { didSet { invalidateIntrinsicContentSize() } }

    init(_ width: Double, _ height: Double) {
        wanted = Size(width, height)
        super.init()
    }

    override func sizeThatFits(_ size: Size) -> Size {
        Size(min(size.width, wanted.width), min(size.height, wanted.height))
    }
}

@MainActor @Suite struct StackTests {
    @Test func `A stack places its views one after another at their preferred sizes`() throws {
        try TestApplication.with(size: Size(20, 10)) { app in
            let boxes = [Box(3, 1), Box(5, 2), Box(4, 3)]
            let stack = StackView(.vertical, spacing: 1, boxes)
            app.show(stack)
            #expect(boxes.map(\.frame) == [Rect(0, 0, 20, 1), Rect(0, 2, 20, 2), Rect(0, 5, 20, 3)])
            #expect(stack.sizeThatFits(Size(99, 99)) == Size(5, 8))
            stack.axis = .horizontal
            app.settle()
            #expect(boxes.map(\.frame) == [Rect(0, 0, 3, 10), Rect(4, 0, 5, 10), Rect(10, 0, 4, 10)])
            #expect(stack.sizeThatFits(Size(99, 99)) == Size(14, 3))
        }
    }

    @Test func `The remaining space goes to flexible views by their weights`() throws {
        try TestApplication.with(size: Size(20, 1)) { app in
            let boxes = [Box(4, 1), Box(9, 1), Box(1, 1)]
            let stack = StackView(.horizontal, boxes)
            stack.setFlex(3, for: boxes[1])
            stack.setFlex(1, for: boxes[2])
            app.show(stack)
            #expect(boxes.map(\.frame) == [Rect(0, 0, 4, 1), Rect(4, 0, 12, 1), Rect(16, 0, 4, 1)])
            #expect(stack.flex(of: boxes[1]) == 3)
        }
    }

    @Test func `The distribution fillEqually leaves no gap between the views`() throws {
        try TestApplication.with(size: Size(20, 1)) { app in
            let boxes = [Box(1, 1), Box(2, 1), Box(3, 1)]
            let stack = StackView(.horizontal, boxes)
            stack.distribution = .fillEqually
            app.show(stack)
            #expect(boxes.map(\.frame) == [Rect(0, 0, 7, 1), Rect(7, 0, 6, 1), Rect(13, 0, 7, 1)])
            #expect(stack.sizeThatFits(Size(99, 99)) == Size(9, 1))
        }
    }

    @Test func `Views are aligned at the edges or in the centre, inside the padding`() throws {
        try TestApplication.with(size: Size(12, 4)) { app in
            let box = Box(3, 1)
            let stack = StackView(.vertical, [box])
            stack.padding = Insets(top: 1, left: 1, bottom: 1, right: 2)
            app.show(stack)
            #expect(box.frame == Rect(1, 1, 9, 1))
            for (alignment, x) in [(StackView.Alignment.leading, 1.0), (.center, 4), (.trailing, 7)] {
                stack.alignment = alignment
                app.settle()
                #expect(box.frame == Rect(x, 1, 3, 1))
            }
        }
    }

    @Test func `A hidden view takes no room in a stack until it is shown again`() throws {
        try TestApplication.with(size: Size(10, 9)) { app in
            let boxes = [Box(1, 1), Box(1, 2), Box(1, 1)]
            app.show(StackView(.vertical, spacing: 1, boxes))
            #expect(boxes[2].frame.minY == 5)
            boxes[1].isHidden = true
            app.settle()
            #expect(boxes[2].frame.minY == 2)
            boxes[1].isHidden = false
            app.settle()
            #expect(boxes[2].frame.minY == 5)
        }
    }

    @Test func `A view that changes its size moves later views, also in outer stacks`() throws {
        try TestApplication.with(size: Size(10, 9)) { app in
            let (inner, last) = (Box(1, 1), Box(1, 1))
            app.show(StackView(.vertical, [StackView(.vertical, [inner]), last]))
            #expect(last.frame.minY == 1)
            inner.wanted.height = 4
            app.settle()
            #expect(last.frame.minY == 4)
        }
    }

    @Test func `The spacing shrinks first if there is too little room`() throws {
        try TestApplication.with(size: Size(1, 12)) { app in
            let boxes = [Box(1, 2), Box(1, 2), Box(1, 2)]
            app.show(StackView(.vertical, spacing: 3, boxes))
            for (height, places) in [(12.0, [0.0, 5, 10]), (9, [0, 3, 6]), (6, [0, 2, 4]), (5, [0, 2, 4])] {
                app.display.resize(to: Size(1, height))
                app.settle()
                #expect(boxes.map(\.frame.minY) == places)
            }
            #expect(boxes.map(\.frame.height) == [2, 2, 1])
        }
    }

    @Test func `If there is too little room, flexible views shrink first, then the last views`() throws {
        try TestApplication.with(size: Size(10, 1)) { app in
            let boxes = [Box(4, 1), Box(4, 1), Box(4, 1), Box(4, 1)]
            let stack = StackView(.horizontal, boxes)
            stack.setFlex(1, for: boxes[0])
            app.show(stack)
            #expect(boxes.map(\.frame.width) == [0, 4, 4, 2])
        }
    }

    @Test func `A stack does not arrange removed views`() throws {
        try TestApplication.with(size: Size(10, 9)) { app in
            let boxes = [Box(1, 1), Box(1, 1), Box(1, 1)]
            let stack = StackView(.vertical, boxes)
            app.show(stack)
            boxes[0].removeFromSuperview()
            stack.removeArrangedSubview(boxes[1])
            app.settle()
            #expect(boxes[2].frame.minY == 0)
            #expect(boxes[1].superview === stack)
            #expect(stack.arrangedSubviews.count == 1)
            stack.insertArrangedSubview(boxes[1], at: 99)
            app.settle()
            #expect(boxes[1].frame.minY == 1)
        }
    }
}
