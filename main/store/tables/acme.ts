import { z } from 'zod';
import {
  acmeAccount,
  acmeAuthorization,
  acmeCertificate,
  acmeExternalKey,
  acmeOrder,
  nameOf,
  type AcmeAccount,
  type AcmeAuthorization,
  type AcmeCertificate,
  type AcmeChanges,
  type AcmeExternalKey,
  type AcmeOrder,
  type AcmeRows,
  type OrderSelection,
} from '../../model/acme.ts';
import type { Connection } from '../connection.ts';
import { count, json, table, type Stored } from './table.ts';

/** Documents, and columns that repeat what is searched in them. */
function documents<Document extends object>(
  name: string,
  body: z.ZodType<Document>,
  repeated: Record<string, (document: Document) => string>,
) {
  const columns = Object.keys(repeated);
  const columnsOf = (document: Document): Stored =>
    Object.fromEntries(columns.map((column) => [column, repeated[column]?.(document)]));
  const row = { body: json(body), ...Object.fromEntries(columns.map((column) => [column, z.string()])) };
  const described = table<{ body: Document }>(name, ['id'], row, { number: count }, (stored) => {
    const wrong = Object.entries(columnsOf(stored.body)).find(
      ([column, value]) => (stored as Stored)[column] !== value,
    );
    return wrong === undefined ? null : `${wrong[0]} must be that in body.`;
  });
  return { ...described, repeated: columns, stored: (body: Document) => described.write({ ...columnsOf(body), body }) };
}

const ofAccount = { account_id: ({ accountId }: { readonly accountId: string }) => accountId };
const idOf = { id: ({ id }: { readonly id: string }) => id };

const ACCOUNTS = documents('acme_accounts', acmeAccount, { ...idOf, thumbprint: ({ thumbprint }) => thumbprint });
const EXTERNAL_KEYS = documents('acme_external_keys', acmeExternalKey, idOf);
const AUTHORIZATIONS = documents('acme_authorizations', acmeAuthorization, {
  ...{ ...idOf, ...ofAccount, name: nameOf },
  status: ({ status }) => status,
});
const ORDERS = documents('acme_orders', acmeOrder, { ...idOf, ...ofAccount });
const CERTIFICATES = documents('acme_certificates', acmeCertificate, { id: ({ serial }) => serial, ...ofAccount });
export const ACME_TABLES = [ACCOUNTS, EXTERNAL_KEYS, AUTHORIZATIONS, ORDERS, CERTIFICATES] as const;

/** Maximum rows of each table; the oldest are deleted. Accounts are kept, and certificates longer than their orders. */
const ORDERS_KEPT = 20_000;
const AUTHORIZATIONS_KEPT = 40_000;
const CERTIFICATES_KEPT = 100_000;

/** The exact words of the partial index, because SQLite uses it only for queries with the same condition. */
const OPEN = "status IN ('pending', 'valid')";

type Text = string | number;

const bodyOf = <Document>({ body }: Stored) => JSON.parse(body as string) as Document;

const SELECT_ORDERS = 'SELECT acme_orders.body FROM acme_orders';
const NEWEST_FIRST = 'ORDER BY number DESC LIMIT ?';

/** Whether an order stored as pending has expired, or has an authorization that can no longer become valid. */
const LOST = `(acme_orders.body ->> 'expiresAtMs' <= ? OR EXISTS (
  SELECT 1 FROM json_each(acme_orders.body, '$.authorizationIds') named
  LEFT JOIN acme_authorizations held ON held.id = named.value
  WHERE held.id IS NULL OR held.status NOT IN ('pending', 'valid') OR held.body ->> 'expiresAtMs' <= ?))`;

const WRITTEN = "acme_orders.body ->> 'status'";

interface Term {
  sql: string;
  values: readonly Text[];
}

/** The conditions of a selection of orders; at most sixteen combinations. */
function termsOf({ accountId, after, search, in: at }: Omit<OrderSelection, 'limit'>): Term[] {
  // A search of the text excludes most rows before their names are read.
  const byName = `(account_id = ? OR (instr(acme_orders.body, ?) AND EXISTS (
    SELECT 1 FROM json_each(acme_orders.body, '$.identifiers') WHERE instr(value ->> 'value', ?))))`;
  return [
    ...(accountId === undefined ? [] : [{ sql: 'account_id = ?', values: [accountId] }]),
    ...(after === undefined
      ? []
      : [{ sql: 'number < (SELECT number FROM acme_orders WHERE id = ?)', values: [after] }]),
    ...(search === undefined ? [] : [{ sql: byName, values: [search, search.toLowerCase(), search.toLowerCase()] }]),
    ...(at === undefined ? [] : [stateTerm(at)]),
  ];
}

function stateTerm({ state, atMs }: NonNullable<OrderSelection['in']>): Term {
  if (state === 'valid') return { sql: `${WRITTEN} = 'valid'`, values: [] };
  const sql =
    state === 'open'
      ? `(${WRITTEN} = 'pending' AND NOT ${LOST})`
      : `(${WRITTEN} = 'invalid' OR (${WRITTEN} = 'pending' AND ${LOST}))`;
  return { sql, values: [atMs, atMs] };
}

