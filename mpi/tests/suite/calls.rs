//! Random calls against the reference.

use crate::kit::*;

#[test]
fn random_calls_agree_with_the_reference() {
    let cases = std::env::var("WGPU_GATHER_MPI_CASES").unwrap_or_else(|_| "2000".to_owned());
    for ranks in ranks() {
        for backend in backends() {
            // Each call makes a table, which takes a software adapter long.
            let cases = if backend[1] == "cpu" {
                cases.as_str()
            } else {
                "40"
            };
            let verify = [BINARY, "verify", "--random", cases].map(str::to_owned);
            let run = mpirun(&[(ranks, [&verify[..], &backend].concat())]);
            print!("{}", succeeds(&run));
        }
    }
}

#[test]
fn a_wrong_byte_on_one_rank_is_reported() {
    let verify = [
        BINARY,
        "verify",
        "--random",
        "20",
        "--backend",
        "cpu",
        "--plant",
    ];
    let run = mpirun(&[(3, verify.map(str::to_owned).to_vec())]);
    assert!(!run.status.success());
    assert!(text(&run.stderr).contains("rank 0: other bits than the reference"));
}
