/** Plain better-sqlite3 inserts behind node:http, with the journal mode and durability of Vivarium's store. */
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import Database from 'better-sqlite3';

const database = new Database(process.argv[2] ?? '');
database.pragma('journal_mode = WAL');
database.pragma(`synchronous = ${process.argv[3] ?? 'FULL'}`);
database.exec(
  'CREATE TABLE pets (id INTEGER PRIMARY KEY, name TEXT NOT NULL, category_id INTEGER NOT NULL, status TEXT NOT NULL)',
);
const insert = database.prepare('INSERT INTO pets (name, category_id, status) VALUES (?, ?, ?)');

const server = createServer((request, response) => {
  const chunks: Buffer[] = [];
  request.on('data', (chunk: Buffer) => chunks.push(chunk));
  request.on('end', () => {
    const pet = JSON.parse(Buffer.concat(chunks).toString()) as { name: string; categoryId: number };
    const { lastInsertRowid } = insert.run(pet.name, pet.categoryId, 'available');
    const body = JSON.stringify({ id: Number(lastInsertRowid), ...pet, status: 'available' });
    response.writeHead(201, { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body) });
    response.end(body);
  });
});
server.listen(0, '127.0.0.1', () => process.stdout.write(`port ${(server.address() as AddressInfo).port}\n`));
process.on('SIGTERM', () => process.exit(0));
