//! The library's errors as JavaScript sees them.

use js_sys::{Array, BigInt, Object, Reflect};
use wasm_bindgen::JsValue;
use wgpu_gather::Error;

/// A failure of a call: what the library says, or a call that makes no sense.
pub(crate) fn failure(error: &Error) -> JsValue {
    let debug = format!("{error:?}");
    let variant = debug.split(|c: char| !c.is_alphanumeric()).next();
    let thrown = thrown(variant.unwrap_or_default(), &error.to_string());
    if let Error::IndexOutOfBounds(bad) = error {
        let position: Array = bad.position.iter().map(|&n| number(n as f64)).collect();
        let value = BigInt::from(bad.value).into();
        set(&thrown, "position", &position);
        set(&thrown, "value", &value);
        set(&thrown, "axis", &number(bad.axis as f64));
        set(&thrown, "extent", &number(bad.extent as f64));
        set(&thrown, "count", &number(bad.count as f64));
    }
    thrown.into()
}

/// A call that cannot be read.
pub(crate) fn not_a_call(reason: &str) -> JsValue {
    thrown("Call", reason).into()
}

/// What `index.js` makes a `GatherError` of.
fn thrown(code: &str, message: &str) -> Object {
    let thrown = Object::new();
    set(&thrown, "code", &code.into());
    set(&thrown, "message", &message.into());
    thrown
}

pub(crate) fn set(object: &Object, key: &str, value: &JsValue) {
    // Fails for frozen objects only.
    let _ = Reflect::set(object, &key.into(), value);
}

pub(crate) fn number(value: f64) -> JsValue {
    JsValue::from_f64(value)
}
