import assert from 'node:assert/strict';
import test from 'node:test';
import ky from 'ky';

const shop = ky.create({
  baseUrl: `${process.env.VIVARIUM_URL}/`,
  headers: { authorization: `Bearer ${process.env.VIVARIUM_KEY}` },
  timeout: 3000,
});

void test('lists pets', async () => assert.equal((await shop.get('pets?limit=5').json()).length, 5));
void test('reads a pet', async () => assert.equal((await shop.get('pets/3').json()).id, 3));
void test('creates a pet', async () => {
  const pet = await shop.post('pets', { json: { name: 'Rex', categoryId: 1 } }).json();
  assert.equal(pet.name, 'Rex');
});
void test('counts pets', async () => assert.equal((await shop.get('pets?limit=100').json()).length, 41));
