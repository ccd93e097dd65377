//! Loops that are compiled several times, for the vectors that a processor may have.

#[cfg(target_arch = "x86_64")]
use crate::fold::F16c;

/// The vectors of a processor, as far as loops are compiled for them.
#[derive(Clone, Copy)]
pub(super) enum Vectors {
    /// Those that each processor of its kind has.
    Least,
    #[cfg(target_arch = "x86_64")]
    Avx2(F16c),
    #[cfg(target_arch = "x86_64")]
    Avx512(F16c),
}

/// How many columns whose sums have 4 bytes are folded together: the sums are in half of the registers that AVX2 and
/// NEON have.
pub(super) const WIDE: usize = 64;
/// The same for AVX-512.
pub(super) const WIDE_AVX512: usize = 4 * WIDE;
/// The same for what each processor of a kind has; none for an x86.
pub(super) const WIDE_LEAST: usize = if cfg!(target_arch = "x86_64") {
    0
} else {
    WIDE
};

impl Vectors {
    /// How many columns are folded together, as `WIDE` in [`vectorized`].
    pub(super) fn wide(self) -> usize {
        match self {
            Vectors::Least => WIDE_LEAST,
            #[cfg(target_arch = "x86_64")]
            Vectors::Avx2(_) => WIDE,
            #[cfg(target_arch = "x86_64")]
            Vectors::Avx512(_) => WIDE_AVX512,
        }
    }

    /// The conversions that come with AVX-512, if that is there.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    pub(super) fn avx512(self) -> Option<F16c> {
        match self {
            Vectors::Avx512(f16c) => Some(f16c),
            Vectors::Avx2(_) | Vectors::Least => None,
        }
    }

    /// Those that come with AVX2.
    #[cfg(target_arch = "x86_64")]
    #[inline]
    pub(super) fn avx2(self) -> Option<F16c> {
        match self {
            Vectors::Avx512(f16c) | Vectors::Avx2(f16c) => Some(f16c),
            Vectors::Least => None,
        }
    }

    /// Those that loops take here.
    #[inline]
    pub(super) fn of_processor() -> Self {
        #[cfg(target_arch = "x86_64")]
        if std::arch::is_x86_feature_detected!("avx2")
            && let Some(f16c) = F16c::of_processor()
        {
            let has_avx512 = std::arch::is_x86_feature_detected!("avx512f")
                && std::arch::is_x86_feature_detected!("avx512bw")
                && std::arch::is_x86_feature_detected!("avx512dq")
                && std::arch::is_x86_feature_detected!("avx512vl");
            let vectors = match has_avx512 {
                true => Vectors::Avx512(f16c),
                false => Vectors::Avx2(f16c),
            };
            #[cfg(test)]
            let vectors = tests::at_most(vectors);
            return vectors;
        }
        Vectors::Least
    }
}

