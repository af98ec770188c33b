// SPDX-FileCopyrightText: The swift-run-loops contributors
// SPDX-License-Identifier: Apache-2.0

// The same with tui-rs.
use crossterm::event::{read, Event, KeyCode};
use crossterm::terminal::{disable_raw_mode, enable_raw_mode, EnterAlternateScreen, LeaveAlternateScreen};
use tui::{backend::CrosstermBackend, widgets::Paragraph, Terminal};

fn main() -> Result<(), std::io::Error> {
    enable_raw_mode()?;
    crossterm::execute!(std::io::stdout(), EnterAlternateScreen)?;
    let mut terminal = Terminal::new(CrosstermBackend::new(std::io::stdout()))?;
    let mut text = String::from("keys: 0");
    let mut count = 0;
    loop {
        terminal.draw(|frame| frame.render_widget(Paragraph::new(text.as_str()), frame.size()))?;
        if let Event::Key(event) = read()? {
            if let KeyCode::Char(key) = event.code {
                if key == 'q' {
                    break;
                }
                count += 1;
                text = format!("keys: {}, the last: {}", count, key);
            }
        }
    }
    crossterm::execute!(std::io::stdout(), LeaveAlternateScreen)?;
    disable_raw_mode()
}
