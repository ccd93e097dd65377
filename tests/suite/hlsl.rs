//! Every pipeline as HLSL, through Microsoft's compilers: FXC, which wgpu's DX12 backend takes where
//! there is no `dxcompiler.dll`, and DXC. With the options of that backend, except that warnings of
//! DXC are not turned off. What compiles may still be compiled wrongly: `faults.rs` is about that.
#![allow(unsafe_code, reason = "the compilers are libraries of C and COM")]

use std::ffi::CString;

use naga::back::hlsl::ShaderModel;
use wgpu_gather::gpu::internals::pipelines;
use windows::Win32::Graphics::Direct3D::Dxc::{
    CLSID_DxcCompiler, DXC_ARG_ENABLE_STRICTNESS, DXC_CP_UTF8, DXC_OUT_ERRORS, DxcBuffer,
    IDxcBlobUtf8, IDxcCompiler3, IDxcResult,
};
use windows::Win32::Graphics::Direct3D::Fxc::{D3DCOMPILE_ENABLE_STRICTNESS, D3DCompile};
use windows::Win32::Graphics::Direct3D::ID3DBlob;
use windows::Win32::System::LibraryLoader::{GetProcAddress, LoadLibraryW};
use windows::core::{GUID, HRESULT, HSTRING, Interface, PCSTR, PCWSTR, s, w};

use crate::shaders::{resolve, write_hlsl};

/// Warnings with nothing wrong behind them: their words, the function that they must be about, if not any, and why
/// they are given.
const EXPLAINED: &[(&str, &str, &str)] = &[
    (
        "X3557: loop only executes for 1 iteration(s), forcing loop to unroll",
        "",
        "a pipeline for two segments looks for one after the first",
    ),
    (
        "X3557: loop only executes for 0 iteration(s), forcing loop to unroll",
        "modulo",
        "a pipeline for indices of 32 bits has no high word",
    ),
    (
        "equality comparison with extraneous parentheses",
        "",
        "naga puts parentheses around every expression",
    ),
];

/// A compiler: the text and the name of its entry point to what it has to say, as an error if it
/// refuses.
type Compile<'a> = dyn Fn(&str, &str) -> Result<String, String> + 'a;

fn compile_with_fxc(text: &str, entry: &str) -> Result<String, String> {
    let entry = CString::new(entry).unwrap();
    let (mut code, mut said) = (None, None);
    // SAFETY: the pointers and the length are of values that outlive the call.
    let result = unsafe {
        D3DCompile(
            text.as_ptr().cast(),
            text.len(),
            PCSTR::null(),
            None,
            None,
            PCSTR(entry.as_ptr().cast()),
            s!("cs_5_1"),
            D3DCOMPILE_ENABLE_STRICTNESS,
            0,
            &mut code,
            Some(&mut said),
        )
    };
    let said = said.map_or(String::new(), |blob| text_of(&blob));
    match result {
        Ok(()) => Ok(said),
        Err(error) => Err(format!("{error}: {said}")),
    }
}

fn text_of(blob: &ID3DBlob) -> String {
    // SAFETY: a blob owns so many bytes from there on.
    let bytes = unsafe {
        std::slice::from_raw_parts(blob.GetBufferPointer().cast::<u8>(), blob.GetBufferSize())
    };
    String::from_utf8_lossy(bytes)
        .trim_end_matches('\0')
        .to_owned()
}

/// The compiler of `dxcompiler.dll`, or of the library that `WGPU_GATHER_DXC` names.
fn load_dxc() -> IDxcCompiler3 {
    type Create =
        unsafe extern "system" fn(*const GUID, *const GUID, *mut Option<IDxcCompiler3>) -> HRESULT;
    let path = std::env::var("WGPU_GATHER_DXC").unwrap_or_else(|_| "dxcompiler.dll".to_owned());
    // SAFETY: the library stays loaded, and its function has this signature: it writes an
    // interface of the kind that the second id names.
    unsafe {
        let library = LoadLibraryW(&HSTRING::from(&path)).unwrap_or_else(|e| {
            panic!(
                "{path}: {e}. It is in the Windows SDK and in the npm package `webgpu`; \
                 WGPU_GATHER_DXC says where"
            )
        });
        let create = GetProcAddress(library, s!("DxcCreateInstance")).expect("DxcCreateInstance");
        let create: Create = std::mem::transmute(create);
        let mut made = None;
        let result = create(&CLSID_DxcCompiler, &IDxcCompiler3::IID, &mut made);
        result.ok().expect("a compiler");
        made.expect("a compiler")
    }
}