/// Defines functions whose loops are compiled once more for AVX2, and those marked `[Avx512]` for AVX-512 as well, and
/// which take those that the processor has. In their bodies `WIDE` is how many columns are folded together, and the
/// first argument, which is not handed in, is F16C where the loops are compiled for it: so no row asks what the
/// processor has, and no loop has instructions for both answers, between which sums would lie in memory. The condition
/// after `if` is one of the types: where it is false there is nothing to vectorize.
///
/// Where `WIDE` is 0, for an x86 without AVX2, loops are fewer: all of them take several times as long to compile.
macro_rules! vectorized {
    (@for_avx512 Avx512) => { true };
    (@for_avx512 Avx2) => { false };
    ($($(#[$attribute:meta])*
    [$most:ident $(if $pays:expr)?] fn $name:ident<$($G:ident: $bound:path),+>(
        $f16c:ident; $($argument:ident: $type:ty),* $(,)?
    ) $(-> $output:ty)? $body:block)*) => {$(
        $(#[$attribute])*
        #[cfg_attr(
            target_arch = "x86_64",
            allow(unsafe_code, reason = "functions for processors with AVX2 or AVX-512")
        )]
        pub(super) fn $name<$($G: $bound),+>($($argument: $type),*) $(-> $output)? {
            #[inline(always)]
            fn loops<$($G: $bound,)+ const WIDE: usize>(
                $f16c: Option<$crate::fold::F16c>, $($argument: $type),*
            ) $(-> $output)? $body
            #[cfg(target_arch = "x86_64")]
            if true $(&& $pays)? {
                #[target_feature(enable = "avx512f,avx512bw,avx512dq,avx512vl,avx2,f16c")]
                fn with_avx512<$($G: $bound),+>(
                    f16c: $crate::fold::F16c, $($argument: $type),*
                ) $(-> $output)? {
                    loops::<$($G,)+ { $crate::cpu::vectors::WIDE_AVX512 }>(
                        Some(f16c.for_avx512()), $($argument),*
                    )
                }
                #[target_feature(enable = "avx2,f16c")]
                fn with_avx2<$($G: $bound),+>(
                    f16c: $crate::fold::F16c, $($argument: $type),*
                ) $(-> $output)? {
                    loops::<$($G,)+ { $crate::cpu::vectors::WIDE }>(
                        Some(f16c.for_avx2()), $($argument),*
                    )
                }
                let vectors = $crate::cpu::vectors::Vectors::of_processor();
                // The constant is asked first: what is never called is not compiled.
                if vectorized!(@for_avx512 $most) && let Some(f16c) = vectors.avx512() {
                    // SAFETY: the processor has AVX-512, AVX2 and F16C.
                    return unsafe { with_avx512::<$($G),+>(f16c, $($argument),*) };
                }
                if let Some(f16c) = vectors.avx2() {
                    // SAFETY: the processor has AVX2 and F16C.
                    return unsafe { with_avx2::<$($G),+>(f16c, $($argument),*) };
                }
            }
            loops::<$($G,)+ { $crate::cpu::vectors::WIDE_LEAST }>(None, $($argument),*)
        }
    )*};
}
pub(super) use vectorized;

#[cfg(test)]
pub(super) mod tests {
    use std::cell::Cell;

    use super::*;

    impl Vectors {
        fn number(self) -> u8 {
            match self {
                Vectors::Least => 0,
                #[cfg(target_arch = "x86_64")]
                Vectors::Avx2(_) => 1,
                #[cfg(target_arch = "x86_64")]
                Vectors::Avx512(_) => 2,
            }
        }
    }

    thread_local! {
        /// The number of the most that a thread takes.
        static MOST: Cell<u8> = const { Cell::new(u8::MAX) };
    }

    #[cfg(target_arch = "x86_64")]
    pub(super) fn at_most(vectors: Vectors) -> Vectors {
        match (vectors, MOST.get()) {
            (_, 0) => Vectors::Least,
            (Vectors::Avx512(f16c), 1) => Vectors::Avx2(f16c),
            _ => vectors,
        }
    }

    /// Calls `check` with the loops for each kind of vectors that this processor has, on threads of its own.
    pub(crate) fn with_each_kind(check: impl Fn() + Sync) {
        for most in 0..Vectors::of_processor().number() {
            with(most, &|| {
                assert_eq!(Vectors::of_processor().number(), most);
                check();
            });
        }
        check();
    }

    #[cfg(all(feature = "rayon", not(target_arch = "wasm32")))]
    fn with(most: u8, check: &(impl Fn() + Sync)) {
        let pool = rayon::ThreadPoolBuilder::new().start_handler(move |_| MOST.set(most));
        pool.build().unwrap().install(check);
    }

    #[cfg(not(all(feature = "rayon", not(target_arch = "wasm32"))))]
    fn with(most: u8, check: &(impl Fn() + Sync)) {
        MOST.set(most);
        check();
        MOST.set(u8::MAX);
    }
}
