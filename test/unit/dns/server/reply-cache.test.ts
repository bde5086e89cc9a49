import { describe, expect, test } from 'vitest';
import { ReplyCache } from '../../../../main/dns/server/reply-cache.ts';
import { message, opt } from '../../../support/dns/dns-client.ts';

/** A stand-in for a reply: the query's question between a header and a unique tail. */
function replyTo(query: Buffer, questionEnd: number, tail: string): Buffer {
  const header = Buffer.from([query[0] ?? 0, query[1] ?? 0, 0x85, 0x80, 0, 1, 0, 1, 0, 0, 0, 0]);
  return Buffer.concat([header, query.subarray(12, questionEnd), Buffer.from(tail, 'latin1')]);
}

const query = message({ id: 7 });
const end = query.length;
const reply = replyTo(query, end, 'the answer');

function kept(): ReplyCache {
  const cache = new ReplyCache();
  cache.keep(query, end, reply);
  return cache;
}

describe('a cache of replies', () => {
  test('is empty at first, and after it was cleared', () => {
    const cache = new ReplyCache();
    expect(cache.find(query)).toBeNull();
    cache.keep(query, end, reply);
    expect(cache.find(query)).toEqual(reply);
    cache.clear();
    expect(cache.find(query)).toBeNull();
  });

  test('gives each query its own id', () => {
    const other = message({ id: 0xfffe });
    expect(kept().find(other)).toEqual(replyTo(other, end, 'the answer'));
  });

  test('returns a buffer that belongs to the caller', () => {
    const cache = kept();
    cache.find(query)?.fill(0);
    expect(cache.find(query)).toEqual(reply);
  });

  test('distinguishes queries by their length and every octet except the id', () => {
    const cache = kept();
    for (let at = 2; at < query.length; at++) {
      for (const bit of [1, 0x20, 0x80]) {
        const other = Buffer.from(query);
        other[at] = (other[at] ?? 0) ^ bit;
        expect(cache.find(other)).toBeNull();
      }
    }
    for (let length = 0; length < query.length; length++) expect(cache.find(query.subarray(0, length))).toBeNull();
    expect(cache.find(message({ id: 7, rest: opt() }))).toBeNull();
  });

  test('does not return what follows a question, such as EDNS', () => {
    const cache = new ReplyCache();
    const withEdns = message({ rest: opt() });
    const its = replyTo(withEdns, end, 'with EDNS');
    cache.keep(withEdns, end, its);
    expect(cache.find(withEdns)).toEqual(its);
  });

  test('does not store long replies', () => {
    const cache = new ReplyCache();
    const long = replyTo(query, end, 'x'.repeat(1000));
    cache.keep(query, end, long);
    expect(cache.find(query)).toBeNull();
    expect(cache.find(Buffer.alloc(60_000))).toBeNull();
  });

  test('never returns another query’s reply, however many there were, and keeps most of the latest', () => {
    const cache = new ReplyCache();
    const made = (n: number): [Buffer, Buffer] => {
      const own = message({ name: `host${n}.zone${n % 97}.test` });
      return [own, replyTo(own, own.length, `answer ${n} ${'x'.repeat(n % 40)}`)];
    };
    const count = 120_000;
    for (let n = 0; n < count; n++) {
      const [own, its] = made(n);
      cache.keep(own, own.length, its);
    }
    let found = 0;
    for (let n = 0; n < count; n++) {
      const [own, its] = made(n);
      const known = cache.find(own);
      if (known === null) continue;
      found++;
      if (!known.equals(its)) throw new Error(`host${n} got another reply`);
    }
    expect(found).toBeGreaterThan(1_000);
    expect(cache.find(made(count - 1)[0])).toEqual(made(count - 1)[1]);
  });
});
