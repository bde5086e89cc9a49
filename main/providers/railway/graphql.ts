import {
  buildSchema,
  type DocumentNode,
  execute,
  GraphQLError,
  type GraphQLSchema,
  parse,
  TypeInfo,
  validate,
  visit,
  visitWithTypeInfo,
} from 'graphql';
import { VivariumError } from '../../contract/errors.ts';
import { Refused } from '../operations.ts';
import type { Reply } from '../provider.ts';

/** The longest document of Railway’s own command line has a tenth of it. */
const TOKENS_MAX = 1_000;

interface Request {
  query: string;
  variables?: Record<string, unknown> | null | undefined;
  operationName?: string | null | undefined;
}

/** Resolvers of the root fields, by their names. */
export type Roots = Readonly<Record<string, (args: Record<string, unknown>) => unknown>>;

let known: GraphQLSchema | null = null;

/** Names of root fields that the schema lacks: the real one may have them. */
function unknownRoots(schema: GraphQLSchema, document: DocumentNode): string[] {
  const types = new TypeInfo(schema);
  const names: string[] = [];
  const roots = [schema.getQueryType(), schema.getMutationType()];
  const Field = ({ name }: { name: { value: string } }): void => {
    if (roots.some((root) => root === types.getParentType()) && !types.getFieldDef()) names.push(name.value);
  };
  visit(document, visitWithTypeInfo(types, { Field }));
  return names;
}

/** A run of characters that may be a token: its message would repeat what is in the document. */
const withoutTokens = (text: string): string =>
  text.replaceAll(/[\w.+/=-]{16,}/g, (run) => (/\d/.test(run) ? '-' : run));

function invalid(found: readonly GraphQLError[]): Reply {
  const errors = found.map((error) => ({ ...error.toJSON(), message: withoutTokens(error.message) }));
  return { status: 400, body: { errors, data: null }, isUnread: true };
}

/** Answers a document, or says by its first name what of it is not emulated. */
export async function answer(
  { query, variables, operationName }: Request,
  rootValue: Roots,
): Promise<Reply | { missing: string }> {
  const schema = (known ??= buildSchema(SCHEMA));
  let document: DocumentNode;
  try {
    document = parse(query, { maxTokens: TOKENS_MAX });
  } catch (error) {
    if (!(error instanceof GraphQLError)) throw error;
    return invalid([error]);
  }
  const [missing] = unknownRoots(schema, document);
  if (missing !== undefined) return { missing };
  const errors = validate(schema, document, undefined, { maxErrors: 10 });
  if (errors.length > 0) return invalid(errors);
  const result = await execute({
    ...{ schema, document, rootValue },
    variableValues: variables ?? null,
    operationName: operationName ?? null,
  });
  // An error with a path is a resolver's.
  for (const { path, originalError: error } of result.errors ?? [])
    if (path && error && !(error instanceof Refused || error instanceof VivariumError)) throw error;
  return { status: result.data === undefined ? 400 : 200, body: { ...result, data: result.data ?? null } };
}

/**
 * The part of Railway’s schema that is emulated, with all members of its types, by `src/gql/schema.json` of
 * railwayapp/cli, August 2026.
 */
