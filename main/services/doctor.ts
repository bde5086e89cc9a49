import type { DoctorArea, DoctorReport } from '../contract/doctor.ts';
import type { Services } from '../contract/index.ts';

export function createDoctorServices(doctor: {
  run(areas?: readonly DoctorArea[]): Promise<DoctorReport>;
}): Services['doctor'] {
  return { run: (input) => doctor.run(input?.areas) };
}
