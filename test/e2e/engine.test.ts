import { describe, expect, it } from 'vitest';
import { expectSound, useEnginePages } from '../support/page-on-engine.ts';

const openPage = useEnginePages();

describe('the page before a real engine', () => {
  it('shows the demo project and its pets, and follows what clients and people do', async () => {
    const { page, engine, errors } = await openPage();
    await page.getByRole('heading', { level: 2, name: 'Demo' }).waitFor();
    expect(page.url()).not.toContain('token');
    await page.getByText('Biscuit the Border Collie').first().waitFor();

    await engine.api();
    await page.getByText('Demo key').first().waitFor();

    const { id: projectId } = await engine.demo();
    await engine.call('pets.update', { projectId, id: 1, name: '<b>Renamed</b> the Collie' });
    await page.getByText('<b>Renamed</b> the Collie').first().waitFor();

    await engine.call('clock.advance', { by: 'PT48H' });
    await page
      .getByText(/48 ?h|2 days/i)
      .first()
      .waitFor();
    expect(errors).toEqual([]);
  });

  it('has no accessibility violations that axe finds', async () => {
    const opened = await openPage();
    await opened.page.getByText('Biscuit the Border Collie').first().waitFor();
    await expectSound(opened, 'overview');
  });
});
