import type { Examinations } from '../base/system/examinations.ts';
import { notFound } from '../contract/errors.ts';
import type { KeptExamination } from '../contract/examine.ts';
import type { Services } from '../contract/index.ts';

/** What `vivarium examine` has kept in the data folder. @param changed tells the interface to read it again */
export function createExaminationServices(kept: Examinations, changed: () => void): Services['examinations'] {
  function existing(id: string): KeptExamination {
    const found = kept.read(id);
    if (found !== null) return found;
    throw notFound(`There is no examination "${id}": the last five are kept. List them: \`examinations.list\`.`);
  }

  return {
    list: () => kept.list(),
    get: ({ id }) => existing(id),
    requests({ id, run }) {
      const name = run === 0 ? 'without-faults' : existing(id).rows[run - 1]?.row;
      const har = kept.requests(id, run);
      if (name !== undefined && har !== null) return { name: `${name}.har`, har };
      throw notFound(`No requests are kept of run ${run} of the examination "${id}".`);
    },
    changed() {
      changed();
      return {};
    },
  };
}
