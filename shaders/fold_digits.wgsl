// Position of a number in the destination and in the updates, by mixed-radix digits from `first` on.
fn at_digits(first: u32, count: u32, number: u32) -> vec2<u32> {
    var at = vec2(0u);
    var rest = number;
    for (var d = first; d < first + count; d++) {
        let digit = fold.digits[d];
        // The remainder is the highest digit.
        var higher = 0u;
        if (d + 1u < first + count) {
            higher = divide(rest, vec2(digit.multiplier, digit.shift));
        }
        let step = rest - higher * digit.extent;
        at += vec2(step * digit.destination, step * digit.updates);
        rest = higher;
    }
    return at;
}
