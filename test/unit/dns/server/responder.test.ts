import { describe, expect, test } from 'vitest';
import { formatRecord } from '../../../../main/dns/wire/record-text.ts';
import { CLASS_IN, typeCode, type RRset } from '../../../../main/dns/wire/record.ts';
import { answer, CNAME_HOPS_MAX } from '../../../../main/dns/server/responder.ts';
import { parseName } from '../../../../main/model/dns-name.ts';
import { DNS_TABLES, linesOf, zoneOf, zoneSetOf } from '../../../support/dns/dns-tables.ts';

const render = (section: readonly RRset[]): string[] =>
  section.flatMap(({ name, ttlSeconds, data }) => data.map((each) => formatRecord({ name, ttlSeconds, data: each })));

function ask(zones: Parameters<typeof zoneSetOf>[0], question: string) {
  const [name = '', type = ''] = question.split(' ');
  const parsed = parseName(name);
  const code = typeCode(type);
  if (!parsed.ok || code === null) throw new Error(question);
  return answer(zoneSetOf(zones), { name: parsed.name, type: code, class: CLASS_IN });
}

describe.each(DNS_TABLES)('$title', ({ zones, facts }) => {
  test.each(facts)('$question: $fact', (fact) => {
    const result = ask(zones, fact.question);
    expect({
      rcode: result.rcode,
      authoritative: result.authoritative,
      answer: render(result.answer),
      authority: render(result.authority),
      additional: render(result.additional),
    }).toEqual({
      rcode: fact.rcode ?? 'NOERROR',
      authoritative: fact.authoritative ?? true,
      answer: linesOf(fact.answer),
      authority: linesOf(fact.authority),
      additional: linesOf(fact.additional),
    });
  });
});

describe('facts that the tables cannot express', () => {
  const set = zoneSetOf([zoneOf('a.test', 'www A 192.0.2.1')]);
  const question = { name: 'www.a.test', type: 1, class: CLASS_IN };

  test.each([
    ['CHAOS', 3],
    ['HESIOD', 4],
    ['ANY', 255],
  ])('class %s is REFUSED', (_name, code) => {
    expect(answer(set, { ...question, class: code })).toMatchObject({
      rcode: 'REFUSED',
      authoritative: false,
      answer: [],
    });
  });

  test.each([
    ['AXFR', 252],
    ['IXFR', 251],
  ])('%s is REFUSED', (_name, type) => {
    expect(answer(set, { ...question, type })).toMatchObject({ rcode: 'REFUSED', authoritative: false, answer: [] });
  });

  test('a question for OPT is FORMERR', () => {
    expect(answer(set, { ...question, type: 41 })).toMatchObject({ rcode: 'FORMERR', authoritative: false });
  });

  test('a refusal and a failing ALIAS give the reason', () => {
    const zones = [zoneOf('a.test', 'l ALIAS l.a.test.\nx ALIAS www.other.test.')];
    expect(ask(zones, 'www.other.test. A').detail).toEqual({ code: 20, text: 'www.other.test is in no zone here' });
    expect(ask(zones, 'l.a.test. A').detail?.text).toBe('ALIAS at l.a.test leads back to l.a.test');
    expect(ask(zones, 'x.a.test. A').detail?.text).toBe(
      'ALIAS at x.a.test leads to www.other.test, which is in no zone here',
    );
  });

  test('an ALIAS that continues after ten names is SERVFAIL', () => {
    const chain = (length: number) =>
      zoneOf(
        'a.test',
        `@ ALIAS c1\n${Array.from({ length }, (_, n) => `c${n + 1} CNAME c${n + 2}`).join('\n')}\nc${length + 1} A 192.0.2.1`,
      );
    expect(ask([chain(9)], 'a.test. A').rcode).toBe('NOERROR');
    expect(ask([chain(10)], 'a.test. A')).toMatchObject({ rcode: 'SERVFAIL', answer: [] });
    expect(CNAME_HOPS_MAX).toBe(10);
  });

  test('with a CNAME and addresses at one name, each question gets its own type', () => {
    const data = (name: string, address: string) => ({ name, ttlSeconds: 60, data: { type: 'A' as const, address } });
    const careless = zoneOf('a.test', 'www CNAME other.a.test.');
    const zones = [{ ...careless, records: [...careless.records, data('www.a.test', '192.0.2.9')] }];
    expect(render(ask(zones, 'www.a.test. A').answer)).toEqual(['www.a.test. 60 IN A 192.0.2.9']);
    expect(render(ask(zones, 'www.a.test. CNAME').answer)).toEqual(['www.a.test. 3600 IN CNAME other.a.test.']);
  });
});