export const SCHEMA = `
type Query {
  customDomain(id: String!, projectId: String!): CustomDomain!
  customDomainAvailable(domain: String!): DomainAvailable!
  domains(environmentId: String!, projectId: String!, serviceId: String!): AllDomains!
}

type Mutation {
  customDomainCreate(input: CustomDomainCreateInput!): CustomDomain!
  customDomainUpdate(environmentId: String!, id: String!, targetPort: Int): Boolean!
  customDomainDelete(id: String!): Boolean!
  customDomainIssueCertificate(id: String!): Boolean!
}

scalar DateTime

input CustomDomainCreateInput {
  domain: String!
  environmentId: String!
  projectId: String!
  serviceId: String!
  targetPort: Int
}

type DomainAvailable { available: Boolean! message: String! }

type AllDomains { customDomains: [CustomDomain!]! serviceDomains: [ServiceDomain!]! }

type CustomDomain {
  cdnMode: String
  cnameCheck: CnameCheck!
  createdAt: DateTime
  deletedAt: DateTime
  domain: String!
  edgeId: String
  environmentId: String!
  id: ID!
  isRailwayDomain: Boolean!
  projectId: String
  serviceId: String!
  status: CustomDomainStatus!
  syncStatus: SyncStatus!
  targetPort: Int
  updatedAt: DateTime
}

type ServiceDomain {
  cdnMode: String
  createdAt: DateTime
  deletedAt: DateTime
  domain: String!
  edgeId: String
  environmentId: String!
  id: ID!
  newDomainName: String
  newHostLabel: String
  projectId: String
  serviceId: String!
  suffix: String
  syncStatus: SyncStatus!
  targetPort: Int
  updatedAt: DateTime
}

type CnameCheck { link: String message: String! status: CnameCheckStatus! }

type CustomDomainStatus {
  cdnProvider: CDNProvider
  certificateErrorMessage: String
  certificateErrorType: CertificateErrorType
  certificateRetryable: Boolean
  certificateStatus: CertificateStatus!
  certificateStatusDetailed: CertificateStatusDetailed
  certificates: [CertificatePublicData!]
  dnsRecords: [DNSRecords!]!
  verificationDnsHost: String
  verificationToken: String
  verified: Boolean!
}

type DNSRecords {
  currentValue: String!
  fqdn: String!
  hostlabel: String!
  purpose: DNSRecordPurpose!
  recordType: DNSRecordType!
  requiredValue: String!
  status: DNSRecordStatus!
  zone: String!
}

type CertificatePublicData {
  domainNames: [String!]!
  expiresAt: DateTime
  fingerprintSha256: String!
  issuedAt: DateTime
  keyType: KeyType!
}

enum SyncStatus { ACTIVE CREATING DELETED DELETING UNSPECIFIED UPDATING }
enum CnameCheckStatus { ERROR INFO INVALID VALID WAITING }
enum CDNProvider { DETECTED_CDN_PROVIDER_CLOUDFLARE DETECTED_CDN_PROVIDER_UNSPECIFIED UNRECOGNIZED }
enum CertificateErrorType {
  CERTIFICATE_ERROR_TYPE_AUTHORIZATION_FAILED CERTIFICATE_ERROR_TYPE_DNS_VALIDATION CERTIFICATE_ERROR_TYPE_INTERNAL
  CERTIFICATE_ERROR_TYPE_KEY_GENERATION CERTIFICATE_ERROR_TYPE_ORDER_CREATION CERTIFICATE_ERROR_TYPE_RATE_LIMIT
  CERTIFICATE_ERROR_TYPE_UNSPECIFIED UNRECOGNIZED
}
enum CertificateStatus {
  CERTIFICATE_STATUS_TYPE_ISSUE_FAILED CERTIFICATE_STATUS_TYPE_ISSUING CERTIFICATE_STATUS_TYPE_UNSPECIFIED
  CERTIFICATE_STATUS_TYPE_VALID CERTIFICATE_STATUS_TYPE_VALIDATING_OWNERSHIP UNRECOGNIZED
}
enum CertificateStatusDetailed {
  CERTIFICATE_STATUS_TYPE_DETAILED_CLEANING_UP CERTIFICATE_STATUS_TYPE_DETAILED_COMPLETE
  CERTIFICATE_STATUS_TYPE_DETAILED_CREATING_ORDER CERTIFICATE_STATUS_TYPE_DETAILED_DOWNLOADING_CERTIFICATE
  CERTIFICATE_STATUS_TYPE_DETAILED_FAILED CERTIFICATE_STATUS_TYPE_DETAILED_FETCHING_AUTHORIZATIONS
  CERTIFICATE_STATUS_TYPE_DETAILED_FINALIZING_ORDER CERTIFICATE_STATUS_TYPE_DETAILED_GENERATING_KEYS
  CERTIFICATE_STATUS_TYPE_DETAILED_INITIATING_CHALLENGES CERTIFICATE_STATUS_TYPE_DETAILED_POLLING_AUTHORIZATIONS
  CERTIFICATE_STATUS_TYPE_DETAILED_PRESENTING_CHALLENGES CERTIFICATE_STATUS_TYPE_DETAILED_UNSPECIFIED UNRECOGNIZED
}
enum DNSRecordPurpose {
  DNS_RECORD_PURPOSE_ACME_DNS01_CHALLENGE DNS_RECORD_PURPOSE_TRAFFIC_ROUTE DNS_RECORD_PURPOSE_UNSPECIFIED UNRECOGNIZED
}
enum DNSRecordStatus {
  DNS_RECORD_STATUS_PROPAGATED DNS_RECORD_STATUS_REQUIRES_UPDATE DNS_RECORD_STATUS_UNSPECIFIED UNRECOGNIZED
}
enum DNSRecordType {
  DNS_RECORD_TYPE_A DNS_RECORD_TYPE_CNAME DNS_RECORD_TYPE_NS DNS_RECORD_TYPE_TXT DNS_RECORD_TYPE_UNSPECIFIED UNRECOGNIZED
}
enum KeyType { KEY_TYPE_ECDSA KEY_TYPE_RSA_2048 KEY_TYPE_RSA_4096 KEY_TYPE_UNSPECIFIED UNRECOGNIZED }
`;
