export { createClockServices } from './clock.ts';
export { createDeployServices } from './deploys.ts';
export { createKeyServices } from './keys.ts';
export { createLimitServices } from './limits.ts';
export { createOrderServices } from './orders.ts';
export { createPetSeeds } from './pet-seeds.ts';
export { createPetServices } from './pets.ts';
export { createProjectServices } from './projects.ts';
export { createSettingsServices, holdSettings } from './settings.ts';
