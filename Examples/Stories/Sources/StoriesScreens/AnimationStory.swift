// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI

/// A block that moves to where it is sent, also from the middle of its way.
final class AnimationStory: Story {
    private let block = View()
    private let track = Track()
    private let lines = LinesView()
    private var sent = 0

    init() {
        super.init(
            "An animation",
            "The block's frame is set at once; what is shown follows, once a frame and in the common modes. Tap the track while "
                + "the block moves: the new animation begins where the block is seen, and the old one ends unfinished.",
            page: "MovingAndDrawingElsewhere")
    }

    override func loadView() {
        block.backgroundColor = .magenta
        block.frame = Rect(0, 0, 4, 2)
        track.clipsToBounds = true
        track.addSubview(block)
        track.addGestureRecognizer(TapGestureRecognizer { [unowned self] tap in send(to: tap.location(in: track).x) })
        let row = StackView(
            .horizontal, spacing: 1,
            [
                Button("To the left") { [unowned self] _ in send(to: 0) },
                Button("To the right") { [unowned self] _ in send(to: track.frame.width) },
            ])
        let stack = StackView(.vertical)
        stack.addArrangedSubview(row)
        stack.addArrangedSubview(track)
        stack.addArrangedSubview(lines, flex: 1)
        stack.padding.top = 1
        view = stack
    }

    private func send(to x: Double) {
        sent += 1
        let number = sent
        lines.add("\(number): begins")
        View.animate(
            withDuration: .seconds(1),
            animations: { block.frame.origin.x = max(0, min(track.frame.width - 4, (x - 2).rounded())) },
            completion: { [weak self] finished in self?.lines.add("\(number): \(finished ? "finished" : "interrupted")")
            })
    }
}

/// The block's way, two rows high.
private final class Track: View {
    override func sizeThatFits(_ size: Size) -> Size { Size(size.width, 2) }
}
