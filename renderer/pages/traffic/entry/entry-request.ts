import { asAxios, asFetch, asGo, asPython, takesBody } from '../../../../main/base/text/request-code.ts';
import {
  asCurl,
  asHttpie,
  asPowerShell,
  hasDotSegments,
  SENDER_FIELDS,
  type CopiedRequest,
  posixWord,
  powerShellString,
} from '../../../../main/base/text/shell.ts';
import type { HeaderField } from '../../../../main/contract/api.ts';
import type { StatusReport } from '../../../../main/contract/status.ts';
import type { TrafficDetail } from '../../../../main/contract/traffic.ts';
import { resolvesByDefault, isWindowsPath, rootFile } from '../../../shared/project/first-request.ts';
import { optionsOf } from '../../../shared/lists/options.ts';

/** Fields that every client adds itself. */
const LEFT_OUT: ReadonlySet<string> = new Set(['accept-encoding', 'user-agent']);

/** Marks a redaction. */
const HIDDEN = '…';

/** A redacted secret in an address or a body: a parameter, a member, a part of a URL, or an API key. */
const REDACTED = /(?:["=]|:\/\/|viv_[0-9A-Za-z]{4}|Bearer )…/;

/** The languages in which a request can be copied. */
export const CODE_LANGUAGES = optionsOf({
  curl: 'curl',
  httpie: 'HTTPie',
  powershell: 'PowerShell',
  fetch: 'fetch',
  axios: 'axios',
  python: 'Python',
  go: 'Go',
});
export type CodeLanguage = (typeof CODE_LANGUAGES)[number]['value'];

/** A request as code to send it again, and its caveats in sentences. */
export interface RequestCode {
  text: string;
  notes: string[];
}

/** Undefined for a request that can't be sent again because it had no Host. */
export function entryCode(
  entry: TrafficDetail,
  { ports, dataDir }: Pick<StatusReport, 'ports' | 'dataDir'>,
  language: CodeLanguage,
): RequestCode | undefined {
  const { authority, scheme, method, target, requestBody, requestHeaders, requestBytes } = entry;
  const url = `${scheme}://${authority ?? ''}${target}`;
  if (authority === null || !URL.canParse(url)) return undefined;
  const { hostname, port } = new URL(url);
  const listenerPort = scheme === 'https' ? ports.https : ports.http;
  const isFound = resolvesByDefault(hostname) && Number(port || (scheme === 'https' ? 443 : 80)) === listenerPort;
  const credentials = requestHeaders.find(({ name }) => name.toLowerCase() === 'authorization')?.value;
  const authorized = credentials?.startsWith('Bearer ') === true;
  const isOurs = credentials?.startsWith('Bearer viv_') === true;
  const hidden = requestHeaders.filter(
    (field) => field.value.includes(HIDDEN) && !(authorized && isCredentials(field)),
  );
  const isText = requestBody === null || requestBody.encoding === 'utf8';
  const hasRedacted = [url, isText ? (requestBody?.text ?? '') : ''].some((text) => REDACTED.test(text));
  const copied: CopiedRequest = {
    method,
    url,
    headers: requestHeaders.filter(isWorthCopying),
    body: requestBody !== null && isText ? requestBody.text : undefined,
    bytes: isText ? undefined : requestBody.text,
    authorized,
  };
  const notes = [
    ...(authorized ? [`Set VIVARIUM_KEY to the ${isOurs ? 'key' : 'token'}; its secret is not recorded.`] : []),
    ...(hidden.length > 0
      ? [`Left out, because secrets are not recorded: ${hidden.map(({ name }) => name).join(', ')}.`]
      : []),
    ...(hasRedacted ? ['A secret in its address or body is not shown: replace … with it.'] : []),
    ...(requestBody?.cut === true ? ['Only the first 64 KiB of its body were recorded.'] : []),
    ...(requestBody === null && requestBytes > 0 ? ['Its body was not recorded.'] : []),
  ];
  const onlyPosix = isWindowsPath(dataDir)
    ? ['Paste it into Git Bash or WSL: cmd and PowerShell treat quotation marks differently.']
    : [];
  const resolving = isFound
    ? `${hostname} has to resolve to 127.0.0.1, which not every system does for *.localhost; the doctor shows whether this one does.`
    : `${hostname} has to lead to 127.0.0.1, port ${listenerPort}.`;
  const caFile = scheme === 'https' ? rootFile(dataDir) : undefined;
  const resolvesDots = hasDotSegments(url) ? [`${language} resolves . and .. in the path; curl sends them.`] : [];
  const code = (text: string, ...more: readonly string[]): RequestCode => ({ text, notes: [...notes, ...more] });
  switch (language) {
    case 'curl': {
      const options = [
        ...(isFound ? [] : [`--connect-to ::127.0.0.1:${listenerPort}`]),
        ...(caFile === undefined ? [] : [`--cacert ${posixWord(caFile)}`]),
      ];
      return code(asCurl(copied, options), ...onlyPosix);
    }
    case 'httpie': {
      const proxied = { ...copied, url: `${scheme}://${hostname}${target}` };
      return code(
        asHttpie(proxied, { proxyUrl: `http://127.0.0.1:${ports.http}`, caFile }),
        'For HTTPie 3. Uses the proxy, because HTTPie has no option for the address of a hostname.',
        ...onlyPosix,
      );
    }
    case 'powershell': {
      const options = [
        `--connect-to '::127.0.0.1:${listenerPort}'`,
        ...(caFile === undefined ? [] : [`--cacert ${powerShellString(caFile)} --ssl-revoke-best-effort`]),
      ];
      const isQuoted = [url, ...copied.headers.map(({ value }) => value)].some((text) => text.includes('"'));
      return code(
        asPowerShell(copied, options),
        'curl.exe is part of Windows 10 and 11. In PowerShell on Linux and macOS, use curl instead.',
        ...(isQuoted ? ['It has quotation marks, which PowerShell passes on from 7.3.'] : []),
      );
    }
    case 'fetch':
      return code(
        asFetch(copied),
        ...(requestBody !== null && !takesBody(method) ? [`fetch sends no body with ${method}; curl does.`] : []),
        ...resolvesDots,
        resolving,
        ...(caFile === undefined ? [] : ['In Node, set NODE_EXTRA_CA_CERTS to the root’s file.']),
      );
    case 'axios':
      return code(
        asAxios(copied, { pinned: true, caFile }),
        ...resolvesDots,
        ...(isFound ? [] : [`It uses the listener’s port, ${listenerPort}, instead of the one in the address.`]),
        'For Node, as a module.',
      );
    case 'python':
      return code(asPython(copied, { caFile }), resolving);
    case 'go':
      return code(asGo(copied, { port: listenerPort, caFile }), 'Save it as request.go, and run go run request.go.');
  }
}

const isCredentials = ({ name }: HeaderField): boolean => name.toLowerCase() === 'authorization';

function isWorthCopying({ name, value }: HeaderField): boolean {
  const lower = name.toLowerCase();
  if (lower.startsWith(':') || SENDER_FIELDS.has(lower) || LEFT_OUT.has(lower) || value.includes(HIDDEN)) return false;
  return !(lower === 'accept' && value === '*/*');
}
