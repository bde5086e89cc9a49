import { type AbsentEngine, createFolderDoctor } from './composition/doctor-folder.ts';
import type { DoctorReport } from './contract/doctor.ts';

/** What there is to see of a Vivarium that does not run, or gives no answer: its data folder, its ports, this machine. */
export const examine = (engine: AbsentEngine): Promise<DoctorReport> => createFolderDoctor(engine).run();
