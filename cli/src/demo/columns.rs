//! Small tensors, side by side.

use std::fmt::Display;

use wgpu_gather::Tensor;

/// The name, the shape, and a grid of the values.
pub(super) fn column<T: Display>(name: &str, tensor: &Tensor<T>) -> Vec<String> {
    let row = tensor.shape().get(1).copied().unwrap_or(1);
    let words: Vec<String> = tensor.data().iter().map(T::to_string).collect();
    let width = words.iter().map(String::len).max().unwrap_or(0).max(2);
    let line = |values: &[String]| {
        let cells: Vec<String> = values.iter().map(|v| format!("{v:>width$}")).collect();
        format!("  {}", cells.join(" "))
    };
    let heading = format!("{name} {:?}", tensor.shape());
    let grid = words.chunks(row).map(line);
    [heading].into_iter().chain(grid).collect()
}

pub(super) fn side_by_side(columns: &[Vec<String>]) -> String {
    let height = columns.iter().map(Vec::len).max().unwrap_or(0);
    let mut text = String::new();
    for line in 0..height {
        let cell = |column: &Vec<String>| {
            let width = column.iter().map(String::len).max().unwrap_or(0);
            format!("{:width$}", column.get(line).map_or("", String::as_str))
        };
        let cells: Vec<String> = columns.iter().map(cell).collect();
        text += &format!("  {}\n", cells.join("    ").trim_end());
    }
    text
}
