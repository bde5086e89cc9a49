// @vitest-environment ./test/support/page-environment.ts
import { describe, expect, it } from 'vitest';
import { titledFailure } from '../../../../../renderer/connection/failure.ts';
import { ConnectionLostError, OutcomeUnknownError } from '../../../../../renderer/connection/transport.ts';
import { Form } from '../../../../../renderer/shared/controls/form.svelte.ts';
import { Task } from '../../../../../renderer/shared/controls/task.svelte.ts';
import { refusal } from '../../../../support/fake-client.ts';
import { settle } from '../../../../support/fake-clock.ts';

const issues = (...named: [path: string, message: string][]) =>
  refusal('invalid_request', 'The input is not acceptable.', ...named.map(([path, message]) => ({ path, message })));

function setUp(error?: Error) {
  const sent: unknown[] = [];
  const form = new Form({
    values: { name: '', plan: 'free' },
    submit: async (values) => {
      sent.push(values);
      if (error !== undefined) throw error;
      return 'made';
    },
    fieldOf: (code) => (code === 'in_use' ? 'name' : undefined),
  });
  form.values.name = 'Shop';
  return { form, sent };
}

describe('a form', () => {
  it('gives a control its field, which follows later values', async () => {
    const { form } = setUp(issues(['name', 'is taken']));
    const field = form.field('name');
    form.restore({ name: 'Kept' });
    expect(field.value).toBe('Kept');
    field.value = 'Typed';
    expect(form.values.name).toBe('Typed');
    await form.submit();
    expect(form.field('name').fault).toBe('is taken');
    form.follow({ name: 'Elsewhere', plan: 'free' });
    expect(form.field('name').elsewhere?.value).toBe('Elsewhere');
  });

  it('sends what was typed, and returns the answer', async () => {
    const { form, sent } = setUp();
    expect(await form.submit()).toBe('made');
    expect(sent).toEqual([{ name: 'Shop', plan: 'free' }]);
    expect([form.failure, form.faulty]).toEqual([undefined, false]);
  });

  it.each([
    ['a named field', issues(['name', 'is too long'], ['name', 'has a space']), 'is too long', undefined],
    ['an error whose code belongs to a field', refusal('in_use', 'It is taken.'), 'It is taken.', undefined],
    ['a path without a field', issues(['other', 'is unknown']), undefined, /^The input .* · other is unknown$/],
    ['the whole input', refusal('conflict', 'No.'), undefined, /^No\.$/],
    ['a lost connection', new ConnectionLostError(), undefined, /^There is no connection to Vivarium\. Try again/],
  ])('shows a fault where it belongs: %s', async (_what, error, fault, failure) => {
    const { form } = setUp(error);
    expect(await form.submit()).toBeUndefined();
    expect(form.fault('name')).toBe(fault);
    expect(form.failure).toEqual(failure && expect.stringMatching(failure));
    expect(form.values.name).toBe('Shop');
  });

  it('finds the field of a path within an input, by the whole path or by its beginning', async () => {
    const form = new Form({
      values: { 'limits.perDay': '', cors: '' },
      submit: () => Promise.reject(issues(['limits.perDay', 'is required'], ['cors[2]', 'must be an origin'])),
    });
    await form.submit();
    expect([form.fault('limits.perDay'), form.fault('cors')]).toEqual(['is required', 'Entry 3 must be an origin']);
  });

  it('exposes the code of a refusal until it is sent again', async () => {
    let refused = true;
    const form = new Form({
      values: { hostname: 'www.acme.test' },
      submit: async () => (refused ? Promise.reject(refusal('plan_required', 'The plan is Free.')) : 'done'),
    });
    await form.submit();
    expect(form.code).toBe('plan_required');
    refused = false;
    await form.submit();
    expect(form.code).toBeUndefined();
  });

  it('offers force for faults that permit it, until it is sent or reset', async () => {
    const issue = { path: 'name', message: 'is not visible yet', forcible: true as const };
    const refused = refusal('invalid_request', 'The input is not acceptable.', issue);
    const form = new Form({
      values: { name: 'www' },
      submit: (_values, { force }) => (force ? Promise.resolve('done') : Promise.reject(refused)),
    });
    await form.submit();
    expect([form.forcible, form.fault('name')]).toEqual([true, 'is not visible yet']);
    form.reset();
    expect([form.forcible, form.faulty]).toEqual([false, false]);
    await form.submit();
    expect(await form.submit({ force: true })).toBe('done');
    expect(form.forcible).toBe(false);
  });

  it('is sent once at a time', async () => {
    const { form, sent } = setUp();
    await Promise.all([form.submit(), form.submit()]);
    expect(sent).toHaveLength(1);
  });
});

describe('a form over saved values', () => {
  const make = () => new Form({ values: { name: 'Demo', plan: 'free' }, submit: async (values: object) => values });

  it('shows a value that was changed elsewhere, and keeps what was typed into another field', () => {
    const form = make();
    form.values.plan = 'pro';
    form.follow({ name: 'Demo from B', plan: 'free' });
    expect(form.values).toEqual({ name: 'Demo from B', plan: 'pro' });
    expect(form.elsewhere('name')).toBeUndefined();
    expect(form.typed).toEqual({ name: 'Demo from B', plan: 'pro' });
  });

  it('reports a change under the field that has something typed, to take or to keep', () => {
    const form = make();
    form.values.name = 'Mine';
    form.follow({ name: 'Demo from B', plan: 'free' });
    expect([form.values.name, form.elsewhere('name')?.value]).toEqual(['Mine', 'Demo from B']);
    form.elsewhere('name')?.keep();
    expect([form.values.name, form.elsewhere('name')]).toEqual(['Mine', undefined]);
    form.follow({ name: 'Demo from C', plan: 'free' });
    form.elsewhere('name')?.take();
    expect([form.values.name, form.elsewhere('name'), form.typed]).toEqual(['Demo from C', undefined, undefined]);
  });

  it('reports nothing for its own change, nor for the value that was typed', async () => {
    const form = make();
    form.values.name = 'Mine';
    await form.submit();
    form.follow({ name: 'Mine', plan: 'free' });
    form.values.plan = 'pro';
    form.follow({ name: 'Mine', plan: 'pro' });
    expect([form.elsewhere('name'), form.elsewhere('plan'), form.typed]).toEqual([undefined, undefined, undefined]);
  });
});

it('a failure has what was not done as its heading only if that is known', () => {
  const title = 'The pet was not added.';
  expect(titledFailure(title, new ConnectionLostError())).toMatch(/^The pet was not added\. There is no connection/);
  expect(titledFailure(title, new OutcomeUnknownError())).toMatch(/^The outcome is unknown/);
});

it('a task runs once at a time, and keeps why it failed until the next try', async () => {
  const { promise, reject } = Promise.withResolvers<string>();
  let runs = 0;
  const task = new Task(() => {
    runs += 1;
    return runs === 1 ? promise : Promise.resolve('done');
  });
  const first = task.start();
  expect(await task.start()).toBeUndefined();
  expect([runs, task.running]).toEqual([1, true]);
  reject(refusal('conflict', 'Not now.'));
  expect(await first).toBeUndefined();
  await settle();
  expect([task.running, task.failure]).toEqual([false, 'Not now.']);
  expect(await task.start()).toBe('done');
  expect(task.failure).toBeUndefined();
});
