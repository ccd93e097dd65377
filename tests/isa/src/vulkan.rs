//! A Vulkan device that is asked to compile, and for what it made of it. Nothing runs on it.
#![allow(unsafe_code, reason = "Vulkan's own interface")]

use std::error::Error;
use std::ffi::{CStr, CString, c_char};

use ash::{ext, khr, vk};

use crate::spirv::Shader;

/// What the driver says of a pipeline.
#[derive(Debug, Clone, Default)]
pub(crate) struct Compiled {
    pub(crate) statistics: Vec<(String, f64)>,
    /// The name and the text of each form in which the driver had the shader.
    pub(crate) texts: Vec<(String, String)>,
    /// Lanes of a wave.
    pub(crate) lanes: u32,
}

impl Compiled {
    pub(crate) fn statistic(&self, name: &str) -> Result<f64, String> {
        let found = self.statistics.iter().find(|(n, _)| n == name);
        let found = found.map(|(_, value)| *value);
        found.ok_or_else(|| format!("the driver has no statistic \"{name}\""))
    }

    /// AMD's machine instructions.
    pub(crate) fn assembly(&self) -> &str {
        let found = self.texts.iter().find(|(name, _)| name == "Assembly");
        found.map_or("", |(_, text)| text)
    }
}

pub(crate) struct Device {
    _entry: ash::Entry,
    instance: ash::Instance,
    device: ash::Device,
    executables: khr::pipeline_executable_properties::Device,
    /// The name of the device.
    pub(crate) name: String,
    /// The driver's version, such as `Mesa 25.0.7`.
    pub(crate) driver: String,
}

impl Device {
    /// The first device that there is.
    pub(crate) fn new() -> Result<Self, Box<dyn Error>> {
        let entry = unsafe { ash::Entry::load()? };
        let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_3);
        let info = vk::InstanceCreateInfo::default().application_info(&application);
        let instance = unsafe { entry.create_instance(&info, None)? };
        let physical = unsafe { instance.enumerate_physical_devices()? };
        let physical = *physical.first().ok_or("no Vulkan device")?;
        let mut driver = vk::PhysicalDeviceDriverProperties::default();
        let mut properties = vk::PhysicalDeviceProperties2::default().push_next(&mut driver);
        unsafe { instance.get_physical_device_properties2(physical, &mut properties) };
        let name = string(&properties.properties.device_name).trim().to_owned();
        let driver = string(&driver.driver_info);

