import { z } from 'zod';
import { base } from './base.ts';

export const access = {
  renewToken: base
    .route({ summary: 'Replace the token of the control port; everything signed in with the old one is signed out' })
    .input(z.strictObject({}).optional())
    /** The new token is in the files `control-token` and `runtime.json` only. */
    .output(z.object({ signInLink: z.string().meta({ description: 'Opens the interface, once, within a minute' }) })),
};