export function createAcmeRows({ sqlite, rows, row, inPart, sync, explain }: Connection): AcmeRows {
  const one = <Document>(table: string, column = 'id') =>
    row<[string], Document>(`SELECT body FROM ${table} WHERE ${column} = ?`, bodyOf);
  const all = <Document>(sql: string) => rows<Text[], Document>(sql, bodyOf<Document>);
  /** Replaces the document of that id, or adds it. */
  const put = <Document extends object>(of: ReturnType<typeof documents<Document>>) => {
    const changes = ['body', ...of.repeated].map((name) => `${name} = excluded.${name}`);
    const upsert = sqlite.prepare<[Stored]>(
      `INSERT INTO ${of.name} ${of.inserted} ON CONFLICT (id) DO UPDATE SET ${changes.join(', ')}`,
    );
    return (document: Document) => void upsert.run(of.stored(document));
  };
  const forget = (table: string, kept: number) =>
    sqlite.prepare(`DELETE FROM ${table} WHERE number <= (SELECT max(number) FROM ${table}) - ${kept}`);

  const putAccount = put(ACCOUNTS);
  const putExternalKey = put(EXTERNAL_KEYS);
  const putAuthorization = put(AUTHORIZATIONS);
  const putOrder = put(ORDERS);
  const putCertificate = put(CERTIFICATES);
  const pruning = [
    forget('acme_orders', ORDERS_KEPT),
    forget('acme_authorizations', AUTHORIZATIONS_KEPT),
    forget('acme_certificates', CERTIFICATES_KEPT),
  ];
  /** By their condition; each is prepared on first use. */
  const orderQueries = new Map<string, ReturnType<typeof all<AcmeOrder>>>();
  const openOf = all<AcmeAuthorization>(`SELECT body FROM acme_authorizations WHERE ${OPEN} AND account_id = ?`);
  const underWay = all<AcmeAuthorization>(
    `SELECT body FROM acme_authorizations WHERE ${OPEN} AND status = 'pending'
     AND EXISTS (SELECT 1 FROM json_each(body, '$.challenges') WHERE value ->> 'status' = 'processing')`,
  );

  let isUnstored = false;
  let storing = Promise.resolve();
  let next: Promise<void> | null = null;
  async function store(): Promise<void> {
    if (next !== null) storing = next;
    next = null;
    isUnstored = false;
    try {
      await sync();
    } catch (error) {
      isUnstored = true;
      throw explain(error);
    }
  }
  const write = inPart((changes: AcmeChanges) => {
    const { account, externalKey, authorizations = [], orders = [], certificates = [] } = changes;
    if (account !== undefined) putAccount(account);
    if (externalKey !== undefined) putExternalKey(externalKey);
    authorizations.forEach(putAuthorization);
    orders.forEach(putOrder);
    certificates.forEach(putCertificate);
    for (const statement of pruning) statement.run();
  });

  return {
    save(changes) {
      write(changes);
      isUnstored = true;
    },
    // Callers that arrive before a wait for the disk begins share it.
    stored: () => (isUnstored ? (next ??= storing.then(store, store)) : storing),
    account: one<AcmeAccount>('acme_accounts'),
    accountOfKey: one<AcmeAccount>('acme_accounts', 'thumbprint'),
    accounts: all<AcmeAccount>('SELECT body FROM acme_accounts ORDER BY number DESC LIMIT ?'),
    externalKey: one<AcmeExternalKey>('acme_external_keys'),
    externalKeys: all<AcmeExternalKey>('SELECT body FROM acme_external_keys ORDER BY number DESC LIMIT ?'),
    authorization: one<AcmeAuthorization>('acme_authorizations'),
    lastValid: row<[accountId: string, name: string], AcmeAuthorization>(
      `SELECT body FROM acme_authorizations
       WHERE ${OPEN} AND account_id = ? AND name = ? AND status = 'valid' ORDER BY number DESC LIMIT 1`,
      bodyOf,
    ),
    openAuthorizations: (of) => (of === 'processing' ? underWay() : openOf(of.accountId)),
    order: one<AcmeOrder>('acme_orders'),
    orders({ limit, ...which }) {
      const terms = termsOf(which);
      const condition = ['TRUE', ...terms.map(({ sql }) => sql)].join(' AND ');
      const query =
        orderQueries.get(condition) ?? all<AcmeOrder>(`${SELECT_ORDERS} WHERE ${condition} ${NEWEST_FIRST}`);
      orderQueries.set(condition, query);
      return query(...terms.flatMap(({ values }) => values), limit);
    },
    certificate: one<AcmeCertificate>('acme_certificates'),
    certificates: all<AcmeCertificate>(
      'SELECT body FROM acme_certificates WHERE account_id = ? ORDER BY number DESC LIMIT ?',
    ),
  };
}