        let queues = [vk::DeviceQueueCreateInfo::default()
            .queue_family_index(0)
            .queue_priorities(&[1.0])];
        let extensions: [*const c_char; 2] = [
            ext::robustness2::NAME.as_ptr(),
            khr::pipeline_executable_properties::NAME.as_ptr(),
        ];
        // What wgpu-hal enables and compilers heed.
        let features = vk::PhysicalDeviceFeatures::default().robust_buffer_access(true);
        let mut robustness = vk::PhysicalDeviceRobustness2FeaturesEXT::default()
            .robust_buffer_access2(true)
            .robust_image_access2(true);
        let mut memory_model =
            vk::PhysicalDeviceVulkanMemoryModelFeatures::default().vulkan_memory_model(true);
        let mut dot = vk::PhysicalDeviceShaderIntegerDotProductFeatures::default()
            .shader_integer_dot_product(true);
        let mut bytes = vk::PhysicalDeviceShaderFloat16Int8Features::default().shader_int8(true);
        let mut executable = vk::PhysicalDevicePipelineExecutablePropertiesFeaturesKHR::default()
            .pipeline_executable_info(true);
        let info = vk::DeviceCreateInfo::default()
            .queue_create_infos(&queues)
            .enabled_extension_names(&extensions)
            .enabled_features(&features)
            .push_next(&mut robustness)
            .push_next(&mut memory_model)
            .push_next(&mut dot)
            .push_next(&mut bytes)
            .push_next(&mut executable);
        let device = unsafe { instance.create_device(physical, &info, None)? };
        let executables = khr::pipeline_executable_properties::Device::new(&instance, &device);
        Ok(Device {
            _entry: entry,
            instance,
            device,
            executables,
            name,
            driver,
        })
    }

    /// With the texts of the driver, if asked for, which take time.
    pub(crate) fn compile(&self, shader: &Shader, texts: bool) -> Result<Compiled, vk::Result> {
        let device = &self.device;
        let entries: Vec<_> = (0..).zip(&shader.uniforms).map(layout_entry).collect();
        let sets = vk::DescriptorSetLayoutCreateInfo::default().bindings(&entries);
        let sets = [unsafe { device.create_descriptor_set_layout(&sets, None)? }];
        let layout = vk::PipelineLayoutCreateInfo::default().set_layouts(&sets);
        let layout = unsafe { device.create_pipeline_layout(&layout, None)? };
        let module = vk::ShaderModuleCreateInfo::default().code(&shader.words);
        let module = unsafe { device.create_shader_module(&module, None)? };
        let entry = CString::new(shader.entry_point).expect("an identifier");
        let stage = vk::PipelineShaderStageCreateInfo::default()
            .stage(vk::ShaderStageFlags::COMPUTE)
            .module(module)
            .name(&entry);
        let mut flags = vk::PipelineCreateFlags::CAPTURE_STATISTICS_KHR;
        if texts {
            flags |= vk::PipelineCreateFlags::CAPTURE_INTERNAL_REPRESENTATIONS_KHR;
        }
        let info = [vk::ComputePipelineCreateInfo::default()
            .flags(flags)
            .stage(stage)
            .layout(layout)];
        let none = vk::PipelineCache::null();
        let pipelines = unsafe { device.create_compute_pipelines(none, &info, None) };
        let pipeline = pipelines.map_err(|(_, error)| error)?[0];
        let compiled = self.describe(pipeline, texts);
        unsafe {
            device.destroy_pipeline(pipeline, None);
            device.destroy_shader_module(module, None);
            device.destroy_pipeline_layout(layout, None);
            device.destroy_descriptor_set_layout(sets[0], None);
        }
        compiled
    }

    fn describe(&self, pipeline: vk::Pipeline, texts: bool) -> Result<Compiled, vk::Result> {
        let info = vk::PipelineInfoKHR::default().pipeline(pipeline);
        let executable = vk::PipelineExecutableInfoKHR::default().pipeline(pipeline);
        let extension = &self.executables;
        let properties = unsafe { extension.get_pipeline_executable_properties(&info)? };
        let statistics = unsafe { extension.get_pipeline_executable_statistics(&executable)? };
        Ok(Compiled {
            statistics: statistics.iter().map(number).collect(),
            texts: match texts {
                true => self.texts(&executable)?,
                false => Vec::new(),
            },
            lanes: properties[0].subgroup_size,
        })
    }

    /// Asked for twice: first how long the texts are, then for the texts.
    fn texts(
        &self,
        executable: &vk::PipelineExecutableInfoKHR<'_>,
    ) -> Result<Vec<(String, String)>, vk::Result> {
        let extension = &self.executables;
        let ask = extension
            .fp()
            .get_pipeline_executable_internal_representations_khr;
        let mut forms =
            unsafe { extension.get_pipeline_executable_internal_representations(executable)? };
        let mut buffers: Vec<_> = forms.iter().map(|form| vec![0u8; form.data_size]).collect();
        for (form, buffer) in forms.iter_mut().zip(&mut buffers) {
            form.p_data = buffer.as_mut_ptr().cast();
        }
        let mut count = forms.len() as u32;
        let (handle, forms_at) = (extension.device(), forms.as_mut_ptr());
        unsafe { ask(handle, executable, &mut count, forms_at).result()? };
        let named = forms.iter().zip(&buffers).map(|(form, buffer)| {
            let text = String::from_utf8_lossy(buffer);
            let text = text.trim_end_matches('\0').to_owned();
            (string(&form.name), text)
        });
        Ok(named.collect())
    }
}

impl Drop for Device {
    fn drop(&mut self) {
        unsafe {
            self.device.destroy_device(None);
            self.instance.destroy_instance(None);
        }
    }
}

fn layout_entry((number, uniform): (u32, &bool)) -> vk::DescriptorSetLayoutBinding<'static> {
    let kind = match uniform {
        true => vk::DescriptorType::UNIFORM_BUFFER,
        false => vk::DescriptorType::STORAGE_BUFFER,
    };
    vk::DescriptorSetLayoutBinding::default()
        .binding(number)
        .descriptor_type(kind)
        .descriptor_count(1)
        .stage_flags(vk::ShaderStageFlags::COMPUTE)
}

fn number(statistic: &vk::PipelineExecutableStatisticKHR<'_>) -> (String, f64) {
    use vk::PipelineExecutableStatisticFormatKHR as Format;
    let value = unsafe {
        match statistic.format {
            Format::BOOL32 => f64::from(statistic.value.b32),
            Format::INT64 => statistic.value.i64 as f64,
            Format::UINT64 => statistic.value.u64 as f64,
            _ => statistic.value.f64,
        }
    };
    (string(&statistic.name), value)
}

fn string(chars: &[c_char]) -> String {
    let text = unsafe { CStr::from_ptr(chars.as_ptr()) };
    text.to_string_lossy().into_owned()
}
