//! The picture in the README: what a person sees in a terminal of 80 columns, drawn as SVG for
//! light and dark pages.
//!
//! The program really runs and its screen is drawn as it is; only ids, codes and times are replaced
//! by fixed ones, so that every run draws the same picture. `UPDATE_DOCS=1` writes the pictures
//! anew.

use std::fmt::Write;
use std::path::Path;

use crate::harness::fixed::{Fixed, set_clock};
use crate::harness::{Home, Key, Styled, Terminal, words};

const COLUMNS: u16 = 80;

/// In pixels. A monospaced character is 0.6 of its size wide; a run of characters is stretched to
/// exactly that.
const FONT: f64 = 14.0;
const CHARACTER: f64 = FONT * 0.6;
const LINE: f64 = 20.0;
const MARGIN: f64 = 20.0;
const TITLE_BAR: f64 = 34.0;

struct Theme {
    name: &'static str,
    background: &'static str,
    title_bar: &'static str,
    border: &'static str,
    text: &'static str,
    dim: &'static str,
    /// Black, red, green, yellow, blue, magenta, cyan and white, as a terminal numbers them.
    colours: [&'static str; 8],
}

const LIGHT: Theme = Theme {
    name: "light",
    background: "#ffffff",
    title_bar: "#f6f8fa",
    border: "#d0d7de",
    text: "#1f2328",
    dim: "#6e7781",
    colours: [
        "#24292f", "#cf222e", "#1a7f37", "#9a6700", "#0969da", "#8250df", "#1b7c83", "#6e7781",
    ],
};

const DARK: Theme = Theme {
    name: "dark",
    background: "#0d1117",
    title_bar: "#161b22",
    border: "#30363d",
    text: "#e6edf3",
    dim: "#8b949e",
    colours: [
        "#484f58", "#ff7b72", "#3fb950", "#d29922", "#58a6ff", "#bc8cff", "#39c5cf", "#b1bac4",
    ],
};

type Row = Vec<Styled>;

fn styled(text: &str, colour: vt100::Color, bold: bool) -> Styled {
    Styled { text: text.to_owned(), colour, bold, dim: false }
}

/// A booking that waits for a one-time code, from the command to its confirmation.
fn rows() -> Vec<Row> {
    let home = Home::new();
    set_clock(&home);
    let command = "bookctl book ven_otp --at 'tomorrow 19:30' --party 2 --name 'Ada Lovelace'";
    let arguments = "book ven_otp --at 'tomorrow 19:30' --party 2 --name 'Ada Lovelace'";
    let mut terminal = Terminal::of_width(&home, COLUMNS, &words(arguments));
    terminal.see("? One-time code").type_in(&home.code());
    terminal.press(Key::Enter);
    let ended = terminal.ends(0);
    let prompt = vec![
        styled("$ ", vt100::Color::Idx(2), true),
        styled(command, vt100::Color::Default, true),
    ];
    let mut fixed = Fixed::default();
    let shown = ended.own_rows().into_iter().map(|row| {
        let parts = row.into_iter().map(|part| Styled { text: fixed.text(&part.text), ..part });
        parts.collect()
    });
    std::iter::once(prompt).chain(shown).collect()
}

fn draw(rows: &[Row], theme: &Theme) -> String {
    let width = f64::from(COLUMNS) * CHARACTER + 2.0 * MARGIN;
    let lines = u32::try_from(rows.len()).unwrap();
    let height = TITLE_BAR + 2.0 * MARGIN + f64::from(lines) * LINE - (LINE - FONT);
    let Theme { background, title_bar, border, text, .. } = theme;
    let mut svg = String::new();
    writeln!(
        svg,
        r##"<svg xmlns="http://www.w3.org/2000/svg" width="{width}" height="{height}" viewBox="0 0 {width} {height}" role="img">
<title>bookctl books a table in a terminal: the venue asks for a one-time code, and then the booking is confirmed</title>
<clipPath id="window"><rect width="{width}" height="{height}" rx="10"/></clipPath>
<g clip-path="url(#window)"><rect width="{width}" height="{height}" fill="{background}"/>
<rect width="{width}" height="{TITLE_BAR}" fill="{title_bar}"/><rect y="{TITLE_BAR}" width="{width}" height="1" fill="{border}"/></g>
<rect x="0.5" y="0.5" width="{}" height="{}" rx="9.5" fill="none" stroke="{border}"/>
<circle cx="20" cy="17" r="6" fill="#ff5f57"/><circle cx="40" cy="17" r="6" fill="#febc2e"/><circle cx="60" cy="17" r="6" fill="#28c840"/>
<g font-family="ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace" font-size="{FONT}" fill="{text}" xml:space="preserve">"##,
        width - 1.0,
        height - 1.0,
    )
    .unwrap();
    for (place, row) in (0u32..).zip(rows) {
        let y = TITLE_BAR + MARGIN + FONT - 3.0 + f64::from(place) * LINE;
        let mut column = 0;
        for part in row {
            draw_part(&mut svg, part, column, y, theme);
            column += part.text.chars().count();
        }
    }
    svg.push_str("</g>\n</svg>\n");
    svg
}

/// One run of characters, without the blanks around it.
fn draw_part(svg: &mut String, part: &Styled, column: usize, y: f64, theme: &Theme) {
    let text = part.text.trim();
    if text.is_empty() {
        return;
    }
    let blanks = part.text.chars().take_while(|c| *c == ' ').count();
    let pixels = |characters: usize| f64::from(u32::try_from(characters).unwrap()) * CHARACTER;
    let x = MARGIN + pixels(column + blanks);
    let length = pixels(text.chars().count());
    let colour = match part.colour {
        vt100::Color::Default if part.dim => Some(theme.dim.to_owned()),
        vt100::Color::Default => None,
        vt100::Color::Idx(number) => Some(theme.colours[usize::from(number) % 8].to_owned()),
        vt100::Color::Rgb(red, green, blue) => Some(format!("#{red:02x}{green:02x}{blue:02x}")),
    };
    let colour = colour.map_or(String::new(), |colour| format!(r#" fill="{colour}""#));
    let weight = if part.bold { r#" font-weight="bold""# } else { "" };
    let text = text.replace('&', "&amp;").replace('<', "&lt;");
    writeln!(
        svg,
        r#"<text x="{x:.1}" y="{y}" textLength="{length:.1}" lengthAdjust="spacingAndGlyphs"{colour}{weight}>{text}</text>"#,
    )
    .unwrap();
}

#[test]
fn the_pictures_of_the_readme_are_what_the_program_shows() {
    let rows = rows();
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let readme = std::fs::read_to_string(root.join("README.md")).unwrap();
    for theme in [LIGHT, DARK] {
        let name = format!("docs/terminal-{}.svg", theme.name);
        assert!(readme.contains(&name), "the README shows {name}");
        let drawn = draw(&rows, &theme);
        let path = root.join(&name);
        if std::fs::read_to_string(&path).is_ok_and(|stands| stands == drawn) {
            continue;
        }
        assert!(
            std::env::var_os("UPDATE_DOCS").is_some(),
            "{name} has drifted from what the program shows; UPDATE_DOCS=1 cargo test writes it anew"
        );
        std::fs::write(path, drawn).unwrap();
    }
}
