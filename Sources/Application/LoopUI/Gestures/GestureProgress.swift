// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

extension GestureRecognizer {
    /// How far a gesture is: the state that was decided, and the states that the recogniser has set since.
    enum Progress {
        /// The gesture has not begun, and may begin with the first of `wishes`.
        case open(wishes: [State], Stage)
        /// The gesture has begun, ended or failed.
        case decided(State, wishes: [State])

        enum Stage {
            /// The delegate was not asked whether the gesture may begin.
            case unasked
            case allowed
            /// Another recogniser has to fail first.
            case waiting
        }

        /// The progress of a recogniser that has seen no touch.
        static let none = Progress.open(wishes: [], .unasked)

        /// The state that was decided last.
        var decided: State {
            switch self {
            case .open: .possible
            case .decided(let state, _): state
            }
        }

        /// The states that were set and are not decided yet.
        var wishes: [State] {
            get {
                switch self {
                case .open(let wishes, _), .decided(_, let wishes): wishes
                }
            }
            set {
                switch self {
                case .open(_, let stage): self = .open(wishes: newValue, stage)
                case .decided(let state, _): self = .decided(state, wishes: newValue)
                }
            }
        }

        var isWaiting: Bool {
            if case .open(_, .waiting) = self { true } else { false }
        }

        /// The state that a reader of ``GestureRecognizer/state`` sees.
        var visible: State { isWaiting ? .possible : wishes.last ?? decided }

        /// Whether the gesture is to begin this turn, if nothing prevents it.
        var isToBeDecided: Bool { !wishes.isEmpty && !isWaiting }

        /// Whether the recogniser receives further touches.
        var takesTouches: Bool { !decided.isFinal && wishes.last?.isFinal != true }
    }

    /// The touches of a recogniser.
    struct SeenTouches {
        /// All touches since the last reset.
        private(set) var all: [Touch] = []
        /// The touches that have not ended.
        private(set) var active: [Touch] = []
        /// The touches since there was no finger down.
        private var stroke: [Touch] = []

        /// The touches that are down; after the last one has ended, those since the first finger went down.
        var located: [Touch] { active.isEmpty ? stroke : active }

        mutating func begin(_ touch: Touch) {
            if active.isEmpty { stroke = [] }
            all.append(touch)
            active.append(touch)
            stroke.append(touch)
        }

        mutating func end(_ touch: Touch) { active.removeAll { $0 === touch } }

        mutating func remove(_ touch: Touch) {
            end(touch)
            all.removeAll { $0 === touch }
            stroke.removeAll { $0 === touch }
        }
    }
}
