//! `demo`: what it shows, typed by hand.

use crate::kit::Dir;

#[test]
fn demo_shows_the_operators_and_checks_a_lookup() {
    let dir = Dir::new();
    let text = dir.ok("demo --backend cpu");
    let gather = "
gather along axis 0: whole rows; 7 is out of bounds and gives zeros
  params [3, 4]    indices [3]    output [3, 4]
    11 12 13 14       2             31 32 33 34
    21 22 23 24       7              0  0  0  0
    31 32 33 34       0             11 12 13 14
";
    let gather_nd = "
  params [3, 4]    indices [3, 2]    output [3]
    11 12 13 14       0  3             14
    21 22 23 24       3  1              0
    31 32 33 34       2  0             31
";
    let gather_elements = "
  params [3, 4]    indices [3, 2]    output [3, 2]
    11 12 13 14       3  0             14 11
    21 22 23 24       1  4             22  0
    31 32 33 34       2  2             33 33
";
    for shown in [gather, gather_nd, gather_elements] {
        assert!(text.contains(shown), "{text}");
    }
    let scatter = "
  params [3, 2]    indices [3]    updates [3, 2]    output [3, 2]
    10 10             2              1  2             13 14
    20 20             0              3  4             20 20
    30 30             2              5  6             36 38
";
    let gradient = "
  indices [3]    grad_output [3, 2]    output [3, 2]
     2             0.5   1               1.5   2
     0             1.5   2                 0   0
     2             2.5   3                 3   4
";
    let bag = "
  params [3, 2]    indices [4]    offsets [2]    output [2, 2]
       1    2         0              0               21   42
      10   20         1              3              0.5 0.25
     0.5 0.25         1
                      2
";
    let quantised = "
  codes [2, 4]     scales [2, 1]    indices [2]    output [2, 4]
     0  4  8 12      0.5               1             14  0  2 -2
    15  8  9  7        2               0             -4 -2  0  2
";
    for shown in [scatter, gradient, bag, quantised] {
        assert!(text.contains(shown), "{text}");
    }
    let bad = "\nthe first gather again, by PyTorch's rules: a bad index is an error\n  gather: \
               indices[1] = 7 is out of bounds for params axis 0 of extent 3\n";
    assert!(text.contains(bad), "{text}");
    for (title, output) in [
        (
            "An embedding lookup: 4,096 ids in",
            "[4096, 384], 6,291,456 bytes, ",
        ),
        (
            "A scatter: 4,096 rows added to",
            "[30522, 384], 46,881,792 bytes, ",
        ),
        (
            "Pooled lookups: 512 bags of 8 ids in",
            "[512, 384], 786,432 bytes, ",
        ),
    ] {
        let shown = format!("\n{title} a table of 30,522 x 384 f32\n  output {output}");
        assert!(text.contains(&shown), "{text}");
    }
    assert_eq!(
        text.lines().last().unwrap_or_default(),
        "Equal to the reference, bit for bit."
    );
    assert!(!text.contains("There is no GPU here"), "{text}");
}
