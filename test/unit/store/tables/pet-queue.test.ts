import { describe, expect, it } from 'vitest';
import type { Pet } from '../../../../main/model/pet.ts';
import { QUEUE_PETS_MAX } from '../../../../main/store/tables/pet-queue.ts';
import { HERE, memoryParts, pet, projectRow, STAGING } from '../parts.ts';

describe('adding pets', () => {
  it('commits all of one turn of the event loop together, in order of arrival', async () => {
    const { pets, sqlite } = memoryParts();
    const changes: string[] = [];
    pets.onChanged(({ environment }) => changes.push(`${environment} ${pets.total()}`));
    const added = [
      pets.add(HERE, pet('a')),
      pets.add(STAGING, pet('b')),
      pets.add(HERE, pet('c')),
      Promise.resolve().then(() => pets.add(HERE, pet('d'))),
    ];
    expect(pets.total()).toBe(0);
    expect((await Promise.all(added)).map(({ id, name }) => `${id} ${name}`)).toEqual(['1 a', '1 b', '2 c', '3 d']);
    expect(sqlite.inTransaction).toBe(false);
    expect(changes).toEqual(['production 4', 'staging 4']);
  });

  it('resolves only after the commit, when the page already shows the pet', async () => {
    const { pets, sqlite } = memoryParts();
    const before = pets.revision(HERE);
    const { id } = await pets.add(HERE, pet('a')).then((added) => {
      expect(sqlite.inTransaction).toBe(false);
      expect(pets.revision(HERE)).not.toBe(before);
      return added;
    });
    expect(pets.get(HERE, id)).toEqual({ id, ...pet('a') });
  });

  it('rejects only the one that fails', async () => {
    const { pets, projects } = memoryParts();
    projects.insert(projectRow('prj_gone'));
    const gone = { projectId: 'prj_gone', environment: 'production' } as const;
    const odd = { ...pet('odd'), status: 'lost' } as unknown as Omit<Pet, 'id'>;
    const added = [pets.add(HERE, pet('a')), pets.add(gone, pet('b')), pets.add(HERE, odd), pets.add(HERE, pet('c'))];
    projects.remove('prj_gone');
    const results = await Promise.allSettled(added);
    expect(results.map(({ status }) => status)).toEqual(['fulfilled', 'rejected', 'rejected', 'fulfilled']);
    expect(results[1]).toMatchObject({ reason: { code: 'not_found' } });
    expect(pets.count(HERE, null)).toBe(2);
  });

  it('rejects all of them when the commit fails, and continues with the next', async () => {
    const { pets, sqlite } = memoryParts();
    sqlite.exec(`CREATE TEMP TRIGGER fail AFTER INSERT ON main.pets WHEN NEW.name = 'poison'
      BEGIN SELECT RAISE(ROLLBACK, 'as a full disk would'); END`);
    const results = await Promise.allSettled(['a', 'poison', 'b'].map((name) => pets.add(HERE, pet(name))));
    expect(results.map(({ status }) => status)).toEqual(['rejected', 'rejected', 'rejected']);
    expect(pets.total()).toBe(0);
    expect((await pets.add(HERE, pet('c'))).id).toBe(1n);
  });

  it('refuses more than fit into the queue, and stores the others', async () => {
    const { pets } = memoryParts();
    const added = Array.from({ length: QUEUE_PETS_MAX }, () => pets.add(HERE, pet('a')));
    await expect(pets.add(HERE, pet('one too many'))).rejects.toMatchObject({ code: 'unavailable' });
    await Promise.all(added);
    expect(pets.total()).toBe(QUEUE_PETS_MAX);
    await expect(pets.add(HERE, pet('again'))).resolves.toMatchObject({ id: BigInt(QUEUE_PETS_MAX) + 1n });
  });

  it('stores waiting pets when it is closed, and refuses later ones', async () => {
    const { pets } = memoryParts();
    const added = pets.add(HERE, pet('a'));
    pets.close();
    expect(pets.total()).toBe(1);
    await expect(added).resolves.toEqual({ id: 1n, ...pet('a') });
    await expect(pets.add(HERE, pet('b'))).rejects.toMatchObject({ code: 'unavailable' });
  });
});
