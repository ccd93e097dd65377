//! Tensors made, read and reshaped.

use super::*;

#[test]
fn coordinates_select_elements() {
    let tensor = Tensor::new(&[2, 1, 3], vec![0, 1, 2, 3, 4, 5]).unwrap();
    assert_eq!(tensor[[1, 0, 2]], 5);
    assert_eq!(tensor[&[0, 0, 1][..]], 1);
    assert_eq!(Tensor::new(&[], vec![7]).unwrap()[[]], 7);
    for outside in [&[0, 1, 0][..], &[2, 0, 0], &[0, 0], &[0, 0, 0, 0], &[]] {
        assert_eq!(tensor.get(outside), None, "{outside:?}");
    }
    let huge = Tensor::<u8>::new(&[usize::MAX, 0], vec![]).unwrap();
    assert_eq!(huge.get(&[usize::MAX - 1, 0]), None);
}

#[test]
#[should_panic(expected = "coordinates [2, 0] lie outside a tensor of shape [2, 3]")]
fn coordinates_outside_panic() {
    let _ = Tensor::new(&[2, 3], vec![0; 6]).unwrap()[[2, 0]];
}

#[test]
fn rows_are_the_entries_of_the_first_dim() {
    let tensor = Tensor::new(&[3, 1, 2], vec![0, 1, 2, 3, 4, 5]).unwrap();
    assert_eq!(tensor.rows().collect::<Vec<_>>(), [[0, 1], [2, 3], [4, 5]]);
    assert_eq!(tensor.rows().rev().next_back(), tensor.row(0));
    assert_eq!((tensor.rows().len(), tensor.row(3)), (3, None));

    let of_rank_1 = Tensor::from(vec![7, 8]);
    assert_eq!(of_rank_1.rows().collect::<Vec<_>>(), [[7], [8]]);
    let scalar = Tensor::new(&[], vec![7]).unwrap();
    assert_eq!((scalar.rows().len(), scalar.row(0)), (0, None));
    let without_columns = Tensor::<i32>::new(&[2, 0], vec![]).unwrap();
    assert_eq!(without_columns.rows().collect::<Vec<_>>(), [[0; 0]; 2]);
    let without_rows = Tensor::<i32>::new(&[0, 2], vec![]).unwrap();
    assert_eq!((without_rows.rows().len(), without_rows.row(0)), (0, None));
}

#[test]
fn zeros_or_a_typed_error() {
    assert_eq!(Tensor::zeros(&[2, 2]), Tensor::new(&[2, 2], vec![false; 4]));
    assert_eq!(
        Tensor::<u64>::zeros(&[0, usize::MAX]),
        Tensor::new(&[0, usize::MAX], vec![])
    );
    assert_eq!(
        Tensor::<u64>::zeros(&[1 << (usize::BITS - 4)]),
        Err(Error::SizeOverflow {
            role: Role::Tensor,
            shape: vec![1 << (usize::BITS - 4)],
            element_bytes: 8,
        })
    );
    // More than any machine can address.
    #[cfg(target_pointer_width = "64")]
    assert_eq!(
        Tensor::<u64>::zeros(&[1 << 59]),
        Err(Error::HostOutOfMemory {
            role: Role::Tensor,
            bytes: 1 << 62,
        })
    );
}

#[test]
fn reshaping_keeps_data_and_number() {
    let tensor = Tensor::from([1, 2, 3, 4, 5, 6]);
    let at = tensor.data().as_ptr();
    let tensor = tensor.reshape(&[3, 1, 2]).unwrap();
    assert_eq!(
        (tensor.shape(), tensor.data().as_ptr()),
        (&[3, 1, 2][..], at)
    );
    assert_eq!(tensor[[2, 0, 1]], 6);
    for wrong in [&[4][..], &[], &[usize::MAX, 2], &[0]] {
        assert_eq!(
            tensor.clone().reshape(wrong),
            Err(Error::ReshapeElements {
                from: vec![3, 1, 2],
                to: wrong.to_vec(),
            })
        );
    }
    let empty = Tensor::<f32>::from([]).reshape(&[3, 0, 2]).unwrap();
    assert_eq!(empty.shape(), [3, 0, 2]);
}
