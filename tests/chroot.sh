# Debian systems in folders of their own, for drivers and programs that the machine lacks or has in
# another version. Sourced by the scripts beside it, from the root of the checkout.
# shellcheck shell=bash
#
#   WGPU_GATHER_CHROOTS=DIR  where the systems and what else is fetched are kept from run to run

chroots=${WGPU_GATHER_CHROOTS:-/var/cache/wgpu-gather}

# chroot_lacks: what keeps this machine from having them; nothing, if nothing does.
chroot_lacks() {
    if [[ $(uname -s) != Linux || $(uname -m) != x86_64 ]]; then
        echo "Linux on x86_64"
    elif [[ $(id -u) != 0 ]]; then
        echo "root"
    elif ! command -v apt-get >/dev/null; then
        echo "Debian or Ubuntu (apt-get)"
    elif ! unshare --mount true 2>/dev/null; then
        echo "the right to mount (unshare --mount)"
    fi
}

# leave_if_lacking WHAT WANTED: ends the script, and says why, if something is lacking or it is not
# wanted (0). That is a failure if it is wanted (1).
leave_if_lacking() {
    local lacks=$1
    if [[ $2 == 0 ]]; then
        lacks="to be wanted (it is set to 0)"
    fi
    if [[ -n $lacks ]]; then
        echo "NOT RUN: $(basename "$0") needs $lacks"
        [[ $2 != 1 ]]
        exit
    fi
}

# install PACKAGE...: the system's packages that are not there yet.
install() {
    local package missing=()
    for package in "$@"; do
        dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null |
            grep -qx installed || missing+=("$package")
    done
    if ((${#missing[@]} == 0)); then
        return
    fi
    echo "installing ${missing[*]}"
    apt-get update --quiet=2
    DEBIAN_FRONTEND=noninteractive \
        apt-get install --quiet=2 --yes --no-install-recommends "${missing[@]}" >/dev/null
}

# make_chroot SUITE PACKAGE...: the system of a suite of Debian with these packages.
make_chroot() {
    local suite=$1 root=$chroots/$1
    shift
    if [[ ! -e $root/complete ]]; then
        install debootstrap debian-archive-keyring
        rm -rf "$root"
        mkdir -p "$root"
        echo "making Debian $suite in $root"
        debootstrap --variant=minbase "$suite" "$root" >"$root.log" 2>&1 ||
            { tail -n 5 "$root.log" && return 1; }
        # The lists of testing expire within days, and a mirror may lag behind.
        echo 'Acquire::Check-Valid-Until "false";' >"$root/etc/apt/apt.conf.d/lagging-mirror"
        touch "$root/complete"
    fi
    in_chroot "$suite" bash -euo pipefail -c "$(declare -f install); install \"\$@\"" bash "$@"
}

# in_chroot SUITE COMMAND...: runs it in that system, in this folder of this checkout. What is mounted
# for it, and whatever it leaves running, is gone when it ends.
in_chroot() {
    local root=$chroots/$1
    shift
    # shellcheck disable=SC2016 # for the inner shell
    unshare --mount --pid --fork --kill-child --propagation private bash -euo pipefail -c '
        root=$1 top=$2 kept=$3 built=$4
        shift 4
        for folder in /dev /sys "$top" "$kept" "$built"; do
            mkdir -p "$root$folder"
            mount --rbind "$folder" "$root$folder"
        done
        mount -t proc proc "$root/proc"
        # Not as process 1, to which an X server sends no word that it is ready.
        chroot "$root" env --chdir="$top" HOME=/root XDG_RUNTIME_DIR=/tmp \
            PATH=/usr/sbin:/usr/bin:/sbin:/bin "$@" || exit
    ' bash "$root" "$PWD" "$chroots/files" "$(realpath "${CARGO_TARGET_DIR:-target}")" "$@"
}

# mesa_of SUITE: the version of that system's drivers.
mesa_of() {
    # shellcheck disable=SC2016 # the query's own variable
    in_chroot "$1" dpkg-query --show --showformat='Mesa ${source:Upstream-Version}' mesa-vulkan-drivers
}

# build_tests CARGO_ARGUMENT...: builds the suite, the examples, which it runs, and the command, which its own tests
# need, with the same features, so that what they share is compiled once; sets `suite` and `command` to their paths.
build_tests() {
    local log
    log=$(mktemp)
    # The examples by themselves: with --examples cargo makes tests of them.
    if ! {
        cargo build --workspace --all-features --locked --examples --color never "$@" &&
            cargo test --workspace --all-features --locked --no-run --test suite --test cli --color never "$@"
    } &>"$log"; then
        cat "$log"
        return 1
    fi
    suite=$(sed -n 's/.*Executable tests\/suite\/main.rs (\(.*\))/\1/p' "$log")
    # shellcheck disable=SC2034 # for who sources this
    command=${suite%/deps/*}/wgpu-gather
    rm "$log"
}

# build_program NAME: builds a program of the workspace; sets `program` to its path. With the tests, as by
# itself it has other features of wgpu, which would be built once more.
build_program() {
    cargo build --workspace --all-features --locked --quiet --tests --bin "$1"
    # shellcheck disable=SC2034 # for who sources this
    program=$(realpath "${CARGO_TARGET_DIR:-target}")/debug/$1
}

# The sums of what ran, for `report`.
passed=0 failed=0 skipped=0

# count FILE RUNS: adds up what the tests and the command said in a file, which must hold the results
# of so many runs. Prints the results, what was skipped by name, and last what the failures said; all of
# the file, if it says nothing of failures.
count() {
    local results skips
    results=$(grep --text -E '^test result: |^[0-9]+ passed, [0-9]+ failed, [0-9]+ skipped' "$1" || true)
    skips=$(grep --text -E '^(skipped|SKIPPED)' "$1" || true)
    sum() {
        { grep -o "[0-9]* $1" <<<"$results" || true; } | awk '{ sum += $1 } END { print sum + 0 }'
    }
    lines() {
        grep -c "$1" <<<"$2" || true
    }
    local wrong
    wrong=$(sum failed)
    if (($(lines . "$results") != $2)); then
        echo "FAILED: $(lines . "$results") of $2 runs came to their end"
        wrong=$((wrong + 1))
    fi
    printf '%s\n' "$results"
    [[ -z $skips ]] || printf '%s\n' "$skips"
    ((wrong == 0)) || failures "$1"
    # A test that says that it skipped something has passed for its harness.
    passed=$((passed + $(sum passed) - $(lines ^SKIPPED "$skips")))
    failed=$((failed + wrong))
    skipped=$((skipped + $(lines . "$skips")))
}

# failures FILE: what the tests that failed printed; all that is there, where they did not come to list it.
failures() {
    if grep --text --quiet '^failures:$' "$1"; then
        sed -n '/^failures:$/,$p' "$1"
    else
        cat "$1"
    fi
}

# system_name: this machine's, in short: `Debian 12`.
system_name() {
    (. /etc/os-release 2>/dev/null && echo "${NAME%% GNU/*} ${VERSION_ID:-}") || uname -s
}

# ran KEY API COMPILER WHERE WHAT: notes what has run where, for docs/platforms.md, unless something failed
# before (tests/steps.sh gathers these lines). A later run has the same key.
ran() {
    ((failed != 0)) || printf 'RAN\t%s\t%s\t%s\t%s\t%s\n' "$@"
}

# report: the last line, and the status.
report() {
    printf '%d passed, %d failed, %d skipped\n' $passed $failed $skipped
    ((failed == 0))
}
