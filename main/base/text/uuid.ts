import { hash } from 'node:crypto';

/** The SHA-256 of a text in the form of a version 4 UUID: the same for the same text, so none is stored. */
export const uuidOf = (text: string): string =>
  hash('sha256', text).replace(/^(.{8})(.{4}).(.{3}).(.{3})(.{12}).*$/, '$1-$2-4$3-8$4-$5');
