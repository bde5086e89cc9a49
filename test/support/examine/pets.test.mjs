import test from 'node:test';
import assert from 'node:assert/strict';
import { request } from './client.mjs';

void test('lists pets', async () => assert.equal((await request('GET', '/pets?limit=5')).length, 5));
void test('reads a pet', async () => assert.equal((await request('GET', '/pets/3')).id, 3));
void test('creates a pet', async () => {
  const pet = await request('POST', '/pets', { name: 'Rex', categoryId: 1 });
  assert.equal(pet.name, 'Rex');
});
void test('counts pets', async () => assert.equal((await request('GET', '/pets?limit=100')).length, 41));