fn compile_with_dxc(dxc: &IDxcCompiler3, text: &str, entry: &str) -> Result<String, String> {
    let entry = HSTRING::from(entry);
    let arguments = [
        w!("-E"),
        PCWSTR(entry.as_ptr()),
        w!("-T"),
        w!("cs_6_0"),
        w!("-HV"),
        w!("2018"),
        DXC_ARG_ENABLE_STRICTNESS,
    ];
    let source = DxcBuffer {
        Ptr: text.as_ptr().cast(),
        Size: text.len(),
        Encoding: DXC_CP_UTF8.0,
    };
    // SAFETY: the pointers are to values that outlive the calls.
    unsafe {
        let result: IDxcResult = dxc
            .Compile(&source, Some(&arguments), None)
            .map_err(|e| e.to_string())?;
        let mut said: Option<IDxcBlobUtf8> = None;
        let mut name = None;
        result
            .GetOutput(DXC_OUT_ERRORS, &mut name, &mut said)
            .map_err(|e| e.to_string())?;
        let said = said.map_or(String::new(), |blob| {
            let bytes = std::slice::from_raw_parts(
                blob.GetStringPointer().0.cast::<u8>(),
                blob.GetStringLength(),
            );
            String::from_utf8_lossy(bytes).into_owned()
        });
        let status = result.GetStatus().map_err(|e| e.to_string())?;
        if status.is_ok() { Ok(said) } else { Err(said) }
    }
}

fn is_explained(warning: &str, text: &str) -> bool {
    EXPLAINED.iter().any(|&(words, function, _)| {
        let is_there = || function_of(warning, text).is_some_and(|found| found.contains(function));
        warning.contains(words) && (function.is_empty() || is_there())
    })
}

/// The head of the function that a warning of FXC is about: "…(line,columns): warning …".
fn function_of<'a>(warning: &str, text: &'a str) -> Option<&'a str> {
    let (place, _) = warning.split_once("): warning")?;
    let (line, _) = place.rsplit_once('(')?.1.split_once(',')?;
    let before = text.lines().take(line.parse().ok()?);
    let heads = before.filter(|line| line.contains('(') && !line.starts_with(' '));
    heads.last()
}

/// Compiles every pipeline, and says what must not be said.
fn complaints(model: ShaderModel, compile: &Compile<'_>) -> Vec<String> {
    let mut all = Vec::new();
    for pipeline in pipelines(6) {
        let (module, info) = resolve(&pipeline);
        let (text, entry) = write_hlsl(&module, &info, pipeline.entry_point, model);
        let name = &pipeline.name;
        match compile(&text, &entry) {
            Ok(said) => {
                let lines = said.lines().filter(|line| line.contains(": warning"));
                let unexplained = lines.filter(|line| !is_explained(line, &text));
                all.extend(unexplained.map(|line| format!("{name}: {line}")));
            }
            Err(error) => all.push(format!("{name}: {error}")),
        }
    }
    all
}

#[test]
fn fxc_compiles_every_pipeline() {
    let all = complaints(ShaderModel::V5_1, &compile_with_fxc);
    assert!(all.is_empty(), "{}:\n{}", all.len(), all.join("\n"));
}

#[test]
fn dxc_compiles_every_pipeline() {
    let dxc = load_dxc();
    let compile = |text: &str, entry: &str| compile_with_dxc(&dxc, text, entry);
    let all = complaints(ShaderModel::V6_0, &compile);
    assert!(all.is_empty(), "{}:\n{}", all.len(), all.join("\n"));
}

#[test]
fn both_compilers_refuse_and_warn() {
    let dxc = load_dxc();
    let dxc = |text: &str, entry: &str| compile_with_dxc(&dxc, text, entry);
    let compilers: [(&str, &Compile<'_>); 2] = [("FXC", &compile_with_fxc), ("DXC", &dxc)];
    for (name, compile) in compilers {
        let with = |body: &str| {
            let text = format!(
                "RWByteAddressBuffer o : register(u0);\n[numthreads(1, 1, 1)]\nvoid main() {{ {body} }}"
            );
            compile(&text, "main")
        };
        assert_eq!(with("o.Store(0, 1u);"), Ok(String::new()), "{name}");
        let refused = with("o.Store(0, there_is_no_such_thing);").unwrap_err();
        assert!(
            refused.contains("there_is_no_such_thing"),
            "{name}: {refused}"
        );
        let warned = with("uint2 pair = uint2(1u, 2u); uint one = pair; o.Store(0, one);").unwrap();
        assert!(warned.contains("warning"), "{name}: {warned}");
    }
}

#[test]
fn a_warning_is_explained_in_the_function_that_it_is_about() {
    let text =
        "uint2 modulo(uint2 a)\n{\n    while(true) {}\n}\nvoid main()\n{\n    while(true) {}\n}\n";
    let warned = |line: u32| {
        let words = "X3557: loop only executes for 0 iteration(s), forcing loop to unroll";
        is_explained(&format!("Shader@0x1({line},5-15): warning {words}"), text)
    };
    assert_eq!([warned(3), warned(7)], [true, false]);
}
