use super::*;

fn venues() -> Vec<String> {
    let mut rows: Vec<String> = ["Café de Flore   Paris", "東京タワー寿司  Tokyo", "Bistro  Paris"]
        .map(String::from)
        .to_vec();
    rows.extend((0..60).map(|number| format!("Venue {number}  London {}", "long ".repeat(40))));
    rows
}

fn question() -> Question {
    Question::new("Which venue?", "VENUE", "the venue")
}

fn press(menu: &mut Widget<'_>, text: &str) {
    for character in text.chars() {
        assert_eq!(menu.press(Key::Char(character)), KeyEffect::Stay);
    }
}

fn draw(menu: &Widget<'_>, rows: usize, columns: usize) -> Vec<String> {
    menu.draw(None, Size { rows, columns }, &Theme::new(false)).lines
}

#[test]
fn every_typed_word_narrows_rows_in_any_order() {
    let (rows, question) = (venues(), question());
    let mut menu = Widget::new(&question, &rows, 0).filtered();
    press(&mut menu, "paris CAFE");
    assert_eq!(menu.found, [0]);
    menu.press(Key::EraseWord);
    assert_eq!(menu.found, [0, 2]);
    menu.press(Key::Down);
    assert_eq!(menu.press(Key::Enter), KeyEffect::Answered);
    assert_eq!(menu.row, 2, "the row's own index, not the filtered one");
}

#[test]
fn where_nothing_is_found_enter_answers_nothing() {
    let (rows, question) = (venues(), question());
    let mut menu = Widget::new(&question, &rows, 1).filtered();
    press(&mut menu, "xyz");
    assert_eq!(menu.press(Key::Enter), KeyEffect::Stay);
    menu.press(Key::Up);
    menu.press(Key::PageDown);
    assert_eq!(draw(&menu, 24, 80)[1], "  no matches for \"xyz\", Ctrl-U clears");
    menu.press(Key::EraseLine);
    assert_eq!(menu.found.len(), rows.len());
}

#[test]
fn what_matches_no_row_is_an_answer_only_where_one_may_be_typed() {
    let (rows, question) = (venues(), question().previous_answer(Some("Lisbon".to_owned())));
    let check = |text: &str| match text {
        "" => Err("enter a place".to_owned()),
        _ => Ok(()),
    };
    let mut menu = Widget::new(&question, &rows, 0).or_typed(None, &check);
    menu.press(Key::Enter);
    assert_eq!(menu.visible_text(), "Lisbon");
    for blank in ["", "   "] {
        menu.press(Key::EraseLine);
        press(&mut menu, blank);
        menu.press(Key::Enter);
        assert_eq!(menu.text, rows[0]);
    }
}

#[test]
fn marked_row_is_in_view_at_every_size() {
    let (rows, question) = (venues(), question());
    for (height, columns) in [(3, 20), (5, 20), (10, 40), (24, 80), (60, 200)] {
        let mut menu = Widget::new(&question, &rows, 0).filtered();
        for _ in 0..rows.len() {
            let lines = draw(&menu, height, columns);
            assert!(lines.len() <= height, "{height}: {lines:?}");
            assert!(
                lines.iter().all(|line| measure_text_width(line) < columns),
                "{columns}: {lines:?}"
            );
            assert_eq!(lines.iter().filter(|line| line.starts_with('❯')).count(), 1);
            menu.press(Key::Down);
        }
        assert_eq!(menu.at, 0, "after the last row comes the first");
        menu.press(Key::Up);
        assert_eq!(menu.at, rows.len() - 1);
    }
}

#[test]
fn what_is_cut_off_the_marked_row_stands_below_it() {
    let rows =
        ["17:00 · card, 23.00 EUR held · free until Thu 17:00, then 23.00 EUR", "18:00 · no card"];
    let (rows, question) = (rows.map(str::to_owned).to_vec(), question());
    let mut menu = Widget::new(&question, &rows, 0);
    let lines = draw(&menu, 24, 40);
    assert_eq!(
        lines[1..],
        [
            "❯ 17:00 · card, 23.00 EUR held · free",
            "    until Thu 17:00, then 23.00 EUR",
            "  18:00 · no card"
        ]
    );
    menu.press(Key::Down);
    assert_eq!(draw(&menu, 24, 40)[1], "  17:00 · card, 23.00 EUR held · free …");
    assert_eq!(draw(&menu, 24, 40).len(), 3);
}

