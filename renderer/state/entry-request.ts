import { posixWord } from '../../main/base/shell.ts';
import type { HeaderField } from '../../main/contract/api.ts';
import type { StatusReport } from '../../main/contract/status.ts';
import type { TrafficDetail } from '../../main/contract/traffic.ts';
import { resolvesByDefault, isWindowsPath, rootFile } from './first-request.ts';
import { asCurl, asFetch, asPython, hasDotSegments, takesBody, type CopiedRequest } from './request-text.ts';

/** Headers that every client adds itself, and those of the connection. */
const LEFT_OUT: ReadonlySet<string> = new Set([
  'accept-encoding',
  'connection',
  'content-length',
  'expect',
  'host',
  'http2-settings',
  'keep-alive',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
  'user-agent',
]);

/** Marks a redaction. */
const HIDDEN = '…';

/** A redacted secret in an address or a body: a parameter, a member, a part of a URL, or an API key. */
const REDACTED = /(?:["=]|:\/\/|viv_[0-9A-Za-z]{4}|Bearer )…/;

/** What a request can be copied as. */
export type CodeLanguage = 'curl' | 'fetch' | 'python';

/** A recorded request as code to send it again. */
export interface EntryRequest extends Record<CodeLanguage, string> {
  /** Caveats of each, in sentences. */
  notes: Record<CodeLanguage, string[]>;
}

/** Undefined for a request that can't be sent again because it had no Host. */
export function entryRequest(
  entry: TrafficDetail,
  { ports, dataDir }: Pick<StatusReport, 'ports' | 'dataDir'>,
): EntryRequest | undefined {
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
  const shellNotes = isWindowsPath(dataDir)
    ? ['Paste it into Git Bash or WSL: cmd and PowerShell treat quotation marks differently.']
    : [];
  const resolving = [
    ...(isFound
      ? [
          `${hostname} has to resolve to 127.0.0.1, which not every system does for *.localhost; the doctor shows whether this one does.`,
        ]
      : [`${hostname} has to lead to 127.0.0.1, port ${listenerPort}.`]),
  ];
  const fetchNotes = [
    ...(requestBody !== null && !takesBody(method) ? [`fetch sends no body with ${method}; curl does.`] : []),
    ...(hasDotSegments(url) ? ['fetch resolves . and .. in the path; curl sends them.'] : []),
    ...resolving,
    ...(scheme === 'https' ? ['In Node, set NODE_EXTRA_CA_CERTS to the root’s file.'] : []),
  ];
  return {
    curl: asCurl(copied, [
      ...(isFound ? [] : [`--connect-to ::127.0.0.1:${listenerPort}`]),
      ...(scheme === 'https' ? [`--cacert ${posixWord(rootFile(dataDir))}`] : []),
    ]),
    fetch: asFetch(copied),
    python: asPython(copied, { caFile: scheme === 'https' ? rootFile(dataDir) : undefined }),
    notes: {
      curl: [...notes, ...shellNotes],
      fetch: [...notes, ...fetchNotes],
      python: [...notes, ...resolving],
    },
  };
}

const isCredentials = ({ name }: HeaderField): boolean => name.toLowerCase() === 'authorization';

function isWorthCopying({ name, value }: HeaderField): boolean {
  const lower = name.toLowerCase();
  if (lower.startsWith(':') || LEFT_OUT.has(lower) || value.includes(HIDDEN)) return false;
  return !(lower === 'accept' && value === '*/*');
}
