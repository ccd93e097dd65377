//! Errors: typed, with what was got and what is allowed; bad indices when they are asked for.

use burn::tensor::{Device, Int, Tensor};
use wgpu_gather::{OpKind, Role};
use wgpu_gather_burn::{Error, GatherError, Gathers, Op, Rules};

use crate::kit::{Place, alone, places};

fn table(place: &Place) -> Tensor<2> {
    Tensor::from_floats([[0.5, 1.5], [2.5, 3.5], [4.5, 5.5]], &place.device)
}

fn ids(place: &Place, ids: &[i32]) -> Tensor<1, Int> {
    Tensor::from_ints(ids, &place.device)
}

/// Rows of the table under the error rule.
fn rows(place: &Place, gathers: &Gathers, indices: &[i32]) -> Tensor<2> {
    let rows = gathers.gather(
        Op::gather(0),
        &Rules::TORCH,
        table(place),
        ids(place, indices),
    );
    rows.expect("the call is good")
}

fn bad_index(error: &Error) -> String {
    match error {
        Error::Gather(GatherError::IndexOutOfBounds(_)) => error.to_string(),
        other => panic!("{other}"),
    }
}

#[test]
fn what_does_not_fit_is_refused_by_the_call() {
    for place in places() {
        let gathers = place.gathers();
        let rules = Rules::default();
        let (op, indices) = (Op::gather(0), || ids(place, &[0]));

        let got: Result<Tensor<3>, _> = gathers.gather(op, &rules, table(place), indices());
        let expected = Error::OutputRank {
            op: OpKind::Gather,
            got: 3,
            rank: 2,
            shape: vec![1, 2],
        };
        assert_eq!(got.unwrap_err(), expected);
        assert_eq!(
            expected.to_string(),
            "gather: the output has rank 2 (shape [1, 2]), but a Tensor<3> was asked for"
        );

        let elsewhere = Tensor::<2>::from_floats([[1.0]], &Device::flex());
        let got: Result<Tensor<2>, _> = gathers.gather(op, &rules, elsewhere, indices());
        match got.unwrap_err() {
            Error::OtherDevice {
                op: OpKind::Gather,
                role: Role::Params,
                ..
            } => (),
            other => panic!("{other}"),
        }

        let got: Result<Tensor<2>, _> =
            gathers.gather(Op::gather(2), &rules, table(place), indices());
        assert_eq!(
            got.unwrap_err().to_string(),
            "gather: axis 2 is out of range for params of rank 2 (allowed -2..=1)"
        );
        assert_eq!(gathers.check(), Ok(()));
    }
}

#[test]
fn bad_indices_are_zeros_and_reported_when_asked() {
    for place in places() {
        let gathers = place.gathers();
        let good = rows(place, &gathers, &[2, 0]);
        let bad = rows(place, &gathers, &[1, 7, -1]);
        let worse = rows(place, &gathers, &[9]);
        let values: Vec<f32> = bad.to_data().iter().collect();
        assert_eq!(values, [2.5, 3.5, 0.0, 0.0, 0.0, 0.0]);

        let first = bad_index(&gathers.check().unwrap_err());
        assert_eq!(
            first,
            "gather: indices[1] = 7 is out of bounds for params axis 0 of extent 3 (the first of 2 bad indices)"
        );
        let second = bad_index(&gathers.check().unwrap_err());
        assert_eq!(
            second,
            "gather: indices[0] = 9 is out of bounds for params axis 0 of extent 3"
        );
        assert_eq!(gathers.check(), Ok(()));
        drop((good, worse));

        let read = gathers.read(rows(place, &gathers, &[3]));
        let third = bad_index(&read.unwrap_err());
        assert_eq!(
            third,
            "gather: indices[0] = 3 is out of bounds for params axis 0 of extent 3"
        );
        assert!(gathers.read(rows(place, &gathers, &[2])).is_ok());
    }
}

