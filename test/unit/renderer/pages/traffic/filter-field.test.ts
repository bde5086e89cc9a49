// @vitest-environment ./test/support/page-environment.ts
import { describe, expect, it } from 'vitest';
import { FilterFieldState } from '../../../../../renderer/pages/traffic/filter-field.svelte.ts';

function setUp(text = '') {
  const filters: string[] = [];
  const field = new FilterFieldState({
    text,
    known: () => ({ key: ['Demo key', 'CI'] }),
    onfilter: (filter) => filters.push(filter),
  });
  const labels = () => field.completions.map(({ label }) => label);
  return { field, filters, labels };
}

describe('the filter field', () => {
  it('completes a field, then its values, with the keyboard', () => {
    const { field, labels } = setUp();
    field.type('st');
    expect([field.open, labels()]).toEqual([true, ['status:', 'stage:']]);
    field.move(1);
    field.accept();
    expect([field.text, field.open]).toEqual(['status:', true]);
    field.move(1);
    field.move(1);
    field.move(1);
    field.accept();
    expect([field.text, field.open]).toEqual(['status:4xx ', false]);
  });

  it('offers nothing after a complete term, where the arrow keys lead out of the field', () => {
    const { field } = setUp();
    for (const text of ['status:429', 'status:429 ']) {
      field.type(text);
      field.offer();
      expect([field.open, field.move(1), field.move(-1)]).toEqual([false, false, false]);
    }
    field.type('st');
    expect([field.open, field.move(1)]).toEqual([true, true]);
  });

  it('wraps around at both ends, by way of the field', () => {
    const { field } = setUp();
    field.type('st');
    const places = [1, 1, 1, 1, -1, -1].map((by) => {
      field.move(by as 1 | -1);
      return field.active;
    });
    expect(places).toEqual([0, 1, -1, 0, -1, 1]);
  });

  it('offers values that only the page has, in quotes if they contain blanks', () => {
    const { field, filters, labels } = setUp();
    field.type('key:');
    expect(labels()).toEqual(['Demo key', 'CI']);
    field.accept(0);
    expect([field.text, filters.at(-1)]).toEqual(['key:"Demo key" ', 'key:"Demo key" ']);
  });

  it('passes on only valid filters, and reports what is wrong with others, except for an unfinished word', () => {
    const { field, filters } = setUp();
    field.type('status:4');
    expect([field.fault, filters]).toEqual([undefined, []]);
    field.type('status:6xx');
    expect([field.fault, filters]).toEqual(['status:6xx is not valid; use 429, 4xx, >=500', ['']]);
    field.type('status:5xx');
    expect([field.fault, filters]).toEqual([undefined, ['', 'status:5xx']]);
    field.clear();
    expect(filters.at(-1)).toBe('');
  });

  it('keeps a word with an unknown field, does not apply it, and suggests the nearest match', () => {
    const { field, filters } = setUp();
    for (const text of ['s', 'sttus', 'sttus:']) field.type(text);
    expect([field.fault, filters.at(-1)]).toEqual([undefined, 'sttus']);
    field.type('sttus:4xx');
    expect(field.fault).toContain('sttus: is not a field. Did you mean "status"?');
    expect([field.text, filters.at(-1)]).toEqual(['sttus:4xx', '']);
    field.type('"sttus:4xx"');
    expect([field.fault, filters.at(-1)]).toEqual([undefined, '"sttus:4xx"']);
  });

  it('does not search for a word that may become a field, until nothing is offered any more', () => {
    const { field, filters } = setUp();
    field.type('method:GET st');
    field.type('method:GET sta');
    expect(filters).toEqual(['method:GET ', 'method:GET ']);
    field.adopt('method:GET');
    expect(field.text).toBe('method:GET sta');
    field.close();
    expect(filters.at(-1)).toBe('method:GET sta');
    field.type('method:GET stab');
    expect(filters.at(-1)).toBe('method:GET stab');
    field.type('host:');
    expect(field.fault).toBeUndefined();
    field.close();
    expect(field.fault).toContain('host: needs a value');
  });

  it('accepts a filter that was changed elsewhere, but does not overwrite what is being typed', () => {
    const { field } = setUp('status:4xx');
    field.adopt('method:GET');
    expect(field.text).toBe('method:GET');
    field.type('method:GET ');
    field.adopt('method:GET');
    expect(field.text).toBe('method:GET ');
    field.type('status:6');
    field.adopt('method:GET');
    expect(field.text).toBe('status:6');
  });
});
