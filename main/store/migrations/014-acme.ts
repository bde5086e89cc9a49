/**
 * What the ACME server keeps, as JSON documents of `main/model/acme.ts`; columns beside `body` repeat what is searched.
 * `number` is the order of creation.
 */
export const ACME_SCHEMA = `
CREATE TABLE acme_accounts (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  thumbprint TEXT NOT NULL UNIQUE,
  body TEXT NOT NULL CHECK (json_valid(body))
) STRICT;

CREATE TABLE acme_authorizations (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL,
  name TEXT NOT NULL,
  status TEXT NOT NULL,
  body TEXT NOT NULL CHECK (json_valid(body))
) STRICT;
CREATE INDEX acme_authorizations_open ON acme_authorizations (account_id, name) WHERE status IN ('pending', 'valid');

CREATE TABLE acme_orders (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL,
  body TEXT NOT NULL CHECK (json_valid(body))
) STRICT;
CREATE INDEX acme_orders_of_account ON acme_orders (account_id, number);

CREATE TABLE acme_certificates (
  number INTEGER PRIMARY KEY,
  id TEXT NOT NULL UNIQUE,
  account_id TEXT NOT NULL,
  body TEXT NOT NULL CHECK (json_valid(body))
) STRICT;
CREATE INDEX acme_certificates_of_account ON acme_certificates (account_id, number);
`;
