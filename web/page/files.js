// Arrays of .npy files, in and out.
import { takeArray } from './form.js';
import { readNpy, writeNpy } from './npy.js';

const $ = (id) => document.getElementById(id);

/** Takes files as params, indices or updates: `changed()` after one, `say(error)` where that fails. */
export function acceptFiles(changed, say) {
  const take = async (role, file) => {
    try {
      takeArray(role, readNpy(await file.arrayBuffer()));
    } catch (error) {
      return say(error);
    }
    return changed();
  };
  for (const role of ['params', 'indices', 'updates']) {
    const [section, input] = [$(role), $(`${role}-file`)];
    input.onchange = () => input.files[0] && take(role, input.files[0]).then(() => (input.value = ''));
    section.ondragover = (event) => {
      event.preventDefault();
      section.classList.add('over');
    };
    section.ondragleave = () => section.classList.remove('over');
    section.ondrop = (event) => {
      event.preventDefault();
      section.classList.remove('over');
      if (event.dataTransfer.files[0]) take(role, event.dataTransfer.files[0]);
    };
  }
}

/** Saves a tensor as output.npy. */
export function download(tensor) {
  const link = document.createElement('a');
  link.href = URL.createObjectURL(writeNpy(tensor, tensor.dtype));
  link.download = 'output.npy';
  link.click();
  URL.revokeObjectURL(link.href);
}