/// More gathers than keep their statuses: nothing is lost.
#[test]
fn a_bad_index_among_thousands_is_not_lost() {
    for place in places() {
        let gathers = place.gathers();
        let mut last = rows(place, &gathers, &[4]);
        for _ in 0..1200 {
            last = rows(place, &gathers, &[0]);
        }
        assert_eq!(last.to_data().iter::<f32>().collect::<Vec<_>>(), [0.5, 1.5]);
        bad_index(&gathers.check().unwrap_err());
        assert_eq!(gathers.check(), Ok(()));
    }
}

/// Empty tensors, and an output that is one.
#[test]
fn empty_tensors_have_no_bad_index() {
    for place in places() {
        let gathers = place.gathers();
        let none = Tensor::<1, Int>::empty([0], &place.device);
        let rows: Tensor<2> = gathers
            .gather(Op::gather(0), &Rules::TORCH, table(place), none)
            .expect("the call is good");
        assert_eq!(rows.dims(), [0, 2]);

        // Nothing to read: zeros.
        let empty = Tensor::<2>::empty([0, 2], &place.device);
        let rows: Tensor<2> = gathers
            .gather(
                Op::gather(0),
                &Rules::TENSORFLOW_GPU,
                empty,
                ids(place, &[0, 5]),
            )
            .expect("the call is good");
        assert_eq!(rows.to_data().iter::<f32>().collect::<Vec<_>>(), [0.0; 4]);
        assert_eq!(gathers.check(), Ok(()));
    }
}

/// A device that burn runs on already, and tensors of another device of burn.
#[test]
fn a_device_is_made_once_and_its_tensors_are_its_own() {
    let name = "errors::a_device_is_made_once_and_its_tensors_are_its_own";
    alone(name, made_once);
}

fn made_once() {
    for place in places() {
        let again = Device::wgpu_options().graphics_api(place.backend);
        match Gathers::init(again) {
            Err(Error::Device { message }) => println!("{}: {message}", place.api),
            other => panic!("{other:?}"),
        }
        for elsewhere in places().iter().filter(|other| other.api != place.api) {
            let rows: Result<Tensor<2>, _> = place.gathers().gather(
                Op::gather(0),
                &Rules::default(),
                table(place),
                ids(elsewhere, &[0]),
            );
            match rows.unwrap_err() {
                Error::OtherDevice {
                    role: Role::Indices,
                    ..
                } => (),
                other => panic!("{other}"),
            }
        }
    }
}

/// burn on a wgpu device of the application's.
#[test]
fn a_device_of_the_application_is_shared() {
    let name = "errors::a_device_of_the_application_is_shared";
    alone(name, shared_with_the_application);
}

fn shared_with_the_application() {
    use burn::tensor::wgpu::WgpuSetup;
    use wgpu_gather::wgpu;
    let instance = wgpu::Instance::default();
    let adapter = pollster::block_on(instance.request_adapter(&Default::default())).unwrap();
    let wanted = wgpu::DeviceDescriptor {
        required_limits: adapter.limits(),
        ..Default::default()
    };
    let (device, queue) = pollster::block_on(adapter.request_device(&wanted)).unwrap();
    let backend = adapter.get_info().backend;
    let setup = WgpuSetup {
        instance,
        adapter,
        device,
        queue,
        backend,
    };
    let (device, gathers) = Gathers::share(Device::wgpu_options(), setup).unwrap();
    let table = Tensor::<1>::from_floats([1.0, 2.0, 3.0], &device).mul_scalar(2.0);
    let ids = Tensor::<1, Int>::from_ints([2, 0], &device);
    let rows: Tensor<1> = gathers
        .gather(Op::gather(0), &Rules::TORCH, table, ids)
        .unwrap();
    let rows = gathers.read(rows.add_scalar(1.0)).unwrap();
    assert_eq!(rows.iter::<f32>().collect::<Vec<_>>(), [7.0, 3.0]);
}
