// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

import LoopUI
import LoopUITerminal
import StoriesScreens

Application.main(StoriesDelegate.self)
