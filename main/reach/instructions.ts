import type { InstructionStep, SystemInstructions } from '../contract/reach.ts';
import { isWithin } from '../base/hostname.ts';
import { posixWord, powerShellString } from '../base/shell.ts';

/** Parameters of the instructions. */
export interface InstructionFacts {
  hostname: string;
  /** Suffix that Vivarium's DNS answers: the zone of the hostname, or the hostname itself. */
  zone: string;
  ports: { http: number; https: number; dns: number };
  pacUrl: string;
  /** The running system. */
  platform: NodeJS.Platform;
  /**
   * The program that runs Vivarium, or null for Electron: the loader ignores `$ORIGIN` in a program with capabilities
   * (ld.so(8), secure-execution mode), and Electron then finds none of its libraries (electron/electron#4583).
   */
  program: string | null;
  /** Command that starts this Vivarium again with other options: `vivarium serve --data-dir /here`. */
  start: string;
}

const SYSTEMS = [
  { system: 'linux', title: 'Linux', platforms: ['linux'], steps: onLinux },
  { system: 'macos', title: 'macOS', platforms: ['darwin'], steps: onMacos },
  { system: 'windows', title: 'Windows', platforms: ['win32'], steps: onWindows },
] as const;

/**
 * Commands that make one hostname work for the whole machine, and their undo commands, by system, the running one
 * first. They change the system and mostly need administrator rights; Vivarium never runs them.
 */
export function makeInstructions(facts: InstructionFacts): SystemInstructions[] {
  const all = SYSTEMS.map(({ system, title, platforms, steps }) => ({
    system,
    title,
    here: (platforms as readonly NodeJS.Platform[]).includes(facts.platform),
    steps: steps(facts),
  }));
  return [...all.filter(({ here }) => here), ...all.filter(({ here }) => !here)];
}

const atLowPorts = ({ start }: InstructionFacts): string => `${start} --http-port 80 --https-port 443`;

/** Chromium-based browsers bypass the proxy for such names, even with a PAC file, and resolve them to loopback. */
const orByPort = ({ hostname, ports }: InstructionFacts): string =>
  isWithin(hostname, 'localhost')
    ? ` Chrome, Edge and Chromium bypass the proxy for names under localhost: open http://${hostname}:${ports.http} there.`
    : '';
const isLow = ({ ports }: InstructionFacts): boolean => ports.http === 80 && ports.https === 443;
const lines = (...commands: string[]): string => commands.join('\n');

/** An extended regular expression that matches exactly the hostname. */
const exactly = (hostname: string): string => hostname.replaceAll('.', '\\.');

/** The `/etc/hosts` lines for both loopback addresses. */
const hostLines = (hostname: string): string => `127.0.0.1 ${hostname}\\n::1 ${hostname}\\n`;

function onLinux(facts: InstructionFacts): InstructionStep[] {
  const { hostname, zone, ports, pacUrl, program } = facts;
  const dropIn = '/etc/systemd/resolved.conf.d/vivarium.conf';
  return [
    {
      id: 'proxy',
      title: 'GNOME: the PAC file, for all browsers',
      note: `Needs no administrator. Affects Vivarium’s hostnames only.${orByPort(facts)}`,
      commands: lines(
        `gsettings set org.gnome.system.proxy autoconfig-url ${posixWord(pacUrl)}`,
        'gsettings set org.gnome.system.proxy mode auto',
      ),
      undo: 'gsettings set org.gnome.system.proxy mode none',
    },
    {
      id: 'resolver',
      title: 'systemd-resolved asks Vivarium’s DNS',
      note: `For every name under ${zone}, as long as Vivarium has that zone. systemd 246 or newer.`,
      commands: lines(
        `sudo mkdir -p /etc/systemd/resolved.conf.d`,
        `printf '[Resolve]\\nDNS=127.0.0.1:${ports.dns}\\nDomains=~${zone}\\n' | sudo tee ${dropIn}`,
        'sudo systemctl restart systemd-resolved',
      ),
      undo: lines(`sudo rm ${dropIn}`, 'sudo systemctl restart systemd-resolved'),
    },
    posixHosts(hostname, 'sudo sed -i -E'),
    ...(isLow(facts)
      ? []
      : [
          {
            id: 'low-ports',
            title: 'Ports 80 and 443, for every program (sysctl)',
            note: 'Until the next start of the machine. Quit Vivarium before the second command.',
            commands: lines('sudo sysctl -w net.ipv4.ip_unprivileged_port_start=80', atLowPorts(facts)),
            undo: 'sudo sysctl -w net.ipv4.ip_unprivileged_port_start=1024',
          },
          ...(program === null ? [] : [setcap(program, facts)]),
          {
            id: 'authbind',
            title: 'Ports 80 and 443, for one user (authbind)',
            note: 'Grants nothing to other users of the program. Quit Vivarium before the last command.',
            commands: lines(
              'sudo apt-get install authbind',
              'sudo install -m 500 -o "$USER" /dev/null /etc/authbind/byport/80',
              'sudo install -m 500 -o "$USER" /dev/null /etc/authbind/byport/443',
              `authbind --deep ${atLowPorts(facts)}`,
            ),
            undo: 'sudo rm /etc/authbind/byport/80 /etc/authbind/byport/443',
          },
        ]),
  ];
}

