import type { InstructionStep } from '../contract/reach.ts';
import { isWithin } from '../base/text/hostname.ts';
import { posixWord, powerShellString } from '../base/text/shell.ts';

export interface PacFacts {
  hostname: string;
  ports: { http: number };
  pacUrl: string;
  platform: NodeJS.Platform;
}

/**
 * Commands that set the PAC file for all browsers of the user. They need no administrator; Vivarium does not run them.
 */
export function pacSetting(facts: PacFacts): InstructionStep {
  const { pacUrl, platform } = facts;
  const title = 'The PAC file, for all browsers';
  if (platform === 'darwin') {
    return {
      title,
      note: `For the network service Wi-Fi; networksetup -listallnetworkservices names the others.${orByPort(facts)}`,
      commands: `networksetup -setautoproxyurl Wi-Fi ${posixWord(pacUrl)}`,
      undo: 'networksetup -setautoproxystate Wi-Fi off',
    };
  }
  if (platform === 'win32') {
    const settings = "'HKCU:\\Software\\Microsoft\\Windows\\CurrentVersion\\Internet Settings'";
    return {
      title,
      note: `In PowerShell; restart browsers to apply it.${orByPort(facts)}`,
      commands: `Set-ItemProperty ${settings} AutoConfigURL ${powerShellString(pacUrl)}`,
      undo: `Remove-ItemProperty ${settings} AutoConfigURL`,
    };
  }
  return {
    title: 'The PAC file, for all browsers (GNOME)',
    note: `Affects Vivarium’s hostnames only.${orByPort(facts)}`,
    commands: [
      `gsettings set org.gnome.system.proxy autoconfig-url ${posixWord(pacUrl)}`,
      'gsettings set org.gnome.system.proxy mode auto',
    ].join('\n'),
    undo: 'gsettings set org.gnome.system.proxy mode none',
  };
}

/** Chromium-based browsers bypass the proxy for such names, even with a PAC file, and resolve them to loopback. */
const orByPort = ({ hostname, ports }: PacFacts): string =>
  isWithin(hostname, 'localhost')
    ? ` Chrome, Edge and Chromium bypass the proxy for names under localhost: open http://${hostname}:${ports.http} there.`
    : '';
