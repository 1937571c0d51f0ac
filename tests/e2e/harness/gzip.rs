//! Compressed bodies: a true one, and one that unpacks to very much.

/// A gzip member with these bytes in one stored block (RFC 1951, RFC 1952).
pub(super) fn gzip_of(bytes: &[u8]) -> Vec<u8> {
    let length = u16::try_from(bytes.len()).unwrap();
    let mut packed = gzip_head();
    packed.push(1);
    packed.extend(length.to_le_bytes());
    packed.extend((!length).to_le_bytes());
    packed.extend(bytes);
    packed.extend(crc32(bytes).to_le_bytes());
    packed.extend(u32::from(length).to_le_bytes());
    packed
}

/// About so many blanks, as one literal that is repeated: 258 of them take 13 bits.
pub(super) fn gzip_of_blanks(count: usize) -> Vec<u8> {
    // A block with the fixed codes, the last one; the literal is the blank's code, most significant bit first.
    let mut bits: Vec<bool> = vec![true, true, false];
    let mut code = |value: u32, length: u32| {
        bits.extend((0..length).rev().map(|bit| value >> bit & 1 == 1));
    };
    code(0x30 + u32::from(b' '), 8);
    for _ in 0..count / 258 {
        // Length 258 is code 285, and distance 1 is code 0.
        code(0b1100_0101, 8);
        code(0, 5);
    }
    code(0, 7);
    let mut packed = gzip_head();
    packed.extend(bits.chunks(8).map(|byte| {
        let bits = byte.iter().enumerate();
        bits.fold(0, |sum, (place, bit)| sum | u8::from(*bit) << place)
    }));
    // What follows is not looked at before all of it was unpacked.
    packed.extend([0; 8]);
    packed
}

fn gzip_head() -> Vec<u8> {
    vec![0x1f, 0x8b, 8, 0, 0, 0, 0, 0, 0, 0xff]
}

fn crc32(bytes: &[u8]) -> u32 {
    let step = |crc: u32| match crc & 1 {
        1 => crc >> 1 ^ 0xedb8_8320,
        _ => crc >> 1,
    };
    let whole = bytes.iter().fold(u32::MAX, |crc, byte| {
        (0..8).fold(crc ^ u32::from(*byte), |crc, _| step(crc))
    });
    !whole
}
