/** What `vivarium doctor` loads where no engine answers. */
export { examineFolder as examine } from './composition/examination.ts';
