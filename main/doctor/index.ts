/** What the composition root takes from here; everything else is for this folder and its tests. */
export { judgeAppClock, judgeMachineClock } from './clock.ts';
export { judgeDisk, judgeFolder, judgeLogs, readDisk, readFolder, readLogs } from './data-folder.ts';
export { judgeBackups, judgeDatabase } from './database.ts';
export { judgeDnsServer, judgeLocalhost, judgeResolver, type Reply, resolveBySystem } from './dns.ts';
export { judgeDomain, judgePlatform } from './domains.ts';
export { judgeAbsence, judgeRunning, judgeWarnings, type AbsenceEvidence } from './engine.ts';
export { createDoctor, type Doctor, type Probe } from './examination.ts';
export { finding } from './finding.ts';
export { shakeHands } from './handshake.ts';
export { askListener, judgeListener } from './listeners.ts';
export { judgeFreePort, mayListen, type PortName, takenAddresses } from './ports.ts';
export { judgeRoot, judgeRootKey, readRoot } from './root.ts';
export { countOpenFiles, judgeOpenFiles, judgeVersions } from './system.ts';
export { judgeUpstream } from './upstreams.ts';
export { judgeNoStores, judgeStore } from './trust.ts';
