//! An executor, and calls from host to host.

use js_sys::{Array, Object, Promise, Uint8Array};
use wasm_bindgen::prelude::*;
use wasm_bindgen_futures::future_to_promise;
use wgpu_gather::gpu::{Engine, Options, find_adapter, internals, requirements};
use wgpu_gather::{AnyTensor, BindingLimits, Executor, Explanation, wgpu};

use crate::call::Call;
use crate::failure::{failure, not_a_call, number, set};

/// What becomes of the text of a shader.
type Change = fn(String) -> String;

/// Faults of shaders, with their names.
const FAULTS: [(&str, Change); 5] = [
    ("does not compile", |source| source + "fn"),
    ("reads a step too far", |source| {
        source.replace("params[", "params[1u + ")
    }),
    ("loses the last update", |source| {
        source.replace("(n < end) & (pair.x", "(n + 1u < end) & (pair.x")
    }),
    ("leaves out the last row of a bag", |source| {
        source.replace("for (; lookup < end;", "for (; lookup + 1u < end;")
    }),
    ("takes the scale of another block", |source| {
        source.replace("scale_at(block_a)", "scale_at(block_a ^ 1u)")
    }),
];

/// The GPU of the browser, or the CPU path.
#[wasm_bindgen]
pub struct RawEngine {
    executor: Executor,
}

#[wasm_bindgen]
impl RawEngine {
    /// The CPU path.
    pub fn cpu() -> RawEngine {
        let executor = Executor::Cpu;
        RawEngine { executor }
    }

    /// An engine on a device of its own.
    pub fn gpu() -> Promise {
        future_to_promise(async {
            let engine = Engine::headless(None).await.map_err(|e| failure(&e))?;
            Ok(RawEngine::on(engine).into())
        })
    }

    /// For tests: an engine whose shaders have a fault, by its name in [`FAULTS`].
    #[wasm_bindgen(js_name = withPlantedFault)]
    pub fn with_planted_fault(name: String) -> Promise {
        future_to_promise(async move {
            let named = FAULTS.iter().find(|(fault, _)| *fault == name);
            let &(_, fault) = named.ok_or_else(|| not_a_call("there is no such fault"))?;
            let adapter = find_adapter(None).await.map_err(|e| failure(&e))?;
            let descriptor = wgpu::DeviceDescriptor {
                required_limits: requirements::usable_limits(&adapter),
                ..Default::default()
            };
            let made = adapter.request_device(&descriptor).await;
            let (device, queue) = made.map_err(|e| not_a_call(&e.to_string()))?;
            let options = internals::with_fault(fault);
            let engine = Engine::with_options(device, queue, options).await;
            Ok(RawEngine::on(engine.map_err(|e| failure(&e))?).into())
        })
    }

    /// What it runs on.
    pub fn describe(&self) -> String {
        self.executor.describe()
    }

    /// Bytes of buffers that freed tensors left for later ones.
    #[wasm_bindgen(js_name = unusedBytes)]
    pub fn pool_bytes(&self) -> f64 {
        self.engine()
            .map_or(0.0, |engine| engine.pool_bytes() as f64)
    }

    /// How the device executes a call and why, in words. For the CPU path: how a device would that
    /// has no more than WebGPU's default limits.
    pub fn explain(&self, call: &str) -> Result<String, JsValue> {
        let plan = Call::read(call)?.plan()?;
        let limits = match self.engine() {
            Some(engine) => *engine.binding_limits(),
            None => BindingLimits::new(&wgpu::Limits::default(), Options::default().max_pass_bytes),
        };
        let explanation = Explanation::new(&plan, &limits).map_err(|e| failure(&e))?;
        Ok(explanation.to_string())
    }

    /// Gathers from host to host.
    pub fn gather(&self, call: &str, params: Vec<u8>, indices: Vec<u8>) -> Promise {
        let (call, executor) = (Call::read(call), self.executor.clone());
        future_to_promise(async move {
            let call = call?;
            let (op, rules) = (call.op()?, call.rules()?);
            let (params, indices) = (call.params(&params)?, call.indices(&indices)?);
            let made = executor.gather(op, &rules, &params, &indices).await;
            host_tensor(made)
        })
    }
}

impl RawEngine {
    fn on(engine: Engine) -> Self {
        let executor = Executor::Gpu(engine);
        RawEngine { executor }
    }

    pub(crate) fn executor(&self) -> &Executor {
        &self.executor
    }

    pub(crate) fn engine(&self) -> Option<&Engine> {
        match &self.executor {
            Executor::Gpu(engine) => Some(engine),
            _ => None,
        }
    }
}

/// `{ shape, bytes }` of what a call made.
pub(crate) fn host_tensor(made: wgpu_gather::Result<AnyTensor>) -> Result<JsValue, JsValue> {
    let made = made.map_err(|e| failure(&e))?;
    let tensor = Object::new();
    set(&tensor, "shape", &shape_array(made.shape()));
    set(&tensor, "bytes", &Uint8Array::from(made.bytes()));
    Ok(tensor.into())
}

pub(crate) fn shape_array(shape: &[usize]) -> Array {
    shape.iter().map(|&n| number(n as f64)).collect()
}
