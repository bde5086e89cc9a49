import { z } from 'zod';
import {
  ALL_FIELDS,
  eachField,
  EDITABLE_FIELDS,
  type EditableField,
  type factsOf,
  PET_FIELDS,
} from '../contract/pet-fields.ts';
import { INT64_MAX, INT64_MIN, petName, petStatus, petText } from '../contract/values.ts';
import { heldValue, type Pet } from '../model/pet.ts';

export { petStatus };

const INT64_MESSAGE = `must be an integer from ${INT64_MIN} to ${INT64_MAX}, written without quotes and without a fraction`;

/**
 * An exact int64: a bigint in memory, a JSON number on the wire. Its bounds are added when generating the OpenAPI
 * document, because zod's converter rounds to doubles.
 */
const exactInt64 = (message: string) =>
  z.bigint(message).min(INT64_MIN, message).max(INT64_MAX, message).meta({ type: 'integer', format: 'int64' });

const int64 = exactInt64(INT64_MESSAGE);

function schemaOf({ kind, options = [], initial }: ReturnType<typeof factsOf>): z.ZodType {
  if (kind === 'int64') return int64;
  if (kind === 'text') return initial === undefined ? petName : petText;
  return options === PET_FIELDS.status.options ? petStatus : z.enum(options);
}

export const newPet = z.object(
  eachField(EDITABLE_FIELDS, (field, facts) => {
    const schema = schemaOf(facts);
    return (facts.initial === undefined ? schema : schema.default(heldValue(field, facts.initial))).describe(
      facts.about,
    );
  }) as unknown as { [Field in EditableField]: z.ZodType<Pet[Field]> },
);

/** Fields with an initial value are optional, as in the specification; Vivarium always sends them. */
export const pet = z.object(
  eachField(ALL_FIELDS, (_field, facts) => {
    const schema = schemaOf(facts);
    return (facts.initial === undefined ? schema : schema.optional()).describe(facts.about);
  }),
);

export const pets = z.array(pet);

/** Vivarium's own schema: the specification mentions `GET /store/orders` without describing it. */
export const order = z.object({
  id: int64.describe('Unique identifier of the order.'),
  petId: int64.describe('Identifier of the animal that was ordered.'),
  quantity: z.int().min(1).describe('How many.'),
  status: z.literal('placed').describe('The only state an order has.'),
  createdAt: z.iso.datetime().describe('When the order was placed, in UTC.'),
});

export const orders = z.array(order);

export const errorBody = z.object({
  code: z.string().describe('Machine-readable error code.'),
  message: z.string().describe('Human-readable description.'),
  status: z.int().min(400).max(599).describe('The HTTP status code.'),
});

const LIMIT_MESSAGE = 'must be a whole number from 1 to 100, in plain decimal digits';
const INT64_TEXT_MESSAGE = `must be an integer from ${INT64_MIN} to ${INT64_MAX}, in decimal digits without plus sign or leading zeros`;

const int64InAddress = exactInt64(INT64_TEXT_MESSAGE);

export const listQuery = z.object({
  limit: z
    .int(LIMIT_MESSAGE)
    .min(1, LIMIT_MESSAGE)
    .max(100, LIMIT_MESSAGE)
    .default(20)
    .describe('Maximum number of animals returned.')
    .meta({ examples: [20] }),
  status: petStatus
    .optional()
    .describe('Restricts the result to animals with that status.')
    .meta({ examples: ['available'] }),
  after: int64InAddress
    .optional()
    .describe('Continues after the animal with this id; the Link header of a page has it for the next one.')
    .meta({ examples: [20] }),
});
export type ListQuery = z.output<typeof listQuery>;

export const petParams = z.object({
  petId: int64InAddress.describe('Identifier of the animal to retrieve.').meta({ examples: [1] }),
});

const TEXT_KINDS = [z.ZodString, z.ZodStringFormat, z.ZodEnum, z.ZodLiteral];

/** Writes a value that conforms to the schema as JSON text, without validation. */
type Serializer = (value: unknown) => string;

/**
 * Creates the serializer of a schema: its properties in schema order and no others, bigints as digits (JSON.stringify
 * refuses them, and a double would round them), absent optional properties omitted.
 * @throws Error for a schema type without an exact form, at start rather than at the first request.
 */
export function serializerOf(schema: z.core.$ZodType): Serializer {
  if (schema instanceof z.ZodObject) return objectSerializer(schema);
  if (schema instanceof z.ZodArray) return arraySerializer(serializerOf(schema.element));
  if (schema instanceof z.ZodOptional || schema instanceof z.ZodDefault) return serializerOf(schema.unwrap());
  if (schema instanceof z.ZodBigInt || schema instanceof z.ZodNumber) return String;
  if (TEXT_KINDS.some((kind) => schema instanceof kind)) return JSON.stringify;
  throw new Error(`There is no serializer for a schema of type ${schema._zod.def.type}; add one here.`);
}

function objectSerializer(schema: z.ZodObject): Serializer {
  const properties = Object.entries(schema.shape).map(([name, property]) => ({
    name,
    label: `${JSON.stringify(name)}:`,
    serialize: serializerOf(property),
  }));
  return (value) => {
    const source = value as Record<string, unknown>;
    let text = '';
    for (const { name, label, serialize } of properties) {
      const member = source[name];
      if (member !== undefined) text += (text === '' ? '{' : ',') + label + serialize(member);
    }
    return text === '' ? '{}' : text + '}';
  };
}

function arraySerializer(serialize: Serializer): Serializer {
  return (value) => {
    const items = value as readonly unknown[];
    let text = '[';
    for (let index = 0; index < items.length; index++) text += (index === 0 ? '' : ',') + serialize(items[index]);
    return text + ']';
  };
}