#[test]
fn a_plain_menu_takes_the_numbers_of_its_rows_alone() {
    let rows: Vec<String> = (1..=12).map(|row| format!("row {row}\nguest")).collect();
    let question = question();
    let mut menu = Widget::new(&question, &rows, 2).filtered();
    assert!(menu.listing().starts_with(" 1) row 1\n 2)"));
    for (line, answer) in [(" 2 ", 1), ("", 2)] {
        assert_eq!(menu.take_line(line), Ok(()));
        assert_eq!(menu.row, answer);
    }
    for wrong in ["0", "13", "-1", "two", "1.5"] {
        assert!(menu.take_line(wrong).unwrap_err().contains("1 to 12"));
    }
}

const LEFT: Option<SignedDuration> = Some(SignedDuration::from_secs(1192));

fn six_digits(text: &str) -> Result<(), String> {
    let digits = text.len() == 6 && text.bytes().all(|byte| byte.is_ascii_digit());
    digits.then_some(()).ok_or_else(|| "the code has six digits".to_owned())
}

#[test]
fn an_answer_that_is_not_taken_says_why_until_the_next_key() {
    let question = Question::new("Code", "--otp", "the one-time code");
    let mut entry = Widget::new(&question, &[], 0).or_typed(None, &six_digits);
    press(&mut entry, "12345");
    assert_eq!(entry.press(Key::Enter), KeyEffect::Stay);
    assert_eq!(draw(&entry, 24, 80)[1], "✘ the code has six digits");
    press(&mut entry, "6");
    assert_eq!(draw(&entry, 24, 80).len(), 1);
    assert_eq!(entry.press(Key::Enter), KeyEffect::Answered);
    assert_eq!(entry.text, "123456");
}

#[test]
fn a_long_paste_is_drawn_at_its_end_and_answered_whole() {
    let paste = "0123456789".repeat(6_000);
    let question = Question::new("Note", "--note", "the note");
    let hidden = Question { echo: Echo::Hidden, ..Question::new("Key", "--key", "the key") };
    for (question, end) in [(&question, "456789"), (&hidden, "******")] {
        let mut entry = Widget::new(question, &[], 0).or_typed(None, &|_| Ok(()));
        press(&mut entry, &paste);
        let lines = draw(&entry, 24, 80);
        assert!(lines[0].contains('…'), "{lines:?}");
        assert!(lines[0].trim_end().ends_with(end), "{lines:?}");
        assert!(measure_text_width(&lines[0]) < 80, "{lines:?}");
        assert_eq!(entry.press(Key::Enter), KeyEffect::Answered);
        assert_eq!(entry.text, paste);
    }
}

#[test]
fn empty_answer_is_the_default_and_end_of_input_leaves() {
    let question = Question::new("Party size", "--party", "the party size");
    let mut entry = Widget::new(&question, &[], 0).or_typed(Some("2"), &|_| Ok(()));
    press(&mut entry, " ");
    assert_eq!(entry.press(Key::EndOfInput), KeyEffect::Stay);
    assert_eq!(entry.press(Key::Enter), KeyEffect::Answered);
    assert_eq!(entry.text, "2");
    entry.press(Key::EraseLine);
    assert_eq!(entry.press(Key::EndOfInput), KeyEffect::Interrupted);
}

#[test]
fn at_every_width_nothing_wraps_and_time() {
    let question =
        Question::new("Code that was texted to 東京 +81 3-1234-5678", "--otp", "the code");
    let default = Some("a default that is long itself");
    let mut entry = Widget::new(&question, &[], 0).or_typed(default, &six_digits);
    press(&mut entry, "名前 and far more text than any of the narrow ones could ever hold 999");
    assert_eq!(entry.press(Key::Enter), KeyEffect::Stay);
    for columns in [20, 40, 80, 200] {
        let frame = entry.draw(LEFT, Size { rows: 24, columns }, &Theme::new(false));
        for line in &frame.lines {
            assert!(measure_text_width(line) < columns, "{columns}: {line:?}");
        }
        let all = frame.lines.join("\n");
        assert!(all.contains("19:52"), "{columns}: {all}");
        assert!(all.contains("99"), "{columns}: {all}");
        assert!(frame.cursor.unwrap().1 < columns);
    }
}
