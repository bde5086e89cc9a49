import { readFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { createPetSeeds } from '../../../main/services/pets/pet-import.ts';
import { readRows } from './import-rows.ts';

const resource = (name: string) => readFileSync(new URL(`../../../resources/demo/${name}`, import.meta.url), 'utf8');

describe('the demo pets', async () => {
  const rows = await readRows('json', [resource('pets.json')]);

  it('are 30, all valid, with unique names', () => {
    expect(rows).toHaveLength(30);
    expect(rows.filter((row) => row.pet === null)).toEqual([]);
    expect(new Set(rows.map((row) => row.pet?.name)).size).toBe(30);
  });

  it('have every status, so that each filter shows something', () => {
    expect(new Set(rows.map((row) => row.pet?.status))).toEqual(new Set(['available', 'pending', 'sold']));
  });
});

describe('seeds', () => {
  const seeds = createPetSeeds(resource('seed.json'));

  it('have the requested number, and are the same every time', () => {
    const first = [...seeds.generate(500)];
    expect(first).toHaveLength(500);
    expect([...seeds.generate(500)]).toEqual(first);
  });

  it('are the same in parts as in one call', () => {
    const whole = [...seeds.generate(500)];
    const parts = [...seeds.generate(137), ...seeds.generate(300, 137), ...seeds.generate(63, 437)];
    expect(parts).toEqual(whole);
    expect([...seeds.generate(1, 999_999)]).toHaveLength(1);
  });

  it('are varied', () => {
    const pets = [...seeds.generate(500)];
    expect(new Set(pets.map((pet) => pet.name)).size).toBeGreaterThan(400);
    expect(new Set(pets.map((pet) => pet.status)).size).toBe(3);
    expect(new Set(pets.map((pet) => pet.categoryId)).size).toBe(5);
  });
});
