# Steps of a script: a heading, how long each took, and at the end the names of what did not run. Sourced
# by tests/run.sh.
# shellcheck shell=bash

started=$SECONDS
step=
step_started=$SECONDS
scratch=$(mktemp -d)
# All that the steps say.
said=$scratch/said
touch "$said"

finish() {
    local status=$?
    if ((status != 0)); then
        printf '\nFAILED: %s, after %d s (%d s in all)\n' \
            "$step" $((SECONDS - step_started)) $((SECONDS - started))
    fi
    rm -rf "$scratch"
}
trap finish EXIT

# run TITLE COMMAND...: a step. It is a process of its own, so it sets no variables here.
run() {
    step=$1
    step_started=$SECONDS
    printf '\n=== %s\n' "$step"
    shift
    "$@" 2>&1 | tee -a "$said"
    printf -- '--- %s: %d s\n' "$step" $((SECONDS - step_started))
}

# only_results: what tests say with --show-output, but of those that passed only what they left out.
only_results() {
    awk '
        /^successes:$/ { passed = 1 }
        /^(failures:$|test result: )/ { passed = 0 }
        !passed || /^(SKIPPED|skipped)/ { print; fflush() }
    '
}

# left_out: what steps and tests said that they did not run, each once.
left_out() {
    grep --text -E '^(NOT RUN|NOT INSTALLED|SKIPPED|skipped)' "$said" | sort -u || true
}
