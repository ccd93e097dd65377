//! A test card, drawn point by point: a grid, a wheel of colours, targets in the corners and
//! letters, so that every bend shows.

/// Red, green and blue, from 0 to 1.
type Colour = [f32; 3];

const WHITE: Colour = [0.98, 0.97, 0.94];
const INK: Colour = [0.05, 0.06, 0.12];

/// The colour at a point; x and y go from -1 to 1, to the right and down.
pub(crate) fn colour(x: f32, y: f32) -> [u8; 3] {
    let layers = [border(x, y), targets(x, y), letters(x, y), wheel(x, y)];
    let top = layers.into_iter().flatten().next();
    let colour = top.unwrap_or_else(|| ground(x, y));
    colour.map(|c| (c * 255.0).round() as u8)
}

fn mix(a: Colour, b: Colour, t: f32) -> Colour {
    [0, 1, 2].map(|n| a[n] + (b[n] - a[n]) * t)
}

/// Whether `at` is near a multiple of `step`.
fn on_line(at: f32, step: f32, width: f32) -> bool {
    (at / step - (at / step).round()).abs() * step < width / 2.0
}

/// A frame of black and white squares.
fn border(x: f32, y: f32) -> Option<Colour> {
    let square = |c: f32| (c * 25.0 + 25.0) as i32;
    let inside = x.abs().max(y.abs()) < 0.96;
    let even = (square(x) + square(y)) % 2 == 0;
    (!inside).then_some(if even { WHITE } else { INK })
}

/// From dusk blue to coral, under a grid.
fn ground(x: f32, y: f32) -> Colour {
    let height = (y + 1.0) / 2.0;
    let sky = mix(
        [0.07, 0.10, 0.30],
        [0.16, 0.42, 0.56],
        (height * 2.0).min(1.0),
    );
    let colour = mix(sky, [0.94, 0.48, 0.36], (height * 2.0 - 1.0).max(0.0));
    if on_line(x, 0.24, 0.010) || on_line(y, 0.24, 0.010) {
        return mix(colour, WHITE, 0.75);
    }
    if on_line(x, 0.06, 0.005) || on_line(y, 0.06, 0.005) {
        return mix(colour, WHITE, 0.25);
    }
    colour
}

/// Hues around the centre, in rings; a star in the middle.
fn wheel(x: f32, y: f32) -> Option<Colour> {
    let (radius, angle) = (x.hypot(y), y.atan2(x) / std::f32::consts::TAU);
    if radius > 0.62 {
        return None;
    }
    if radius < 0.2 {
        let light = (angle * 24.0).rem_euclid(1.0) < 0.5;
        return Some(if light { WHITE } else { INK });
    }
    if radius > 0.605 || on_line(radius - 0.2, 0.14, 0.012) {
        return Some(WHITE);
    }
    // Sectors of one hue each; every ring is lighter than the one outside it.
    let sector = (angle.rem_euclid(1.0) * 36.0).floor();
    let ring = ((radius - 0.2) / 0.14).floor();
    let shade = if sector % 2.0 == 0.0 { 0.86 } else { 1.0 };
    let colour = hue(sector / 36.0).map(|c| c * shade);
    Some(mix(WHITE, colour, 0.45 + 0.25 * ring.min(2.0)))
}

/// A bright colour; hues go around from 0 to 1.
fn hue(at: f32) -> Colour {
    [0.0, 1.0, 2.0].map(|n| {
        let wave = (std::f32::consts::TAU * (at - n / 3.0)).cos();
        0.5 + 0.45 * wave
    })
}

/// Rings in the corners.
fn targets(x: f32, y: f32) -> Option<Colour> {
    let radius = (x.abs() - 0.74).hypot(y.abs() - 0.74);
    let corner = usize::from(x > 0.0) + 2 * usize::from(y > 0.0);
    let colours = [
        [0.98, 0.77, 0.26],
        [0.35, 0.83, 0.75],
        [0.55, 0.42, 0.86],
        [0.90, 0.25, 0.36],
    ];
    (radius < 0.16).then(|| match (radius / 0.032) as u32 % 2 {
        0 => colours[corner],
        _ => INK,
    })
}

/// A word above the wheel and one below it, on plates, in letters of 5 by 7 dots.
fn letters(x: f32, y: f32) -> Option<Colour> {
    const DOT: f32 = 0.022;
    let (word, top) = if y < 0.0 {
        ("GATHER", -0.88)
    } else {
        ("WGPU", 0.726)
    };
    let (columns, rows) = (word.len() as i32 * 6 - 1, 7);
    let left = -columns as f32 / 2.0 * DOT;
    let (column, row) = (((x - left) / DOT).floor(), ((y - top) / DOT).floor());
    let (column, row) = (column as i32, row as i32);
    if !(-2..columns + 2).contains(&column) || !(-2..rows + 2).contains(&row) {
        return None;
    }
    let letter = usize::try_from(column)
        .ok()
        .and_then(|n| word.chars().nth(n / 6));
    let dots = letter.zip(usize::try_from(row).ok());
    let dots = dots.and_then(|(letter, row)| dots_of(letter).get(row).copied());
    let lit = column % 6 < 5 && dots.unwrap_or(0) >> (4 - column.rem_euclid(6).min(4)) & 1 == 1;
    Some(if lit { WHITE } else { INK })
}

/// The dots of a letter, row by row, the leftmost in the highest bit of five.
fn dots_of(letter: char) -> [u8; 7] {
    match letter {
        'A' => [
            0b01110, 0b10001, 0b10001, 0b11111, 0b10001, 0b10001, 0b10001,
        ],
        'E' => [
            0b11111, 0b10000, 0b10000, 0b11110, 0b10000, 0b10000, 0b11111,
        ],
        'G' => [
            0b01110, 0b10001, 0b10000, 0b10111, 0b10001, 0b10001, 0b01111,
        ],
        'H' => [
            0b10001, 0b10001, 0b10001, 0b11111, 0b10001, 0b10001, 0b10001,
        ],
        'P' => [
            0b11110, 0b10001, 0b10001, 0b11110, 0b10000, 0b10000, 0b10000,
        ],
        'R' => [
            0b11110, 0b10001, 0b10001, 0b11110, 0b10100, 0b10010, 0b10001,
        ],
        'T' => [
            0b11111, 0b00100, 0b00100, 0b00100, 0b00100, 0b00100, 0b00100,
        ],
        'U' => [
            0b10001, 0b10001, 0b10001, 0b10001, 0b10001, 0b10001, 0b01110,
        ],
        'W' => [
            0b10001, 0b10001, 0b10001, 0b10101, 0b10101, 0b11011, 0b10001,
        ],
        _ => [0; 7],
    }
}
