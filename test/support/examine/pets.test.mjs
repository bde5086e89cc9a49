import test from 'node:test';
import assert from 'node:assert/strict';
import { request } from './client.mjs';

test('lists pets', async () => assert.equal((await request('GET', '/pets?limit=5')).length, 5));
test('reads a pet', async () => assert.equal((await request('GET', '/pets/3')).id, 3));
test('creates a pet', async () => {
  const pet = await request('POST', '/pets', { name: 'Rex', categoryId: 1 });
  assert.equal(pet.name, 'Rex');
});
test('counts pets', async () => assert.equal((await request('GET', '/pets?limit=100')).length, 41));
