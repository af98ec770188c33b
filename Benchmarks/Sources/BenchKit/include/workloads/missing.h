// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// The main function of a peer whose development package was not installed when this was built.

int main(void) { bk_skip("was not installed when this was built"); }