const setcap = (program: string, facts: InstructionFacts): InstructionStep => ({
  id: 'setcap',
  title: 'Ports 80 and 443, for one program (setcap)',
  note: `Everything that ${program} runs may then bind them. Updating the program removes the capability. Quit Vivarium before the second command.`,
  commands: lines(`sudo setcap cap_net_bind_service=+ep ${posixWord(program)}`, atLowPorts(facts)),
  undo: `sudo setcap -r ${posixWord(program)}`,
});

function posixHosts(hostname: string, sed: string, ...after: string[]): InstructionStep {
  return {
    id: 'hosts',
    title: 'The hosts file',
    note: 'One line for each hostname and address; everything on this machine reads it.',
    commands: lines(`printf '${hostLines(hostname)}' | sudo tee -a /etc/hosts`, ...after),
    undo: lines(`${sed} '/^(127\\.0\\.0\\.1|::1) ${exactly(hostname)}$/d' /etc/hosts`, ...after),
  };
}

function onMacos(facts: InstructionFacts): InstructionStep[] {
  const { hostname, zone, ports, pacUrl } = facts;
  const flush = 'sudo dscacheutil -flushcache; sudo killall -HUP mDNSResponder';
  const redirect = (from: number, to: number): string =>
    `rdr pass on lo0 inet proto tcp from any to 127.0.0.1 port ${from} -> 127.0.0.1 port ${to}`;
  return [
    {
      id: 'proxy',
      title: 'The PAC file, for all browsers',
      note: `For the network service Wi-Fi; networksetup -listallnetworkservices names the others.${orByPort(facts)}`,
      commands: `networksetup -setautoproxyurl Wi-Fi ${posixWord(pacUrl)}`,
      undo: 'networksetup -setautoproxystate Wi-Fi off',
    },
    {
      id: 'resolver',
      title: '/etc/resolver asks Vivarium’s DNS',
      note: `For every name under ${zone}, as long as Vivarium has that zone. scutil --dns shows it; dig and nslookup do not use it.`,
      commands: lines(
        'sudo mkdir -p /etc/resolver',
        `printf 'nameserver 127.0.0.1\\nport ${ports.dns}\\n' | sudo tee /etc/resolver/${zone}`,
      ),
      undo: `sudo rm /etc/resolver/${zone}`,
    },
    posixHosts(hostname, "sudo sed -i '' -E", flush),
    ...(isLow(facts)
      ? []
      : [
          {
            id: 'low-ports',
            title: 'Ports 80 and 443 (pf)',
            note: 'Until the next start of the machine. It takes the place of rules that other programs have loaded.',
            commands: `printf '${redirect(80, ports.http)}\\n${redirect(443, ports.https)}\\n' | sudo pfctl -ef -`,
            undo: 'sudo pfctl -f /etc/pf.conf',
          },
        ]),
  ];
}

function onWindows(facts: InstructionFacts): InstructionStep[] {
  const { hostname, zone, ports, pacUrl } = facts;
  const settings = "'HKCU:\\Software\\Microsoft\\Windows\\CurrentVersion\\Internet Settings'";
  const hosts = '"$env:windir\\System32\\drivers\\etc\\hosts"';
  const forward = (from: number, to: number): string =>
    `netsh interface portproxy add v4tov4 listenaddress=127.0.0.1 listenport=${from} connectaddress=127.0.0.1 connectport=${to}`;
  const forget = (from: number): string =>
    `netsh interface portproxy delete v4tov4 listenaddress=127.0.0.1 listenport=${from}`;
  return [
    {
      id: 'proxy',
      title: 'The PAC file, for all browsers',
      note: `Needs no administrator. PowerShell; browsers see it when they are started again.${orByPort(facts)}`,
      commands: `Set-ItemProperty ${settings} AutoConfigURL ${powerShellString(pacUrl)}`,
      undo: `Remove-ItemProperty ${settings} AutoConfigURL`,
    },
    {
      id: 'resolver',
      title: 'The name resolution policy table (NRPT) asks Vivarium’s DNS',
      note:
        (ports.dns === 53 ? '' : 'Windows asks port 53 only: start Vivarium with --dns-port 53 first. ') +
        `For every name under ${zone}, as long as Vivarium has that zone. PowerShell as administrator.`,
      commands: lines(
        `Add-DnsClientNrptRule -Namespace ${powerShellString(zone)}, ${powerShellString(`.${zone}`)} -NameServers '127.0.0.1' -Comment 'Vivarium'`,
        'Clear-DnsClientCache',
      ),
      undo: "Get-DnsClientNrptRule | Where-Object Comment -eq 'Vivarium' | Remove-DnsClientNrptRule -Force",
    },
    {
      id: 'hosts',
      title: 'The hosts file',
      note: 'One line for each hostname. PowerShell as administrator.',
      commands: `Add-Content ${hosts} ${powerShellString(`127.0.0.1 ${hostname}`)}`,
      undo: `(Get-Content ${hosts}) -notmatch ${powerShellString(`^127\\.0\\.0\\.1 ${exactly(hostname)}$`)} | Set-Content ${hosts}`,
    },
    ...(isLow(facts)
      ? []
      : [
          {
            id: 'low-ports',
            title: 'Ports 80 and 443 (netsh portproxy)',
            note: 'Windows lets every program bind them, so --http-port 80 --https-port 443 is simpler where they are free. As administrator.',
            commands: lines(forward(80, ports.http), forward(443, ports.https)),
            undo: lines(forget(80), forget(443)),
          },
        ]),
  ];
}
