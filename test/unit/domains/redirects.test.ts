import { describe, expect, it } from 'vitest';
import { evaluateRedirects, type DomainRedirect } from '../../../main/domains/redirects.ts';

const OWN = ['a.test', 'b.test', 'c.test'];
const holderOf = (hostname: string) =>
  OWN.includes(hostname) ? { projectId: 'own' } : hostname === 'theirs.test' ? { projectId: 'other' } : null;

const to = (text: string): DomainRedirect => {
  const [from = '', target = ''] = text.split(' > ');
  return { from, to: target, status: 301 };
};
const evaluateAll = (wanted: Parameters<typeof evaluateRedirects>[0], others: string[] = []) =>
  evaluateRedirects(wanted, { projectId: 'own', holderOf, others: others.map(to) });
const evaluate = (wanted: string[], others: string[] = []) => evaluateAll(wanted.map(to), others);
const NOT_OWN = 'redirects[0].from must be a domain of this project';
const NO_HOSTNAME = 'redirects[0].to must be a bare hostname';

describe('redirects', () => {
  it.each([
    ['none', []],
    ['to anywhere, by a hostname in any form', ['A.test. > Bücher.example'], ['a.test > xn--bcher-kva.example']],
    ['to HTTPS at the same name', ['a.test > https://A.test'], ['a.test > https://a.test']],
    ['to HTTPS elsewhere', ['a.test > b.test', 'b.test > https://b.test']],
    ['in a row', ['a.test > b.test', 'b.test > c.test']],
  ])('are accepted: %s', (_case, wanted, expected = wanted) => {
    expect(evaluate(wanted)).toEqual({ ok: true, redirects: expected.map(to) });
  });

  it.each<[string, string[], string[], string[]?]>([
    ['to itself', ['a.test > a.test'], ['redirects[0].to forms a loop: a.test → a.test']],
    ['there and back', ['a.test > b.test', 'b.test > a.test'], ['redirects[0].to forms', 'redirects[1].to forms']],
    [
      'through another project',
      ['a.test > theirs.test'],
      ['redirects[0].to forms a loop: a.test → theirs.test → a.test'],
      ['theirs.test > a.test'],
    ],
    ['from a name of another project', ['theirs.test > a.test'], [NOT_OWN]],
    ['from an unattached name', ['x.test > a.test'], [NOT_OWN]],
    ['twice from one name', ['a.test > b.test', 'A.test > c.test'], ['redirects[1].from a.test is redirected twice']],
    ['to a URL', ['a.test > https://b.test/'], [NO_HOSTNAME]],
    ['to HTTP', ['a.test > http://b.test'], [NO_HOSTNAME]],
    ['there and back over HTTPS', ['a.test > https://b.test', 'b.test > a.test'], ['forms a loop', 'forms a loop']],
  ])('are refused: %s', (_case, wanted, messages, others) => {
    const verdict = evaluate(wanted, others);
    const found = verdict.ok ? [] : verdict.issues.map(({ path, message }) => `${path} ${message}`);
    expect(found).toHaveLength(messages.length);
    messages.forEach((message, index) => expect(found[index]).toContain(message));
  });

  it('default to a status that depends on their target', () => {
    const verdict = evaluateAll([
      { from: 'a.test', to: 'https://a.test', hsts: true },
      { from: 'b.test', to: 'a.test' },
      { from: 'c.test', to: 'https://a.test', status: 302, hsts: false },
    ]);
    expect(verdict).toEqual({
      ok: true,
      redirects: [
        { from: 'a.test', to: 'https://a.test', status: 308, hsts: true },
        { from: 'b.test', to: 'a.test', status: 301 },
        { from: 'c.test', to: 'https://a.test', status: 302 },
      ],
    });
  });

  it('have HSTS only if they lead to HTTPS', () => {
    const verdict = evaluateAll([{ from: 'a.test', to: 'b.test', hsts: true }]);
    expect(verdict).toMatchObject({ ok: false, issues: [{ path: 'redirects[0].hsts' }] });
  });

  it('do not blame a name that only leads into a loop of others', () => {
    expect(evaluate(['a.test > x.test'], ['x.test > y.test', 'y.test > x.test'])).toMatchObject({ ok: true });
  });
});
