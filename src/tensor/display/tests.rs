//! The texts of tensors, by hand and as NumPy 2.4 prints the same arrays.

use super::*;

/// The integers from 0 on.
fn counting(shape: &[usize]) -> Tensor<usize> {
    Tensor::new(shape, (0..shape.iter().product()).collect()).unwrap()
}

#[test]
fn columns_are_aligned_and_brackets_nested() {
    let data = (0..12).map(|n| if n % 5 == 0 { -10 * n } else { n });
    let tensor = Tensor::new(&[2, 2, 3], data.collect()).unwrap();
    let text = "
[[[   0    1    2]
  [   3    4  -50]]

 [[   6    7    8]
  [   9 -100   11]]]";
    assert_eq!(tensor.to_string(), text.trim_start());
    let columns = tensor.view().slice(2, 0..1).unwrap();
    assert_eq!(columns.to_string(), "[[[0]\n  [3]]\n\n [[6]\n  [9]]]");
    let words = Tensor::from(["yes", "über"]);
    assert_eq!(words.to_string(), "[ yes über]");
}

#[test]
fn scalars_and_empty_tensors() {
    assert_eq!(Tensor::new(&[], vec![1.5]).unwrap().to_string(), "1.5");
    for shape in [&[0][..], &[2, 0], &[0, usize::MAX]] {
        let empty = Tensor::<f32>::new(shape, vec![]).unwrap();
        assert_eq!(format!("{empty} {empty:#}"), "[] []");
    }
}

#[test]
fn precision_goes_to_the_elements() {
    let tensor = Tensor::new(&[2, 2], vec![0.5, -12.0, 1.0 / 3.0, 2.0]).unwrap();
    assert_eq!(
        format!("{tensor:.2}"),
        "[[  0.50 -12.00]\n [  0.33   2.00]]"
    );
    assert_eq!(format!("{:.0}", Tensor::new(&[], vec![2.5]).unwrap()), "2");
}

#[test]
fn long_rows_take_several_lines() {
    let text = "
[    0  1000  2000  3000  4000  5000  6000  7000  8000  9000 10000 11000
 12000 13000 14000 15000 16000 17000 18000 19000]";
    let tensor = Tensor::from((0..20).map(|n| 1000 * n).collect::<Vec<i32>>());
    assert_eq!(tensor.to_string(), text.trim_start());
    let wide = Tensor::from(["a".repeat(100), "b".repeat(100)]);
    let text = format!("[{}\n {}]", "a".repeat(100), "b".repeat(100));
    assert_eq!(wide.to_string(), text);
}

#[test]
fn many_elements_are_shortened() {
    assert!(!counting(&[1000]).to_string().contains("..."));
    assert_eq!(
        counting(&[1001]).to_string(),
        "[   0    1    2 ...  998  999 1000]"
    );
    let text = "
[[[   0    1    2 ...   17   18   19]
  [  20   21   22 ...   37   38   39]
  [  40   41   42 ...   57   58   59]
  ...
  [  80   81   82 ...   97   98   99]
  [ 100  101  102 ...  117  118  119]
  [ 120  121  122 ...  137  138  139]]

 [[ 140  141  142 ...  157  158  159]
  [ 160  161  162 ...  177  178  179]
  [ 180  181  182 ...  197  198  199]
  ...";
    let tensor = counting(&[8, 7, 20]);
    let got = tensor.to_string();
    assert!(got.starts_with(text.trim_start()), "{got}");
    assert_eq!(got.matches("\n\n ...\n\n").count(), 1);
    // 6 blocks of 7 lines and the dots, with empty lines between.
    assert_eq!(got.lines().count(), 6 * 7 + 1 + 6);
    // Dims of 6 and fewer entries are whole.
    assert!(
        counting(&[6, 200])
            .to_string()
            .contains("[ 600  601  602 ...")
    );
    assert!(!counting(&[2; 10]).to_string().contains("..."));
    let whole = format!("{tensor:#}");
    assert!(
        !whole.contains("...") && whole.contains("[1000 1001"),
        "{whole}"
    );
}

/// What is left out is neither formatted nor held, and no dim takes stack.
#[test]
fn tensors_of_any_size_and_rank_are_shortened() {
    let row = [7, 8];
    let view = TensorView::new(&[2], &row).unwrap();
    let huge = view.broadcast(&[usize::MAX, usize::MAX, 2]).unwrap();
    assert_eq!(huge.to_string().matches("[7 8]").count(), 36);
    let deep = view.reshape(&[vec![1; 100_000], vec![2]].concat()).unwrap();
    assert_eq!(deep.to_string().matches('[').count(), 100_001);
}

#[test]
fn debug_shows_shape_and_a_few_elements() {
    assert_eq!(
        format!("{:?}", counting(&[2, 2])),
        "Tensor { shape: [2, 2], data: [0, 1, 2, 3] }"
    );
    assert_eq!(
        format!("{:?}", counting(&[3, 3])),
        "Tensor { shape: [3, 3], data: [0, 1, 2, 3, 4, 5, 6, 7, ..] }"
    );
    let tensor = counting(&[3, 3]);
    let view = tensor.view().permute(&[1, 0]).unwrap();
    assert_eq!(
        format!("{:?}", view.slice(0, 1..3).unwrap()),
        "TensorView { shape: [2, 3], strides: [1, 3], offset: 1, elements: [1, 4, 7, 2, 5, 8] }"
    );
    assert_eq!(
        format!("{:?}", counting(&[0, 2])),
        "Tensor { shape: [0, 2], data: [] }"
    );
    assert_eq!(
        format!("{:?}", Tensor::new(&[], vec!["a"]).unwrap()),
        "Tensor { shape: [], data: [\"a\"] }"
    );
}
