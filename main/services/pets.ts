import type { Dataset } from '../base/dataset.ts';
import type { Services } from '../contract/index.ts';
import type { ImportReport, PetRecord } from '../contract/pets.ts';
import type { Environment } from '../contract/values.ts';
import type { NewPetRow, PetRow, PetRows, ProjectRows } from './dependencies.ts';
import { type ImportedRow, readImport } from './pet-import.ts';
import type { PetSeeds } from './pet-seeds.ts';
import { existingProject } from './projects.ts';

/** Refused rows that a report lists. */
const REJECTED_LISTED_MAX = 1_000;

export function createPetServices(options: {
  projects: ProjectRows;
  pets: PetRows;
  seeds: () => PetSeeds;
}): Services['pets'] {
  const { projects, pets } = options;

  function datasetOf(input: { projectId: string; environment: Environment }): Dataset {
    existingProject(projects, input.projectId);
    return { projectId: input.projectId, environment: input.environment };
  }

  return {
    list(input) {
      const found = pets.search(datasetOf(input), {
        status: input.status ?? null,
        search: input.search === undefined || input.search === '' ? null : input.search,
        limit: input.limit,
        after: input.after === undefined ? null : BigInt(input.after),
      });
      return {
        items: found.items.map(presentPet),
        total: found.total,
        ...(found.next !== null && { next: String(found.next) }),
      };
    },
    create: (input) =>
      presentPet(
        pets.insert(datasetOf(input), {
          ...(input.id !== undefined && { id: BigInt(input.id) }),
          name: input.name,
          categoryId: BigInt(input.categoryId),
          status: input.status,
        }),
      ),
    update: (input) =>
      presentPet(
        pets.update(datasetOf(input), BigInt(input.id), {
          ...(input.name !== undefined && { name: input.name }),
          ...(input.categoryId !== undefined && { categoryId: BigInt(input.categoryId) }),
          ...(input.status !== undefined && { status: input.status }),
        }),
      ),
    remove: (input) => presentPet(pets.remove(datasetOf(input), BigInt(input.id))),
    async import(input) {
      const dataset = datasetOf(input);
      return importRows(pets, dataset, await readImport(input.format, input.text));
    },
    async seed(input) {
      const dataset = datasetOf(input);
      const rows = options.seeds().generate(input.count);
      const results = await pets.insertMany(dataset, rows);
      return report(results.map((message, index) => ({ row: index + 1, message })));
    },
  };
}

async function importRows(pets: PetRows, dataset: Dataset, rows: readonly ImportedRow[]): Promise<ImportReport> {
  const good = rows.filter((row): row is ImportedRow & { pet: NewPetRow } => row.pet !== null);
  const results = await pets.insertMany(
    dataset,
    good.map((row) => row.pet),
  );
  const refusals = new Map(good.map((row, index) => [row.row, results[index] ?? null]));
  return report(
    rows.map((row) => ({ row: row.row, message: row.pet === null ? row.message : (refusals.get(row.row) ?? null) })),
  );
}

function report(results: readonly { row: number; message: string | null }[]): ImportReport {
  const rejected: { row: number; message: string }[] = [];
  let rejectedTotal = 0;
  for (const { row, message } of results) {
    if (message === null) continue;
    if (rejectedTotal++ < REJECTED_LISTED_MAX) rejected.push({ row, message });
  }
  return { created: results.length - rejectedTotal, rejected, rejectedTotal };
}

const presentPet = (row: PetRow): PetRecord => ({
  id: String(row.id),
  name: row.name,
  categoryId: String(row.categoryId),
  status: row.status,
});
